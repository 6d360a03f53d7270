/**
 * Keeps what V8 compiles of a bundled service while it starts and answers, so that no start compiles it again: a start
 * takes 220 ms of processor time, without it 360 (test/bin/launcher.test.ts compares both).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FLAGS } from '../bin/entry.js'

/** A start takes a second where everything is slow; one that has not ended by then never will. */
const LIMIT_MS = 30_000

/** Writes service.code beside service.js and main.js in `folder`. Rejects where the service does not start here. */
export async function keepCode(folder: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'crosswalk-code-'))
  const env = { PATH: process.env.PATH, ...ALONE, CROSSWALK_KEEP_CODE: join(folder, 'service.js') }
  const child = spawn(process.execPath, [...FLAGS, join(folder, 'main.js')], {
    cwd: home,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  try {
    const ended = once(child, 'exit')
    const said: string[] = []
    child.stderr.on('data', (chunk) => said.push(String(chunk)))
    let told = ''
    let asked: Promise<void> | undefined
    child.stdout.on('data', (chunk) => {
      told += String(chunk)
      const [, port] = /"messagePort":(\d+)\D/.exec(told) ?? []
      // Where nothing may be asked for here, it stops all the same: most of what a start needs has run by then.
      if (port !== undefined) asked ??= askOnce(port).finally(() => child.kill('SIGTERM'))
    })
    const [code] = await ended
    await asked
    if (code !== 0) throw new Error(`the service did not start: ${said.join('').trim()}`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Default settings but for free ports of this machine alone. */
const ALONE = { HOST: '127.0.0.1', SERVER_PORT: '0', ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0' }

/** Past any proxy that the environment names. Resolves too where there is no answer. */
const askOnce = (port: string): Promise<void> =>
  new Promise((resolve) => {
    const request = get(`http://127.0.0.1:${port}/uptime`, { agent: new Agent() }, (answer) => answer.resume())
    request.on('error', () => resolve()).on('close', () => resolve())
  })
