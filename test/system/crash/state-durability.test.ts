import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { endpointDocument, json } from '../../support/service.ts'

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'crosswalk-durable-'))
const running = new Set<ChildProcess>()
after(async () => {
  await Promise.all([...running].map(kill))
  rmSync(folder, { recursive: true })
})

/** Starts the service as a process over the one database; resolves to where it takes messages. */
async function start(): Promise<{ child: ChildProcess; url: string }> {
  const env = { ...process.env, SERVER_PORT: '0', ADMIN_PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'test.db')}` }
  const child = spawn(process.execPath, [main], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  for await (const line of createInterface({ input: child.stdout })) {
    const { messagePort } = JSON.parse(line) as { messagePort?: number }
    if (messagePort !== undefined) return { child, url: `http://127.0.0.1:${messagePort}` }
  }
  throw new Error('the service ended before it listened')
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  running.delete(child)
}

it('has the state of an answered message after kill -9', async () => {
  let { child, url } = await start()
  const document = endpointDocument({
    endpoint: { pattern: '/counter' },
    state: { extract: { requestBody: { n: 'n' } } },
    inputMapping: { 'state.requestBody.n': 'before', 'requestBody.n': 'n' },
  })
  const registered = await fetch(`${url}/endpoints`, json('POST', document))
  assert.equal(registered.status, 201)
  for (const n of [1, 2]) {
    const reply = await fetch(`${url}/counter`, json('POST', { n }))
    const answer = await reply.json()
    await kill(child)
    assert.deepEqual([reply.status, answer], [200, { ...(n > 1 && { before: n - 1 }), n }])
    ;({ child, url } = await start())
  }
  const reply = await fetch(`${url}/counter`, json('POST', { n: 3 }))
  assert.deepEqual(await reply.json(), { before: 2, n: 3 })
})
