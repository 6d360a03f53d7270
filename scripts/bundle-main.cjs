/**
 * dist/main.js: runs the service beside it, with what V8 has compiled of it before.
 *
 * Node.js keeps compiled code too (NODE_COMPILE_CACHE), but as it is before anything has run, which is little: V8
 * compiles a function when it is called first. This is kept when a service has started (scripts/code-cache.ts). V8 does
 * not take it for another version of itself or with other flags, and then compiles anew.
 */
'use strict'
const { readFileSync, writeFileSync } = require('node:fs')
const { constants, Script } = require('node:vm')

const filename = `${__dirname}/service.js`
const code = `${__dirname}/service.code`

const LATER = /^(?:node:)?(?:child_process|dns|http2|https|worker_threads|zlib)$/

const script = new Script(readFileSync(filename, 'latin1'), {
  filename,
  cachedData: codeOf(),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
if (process.env.CROSSWALK_KEEP_CODE === filename) {
  process.on('exit', (status) => {
    if (status === 0) writeFileSync(code, script.createCachedData())
  })
}
script.runInThisContext()(exports, requireLater, module, filename, __dirname)

/** Modules of Node.js that packages ask for at every start, and use where a document or a setting asks for it. */
function requireLater(name) {
  return LATER.test(name) ? new Proxy({}, { get: (_target, key) => require(name)[key] }) : require(name)
}

/** Of the start that makes it there is none, so that all is compiled which that start needs. */
function codeOf() {
  try {
    return readFileSync(code)
  } catch {
    return undefined
  }
}
