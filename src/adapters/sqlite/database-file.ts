/** The file of a database, made where it is not there. */
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The absolute path, with a file there that only its owner can read: documents may hold credentials. */
export function makeFile(path: string): string {
  // Absolute, so that SQLite cannot take a path for a URI.
  const file = resolve(path)
  makeFolder(dirname(file))
  const found = statSync(file, { throwIfNoEntry: false })
  // To open a pipe waits for whoever writes to it; a folder is refused by the system's own words.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) throw new Error('it is no regular file')
  closeSync(openSync(file, 'a', 0o600))
  return file
}

/** Not `recursive`, with which Node.js tries for ever where the system denies that the folder above exists, as in /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (thrown) {
    // Another process that starts at the same time may have been faster.
    if (!existsSync(folder)) throw thrown
  }
}
