#!/usr/bin/env node
/** `node bin/node.js <arguments>`: runs the Node.js that the service runs on. */
const { launch } = require('./launch.js')

launch(process.argv.slice(2))
