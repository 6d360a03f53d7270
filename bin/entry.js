/** Which form of the service is started. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

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
