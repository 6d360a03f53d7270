#!/usr/bin/env node
/** Starts the service on a Node.js that can run it. */
import { fileURLToPath } from 'node:url'
import { launch } from './launch.js'

launch([fileURLToPath(new URL('../src/main.ts', import.meta.url)), ...process.argv.slice(2)])
