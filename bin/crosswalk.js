#!/usr/bin/env node
/** Starts the service on a Node.js that can run it. */
import { fileURLToPath } from 'node:url'
import { entry, FLAGS } from './entry.js'
import { launch } from './launch.js'

// Compiled code is kept from one start to the next; where the folder cannot be written, every start is like the first.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/crosswalk', import.meta.url))

// One heap for all threads of the C library: with one each, what one thread frees lies idle for the others (10 to 50 MB).
process.env.MALLOC_ARENA_MAX ??= '1'

launch([...FLAGS, entry(), ...process.argv.slice(2)])
