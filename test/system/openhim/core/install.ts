/**
 * The OpenHIM core of tests, installed by npm once and remembered in a folder that no other package shares: it brings some
 * hundred packages of its time, which the product must not see.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CACHE } from '../../../support/services/java-class-path.ts'

const run = promisify(execFile)
const MANIFEST = fileURLToPath(new URL('packages/package.json', import.meta.url))
/** npm takes no version that is younger, so that each install brings the same packages. */
const BEFORE = '2026-11-24'

/** Gives the folder of the installed core. Rejects where npm cannot fetch it. */
export async function installCore(): Promise<string> {
  const version = createHash('sha256').update(readFileSync(MANIFEST)).update(BEFORE).digest('hex').slice(0, 12)
  const folder = join(CACHE, `openhim-core-${version}`)
  const core = join(folder, 'node_modules/openhim-core')
  if (existsSync(core)) return core
  // Several processes may do this at once: each installs into its own folder, and the first rename wins.
  const own = `${folder}.${process.pid}`
  mkdirSync(own, { recursive: true })
  copyFileSync(MANIFEST, join(own, 'package.json'))
  const options = [`--before=${BEFORE}`, '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
  await run('npm', ['install', ...options], { cwd: own, timeout: 300_000 })
  // Without this file the core asks a host of another network for certificates at each start.
  writeFileSync(
    join(own, 'node_modules/ssl-root-cas/ssl-root-cas-latest.js'),
    "module.exports = require('./ssl-root-cas')\n",
  )
  try {
    renameSync(own, folder)
  } catch (thrown) {
    rmSync(own, { recursive: true, force: true })
    if (!existsSync(core)) throw thrown
  }
  return core
}
