/**
 * dist/main.js: runs service.js with the code that V8 compiled while it started before (scripts/code-cache.ts,
 * docs/decisions/speed.md). V8 refuses that code for another version or other flags, and compiles again.
 */
'use strict'
const { readFileSync, writeFileSync } = require('node:fs')
const { constants, Script } = require('node:vm')

const filename = `${__dirname}/service.js`
const code = `${__dirname}/service-${process.arch}.code`

const LATER = /^(?:node:)?(?:child_process|dns|http2|https|tls|worker_threads|zlib)$/

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

/** Packages require these modules of Node.js at every start, but use them only for some documents and settings. */
function requireLater(name) {
  return LATER.test(name) ? new Proxy({}, { get: (_target, key) => require(name)[key] }) : require(name)
}

/** Undefined in the start that stores the code, so that V8 compiles everything that a start needs. */
function codeOf() {
  try {
    return readFileSync(code)
  } catch {
    return undefined
  }
}
