#!/usr/bin/env node
/** Starts the service on a Node.js that can run it. */
import { fileURLToPath } from 'node:url'
import { launch } from './launch.js'

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url))

// Compiled code is kept from one start to the next; where the folder cannot be written, every start is like the first.
process.env.NODE_COMPILE_CACHE ??= pathOf('../node_modules/.cache/crosswalk')

// A small young generation: messages live for a moment, and the default lets 100 MB of dead ones pile up first.
launch(['--max-semi-space-size=4', pathOf('../src/main.ts'), ...process.argv.slice(2)])
