/**
 * A real Chromium for tests of the console: the one of CHROMIUM, that of the machine, or Debian's package. The headless shell
 * comes first: the same engine without the windows around pages, which take about a third of the processor time of these tests.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { servicesRequired } from './service-process.ts'

export const CHROMIUM = 'CHROMIUM'

/** The packages of Debian, the first that there is. */
const PACKAGES = ['chromium-headless-shell', 'chromium']
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const INSTALL_MS = 240_000

/** The path of the browser; undefined if there is none. */
export function findChromium(): string | undefined {
  const given = process.env[CHROMIUM]
  return given ? given : PATHS.find((path) => existsSync(path))
}

/** Why there is none to test with; undefined where there is one. Throws where the tests must not go without. */
export function chromiumMissing(): string | undefined {
  if (findChromium() !== undefined) return undefined
  const reason = `no Chromium to test with: set ${CHROMIUM} to the path of one, or install Debian's package ${PACKAGES[0]}`
  if (servicesRequired()) throw new Error(reason)
  return reason
}

/** The path of the browser, installed by apt-get if that is needed and this is root; a sentence if it cannot be had. */
export function provideChromium(): Readonly<{ path: string }> | string {
  const found = findChromium()
  if (found !== undefined) return { path: found }
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return chromiumMissing() ?? ''
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8', timeout: INSTALL_MS })
    return status === 0 ? undefined : `apt-get ${args[0]} failed: ${stderr.trim().split('\n').at(-1) ?? ''}`
  }
  let reason = run('update', '-qq')
  for (const name of reason === undefined ? PACKAGES : []) {
    reason = run('install', '-y', '-qq', '--no-install-recommends', name)
    if (reason === undefined) break
  }
  if (reason !== undefined) {
    if (servicesRequired()) throw new Error(reason)
    return reason
  }
  const installed = findChromium()
  return installed === undefined ? (chromiumMissing() ?? '') : { path: installed }
}
