/** Which form of the service starts, and with which V8 flags. */
const { existsSync, readdirSync, statSync } = require('node:fs')
const os = require('node:os')
const { join } = require('node:path')

/**
 * Maglev compiles functions that turbofan compiles again soon after, and takes 5 to 15 MB for them. A young generation as large
 * as V8 would let it grow keeps 100 MB of dead messages before they are collected.
 */
const FLAGS = [`--max-semi-space-size=${youngMegabytes()}`, '--no-maglev', `--v8-pool-size=${helpers()}`]

/** With 4 MB a service takes 28 MB less, and up to a fifth more of the processor for messages. */
function youngMegabytes() {
  // 0 without a limit; Node.js 18.0 to 18.14 lacks constrainedMemory.
  const limit = process.constrainedMemory?.() || Number.POSITIVE_INFINITY
  const { WORKERS = '' } = process.env
  const processes = /^auto$/i.test(WORKERS) ? cores() : Number(WORKERS) || 1
  return Math.min(limit, os.totalmem()) / processes < 512 * 1024 * 1024 ? 4 : 16
}

/**
 * How many helper threads V8 has for marking and compiling: one for each other core. With Node's four, a service on one core
 * has a fifth of it for messages while they work.
 */
function helpers() {
  return Math.min(4, Math.max(1, cores() - 1))
}

/** Node.js 18.0 to 18.13 lacks availableParallelism. */
function cores() {
  return os.availableParallelism?.() ?? os.cpus().length
}

const root = join(__dirname, '..')

/** The bundle, or the source if there is no bundle or a file of the source is newer. An installed package has no source. */
function entry() {
  const bundle = join(root, 'dist/main.js')
  const source = join(root, 'src')
  const made = statSync(bundle, { throwIfNoEntry: false })?.mtimeMs
  const folders = [source, join(root, 'migrate')].filter((folder) => existsSync(folder))
  const isCurrent = made !== undefined && folders.every((folder) => isOlder(folder, made))
  return isCurrent ? bundle : join(source, 'main.ts')
}

/**
 * Whether no file or folder is newer; a folder is newer if a file of it was removed. Folder by folder, since Node's own
 * `recursive` takes three times as long, and every start waits for it.
 */
function isOlder(folder, made) {
  return readdirSync(folder).every((name) => {
    const path = `${folder}/${name}`
    const found = statSync(path)
    return found.mtimeMs <= made && (!found.isDirectory() || isOlder(path, made))
  })
}

module.exports = { FLAGS, entry }
