/** A disk that fails or is nearly full: what /health/ready reports, and what goes on. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { endpointDocument, json } from '../../support/service.ts'
import { freshFolder, spawnService } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'

type Ready = Readonly<{
  status: string
  store: string
  storeError?: string
  messageLog: string
  messageLogError?: string
}>

const readyOf = (adminUrl: string) => async () => {
  const reply = await fetch(`${adminUrl}/health/ready`)
  return { code: reply.status, body: (await reply.json()) as Ready }
}

const STATEFUL = {
  endpoint: { pattern: '/kept' },
  state: { extract: { requestBody: { n: 'n' } } },
  inputMapping: { 'state.requestBody.n': 'before' },
}

test('with less free space than its reserve, the message log stores nothing, and all else goes on', async (test) => {
  const folder = freshFolder(test)
  const { url, adminUrl, child, ended, output } = await spawnService(folder, {
    env: { MESSAGE_LOG_DISK_RESERVE_MB: '9000000' },
  })
  const created = await fetch(`${url}/endpoints`, json('POST', endpointDocument(STATEFUL)))
  assert.equal(created.status, 201, await created.text())
  const send = async (n: number) => (await fetch(`${url}/kept`, json('POST', { n }))).json()
  assert.deepEqual([await send(1), await send(2)], [{}, { before: 1 }])
  const { code, body } = await until(readyOf(adminUrl), ({ body }) => body.messageLog !== 'ok')
  assert.deepEqual([code, body.status, body.store, body.messageLog], [200, 'ready', 'ok', 'unavailable'])
  assert.match(body.messageLogError ?? '', /MESSAGE_LOG_DISK_RESERVE_MB/)
  await until(
    () => output.stdout,
    (text) => /"level":"warn".*MESSAGE_LOG_DISK_RESERVE_MB/.test(text),
  )
  assert.equal(((await (await fetch(`${adminUrl}/messages`)).json()) as { messages: unknown[] }).messages.length, 0)
  // From now on every write to a file fails, as on a full disk.
  const limit = (bytes: string) => spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`])
  assert.equal(limit('1').status, 0)
  const failing = await until(readyOf(adminUrl), ({ code }) => code === 503)
  assert.deepEqual([failing.body.status, failing.body.store], ['not ready', 'unavailable'])
  assert.match(failing.body.storeError ?? '', /disk|writ/)
  assert.equal((await fetch(`${adminUrl}/health/live`)).status, 200)
  assert.equal(limit('unlimited').status, 0)
  await until(readyOf(adminUrl), ({ code }) => code === 200)
  assert.deepEqual(await send(3), { before: 2 })
  child.kill('SIGTERM')
  await ended
})

test('a message log that cannot be read is reported, and messages are answered', async (test) => {
  const folder = freshFolder(test)
  writeFileSync(
    join(folder, 'one-messages.db'),
    'no database, but some text that is long enough for SQLite to look at it',
  )
  const { adminUrl, child, ended } = await spawnService(folder, { env: { DATABASE_URL: 'sqlite:./one.db' } })
  const { code, body } = await readyOf(adminUrl)()
  assert.deepEqual([code, body.status, body.messageLog], [200, 'ready', 'unavailable'])
  assert.match(body.messageLogError ?? '', /one-messages\.db.* not an SQLite database/)
  child.kill('SIGTERM')
  await ended
})
