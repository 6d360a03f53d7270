#!/usr/bin/env node
/** Starts the service on a Node.js that can run it. */
const { join } = require('node:path')
const { entry, FLAGS } = require('./entry.js')
const { launch } = require('./launch.js')

// Node.js stores compiled code for the next start; if the folder is read-only, every start is like the first.
process.env.NODE_COMPILE_CACHE ??= join(__dirname, '../node_modules/.cache/crosswalk')

// One heap for all threads of the C library: with one each, memory that one thread frees is lost to the others (10 to 50 MB).
process.env.MALLOC_ARENA_MAX ??= '1'

launch([...FLAGS, entry(), ...process.argv.slice(2)])
