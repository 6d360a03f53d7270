/**
 * Stores the code that V8 compiles while a bundled service starts and answers, so that no start compiles it again
 * (docs/decisions/speed.md).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FLAGS } from '../bin/entry.js'

/** On a slow machine, a start takes a second; after this time it has failed. */
const LIMIT_MS = 30_000

/** Writes service-x64.code, or that of another processor, beside service.js and main.js in `folder`. Rejects if the service does not start. */
export async function keepCode(folder: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'crosswalk-code-'))
  const env = { PATH: process.env.PATH, ...OWN_PORTS, CROSSWALK_KEEP_CODE: join(folder, 'service.js') }
  const child = spawn(process.execPath, [...FLAGS, join(folder, 'main.js')], {
    cwd: home,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  try {
    const ended = once(child, 'exit')
    const errors: string[] = []
    child.stderr.on('data', (chunk) => errors.push(String(chunk)))
    let log = ''
    let request: Promise<void> | undefined
    child.stdout.on('data', (chunk) => {
      log += String(chunk)
      const [, port] = /"messagePort":(\d+)\D/.exec(log) ?? []
      // It stops even if the request fails: by then most of the code of a start has run.
      if (port !== undefined) request ??= requestOnce(port).finally(() => child.kill('SIGTERM'))
    })
    const [code] = await ended
    await request
    if (code !== 0) throw new Error(`the service did not start: ${errors.join('').trim()}`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Default settings, except for free ports on the loopback address. */
const OWN_PORTS = { HOST: '127.0.0.1', SERVER_PORT: '0', ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0' }

/** Not through a proxy of the environment. Resolves without an answer too. */
const requestOnce = (port: string): Promise<void> =>
  new Promise((resolve) => {
    const request = get(`http://127.0.0.1:${port}/uptime`, { agent: new Agent() }, (answer) => answer.resume())
    request.on('error', () => resolve()).on('close', () => resolve())
  })
