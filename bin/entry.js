/** Which form of the service is started, and with which flags of V8. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * A small young generation: messages live for a moment, and the default lets 100 MB of dead ones pile up first. Maglev
 * compiles what turbofan compiles again soon after, and keeps 5 to 15 MB for it.
 */
export const FLAGS = ['--max-semi-space-size=2', '--no-maglev']

const root = fileURLToPath(new URL('..', import.meta.url))

/** The bundle that `npm ci` made, or the source where there is no bundle or a file of the source has changed since. */
export function entry() {
  const bundle = join(root, 'dist/main.js')
  const source = join(root, 'src')
  return isNewer(bundle, source) ? bundle : join(source, 'main.ts')
}

/** Whether a file exists and nothing in a folder is younger: a folder itself is where a file of it was removed. */
function isNewer(file, folder) {
  const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  if (made === undefined) return false
  return readdirSync(folder, { recursive: true }).every((name) => statSync(join(folder, name)).mtimeMs <= made)
}
