#!/usr/bin/env node
/** Starts the service on a Node.js that can run it. */
import { fileURLToPath } from 'node:url'
import { entry } from './entry.js'
import { launch } from './launch.js'

// Compiled code is kept from one start to the next; where the folder cannot be written, every start is like the first.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/crosswalk', import.meta.url))

// A small young generation: messages live for a moment, and the default lets 100 MB of dead ones pile up first.
launch(['--max-semi-space-size=4', entry(), ...process.argv.slice(2)])
