/** Keeps what V8 compiles of a bundled service while it starts and answers, so that no start has to do it again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
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
    child.stdout.on('data', (chunk) => {
      const [, port] = /"messagePort":(\d+)/.exec(String(chunk)) ?? []
      if (port !== undefined) void askOnce(port).finally(() => child.kill('SIGTERM'))
    })
    const [code] = await ended
    if (code !== 0) throw new Error(`the service did not start: ${said.join('').trim()}`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Default settings but for free ports of this machine alone. */
const ALONE = { HOST: '127.0.0.1', SERVER_PORT: '0', ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0' }

async function askOnce(port: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/uptime`)
  await answer.arrayBuffer()
}
