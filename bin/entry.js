/** Which form of the service is started, and with which flags of V8. */
const { readdirSync, statSync } = require('node:fs')
const os = require('node:os')
const { join } = require('node:path')

/**
 * A small young generation: messages live for a moment, and the default lets 100 MB of dead ones pile up first. Maglev
 * compiles what turbofan compiles again soon after, and keeps 5 to 15 MB for it.
 */
const FLAGS = ['--max-semi-space-size=4', '--no-maglev', `--v8-pool-size=${helpers()}`]

/**
 * How many threads mark what is alive, and compile, beside the one of the messages: one for each other core. With Node's
 * four, those of a service on one core leave a message a fifth of it while they work.
 */
function helpers() {
  // Node.js 18.0 to 18.13 cannot tell on how many cores it may run.
  const cores = os.availableParallelism?.() ?? os.cpus().length
  return Math.min(4, Math.max(1, cores - 1))
}

const root = join(__dirname, '..')

/** The bundle that `npm ci` made, or the source where there is no bundle or a file of the source has changed since. */
function entry() {
  const bundle = join(root, 'dist/main.js')
  const source = join(root, 'src')
  const made = statSync(bundle, { throwIfNoEntry: false })?.mtimeMs
  return made !== undefined && isOlder(source, made) ? bundle : join(source, 'main.ts')
}

/**
 * Whether nothing in a folder is younger: a folder in it is where a file of that was removed. Folder by folder, as Node's
 * own `recursive` takes three times as long, and every start waits for it.
 */
function isOlder(folder, made) {
  return readdirSync(folder).every((name) => {
    const path = `${folder}/${name}`
    const found = statSync(path)
    return found.mtimeMs <= made && (!found.isDirectory() || isOlder(path, made))
  })
}

module.exports = { FLAGS, entry }
