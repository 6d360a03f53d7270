#!/usr/bin/env node
/** Starts the service on a Node.js that can run it. */
const { join } = require('node:path')
const { entry, FLAGS } = require('./entry.js')
const { launch } = require('./launch.js')

// Compiled code is kept from one start to the next; where the folder cannot be written, every start is like the first.
process.env.NODE_COMPILE_CACHE ??= join(__dirname, '../node_modules/.cache/crosswalk')

// One heap for all threads of the C library: with one each, what one thread frees lies idle for the others (10 to 50 MB).
process.env.MALLOC_ARENA_MAX ??= '1'

launch([...FLAGS, entry(), ...process.argv.slice(2)])
