/** A real Chromium for tests of the console: the one of CHROMIUM, that of the machine, or Debian's package. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { servicesRequired } from './service-process.ts'

export const CHROMIUM = 'CHROMIUM'

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const INSTALL_MS = 240_000

/** The path of the browser; undefined if there is none. */
export function findChromium(): string | undefined {
  const given = process.env[CHROMIUM]
  return given ? given : PATHS.find((path) => existsSync(path))
}

/** Why there is none to test with; undefined where there is one. Throws where the tests must not go without. */
export function chromiumMissing(): string | undefined {
  if (findChromium() !== undefined) return undefined
  const reason = `no Chromium to test with: set ${CHROMIUM} to the path of one, or install Debian's package chromium`
  if (servicesRequired()) throw new Error(reason)
  return reason
}

/** The path of the browser, installed by apt-get if that is needed and this is root; a sentence if it cannot be had. */
export function provideChromium(): Readonly<{ path: string }> | string {
  const found = findChromium()
  if (found !== undefined) return { path: found }
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return chromiumMissing() ?? ''
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'chromium'],
  ]) {
    const { status, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8', timeout: INSTALL_MS })
    if (status !== 0) {
      const reason = `apt-get ${args[0]} failed: ${stderr.trim().split('\n').at(-1) ?? ''}`
      if (servicesRequired()) throw new Error(reason)
      return reason
    }
  }
  const installed = findChromium()
  return installed === undefined ? (chromiumMissing() ?? '') : { path: installed }
}
