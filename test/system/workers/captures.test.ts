/** Captures of messages on a service of several workers: they count together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { capturesOf } from '../../support/message-log/captures.ts'
import { startCrew, until } from './crew.ts'

const DOCUMENT: JsonObject = {
  name: 'captured',
  endpoint: { pattern: '/captured' },
  inputMapping: { 'requestBody.n': 'n' },
}

test('a capture holds on every worker at once, for as many messages of all of them, and ends on all', async (t) => {
  const crew = await startCrew(t, { env: { MESSAGE_LOG: 'metadata' } })
  const { _id } = await crew.register(DOCUMENT)
  const callers = await crew.connectToEach('/captured')
  const { start, get, call, captured } = capturesOf(crew.adminUrl).on(_id)
  await start({ messages: 50 })
  const send = (n: number) => callers[n % callers.length]?.call('POST', '/captured', { n })
  await Promise.all(callers.map((_, n) => send(n)))
  assert.equal((await captured()).length, callers.length)
  await Promise.all(Array.from({ length: 200 }, (_, n) => send(n)))
  assert.equal((await captured()).length, 50)
  const { isActive, remaining } = await get()
  assert.deepEqual([isActive, remaining], [false, 0])
  await start({ messages: 50 })
  assert.equal((await call('DELETE')).status, 200)
  await Promise.all(callers.map((_, n) => send(n)))
  assert.equal((await captured()).length, 50)
  for (const caller of callers) caller.end()
})

test('a worker that replaces a lost one knows the capture', async (t) => {
  const crew = await startCrew(t, { env: { MESSAGE_LOG: 'off' } })
  const { _id } = await crew.register(DOCUMENT)
  await crew.register({ ...DOCUMENT, name: 'another', endpoint: { pattern: '/another' } })
  const { start, captured } = capturesOf(crew.adminUrl).on(_id)
  await start({ messages: 10 })
  const [lost] = crew.workerPids()
  assert.ok(lost !== undefined)
  process.kill(lost, 'SIGKILL')
  await until(
    'a new worker',
    () => crew.workerPids(),
    (pids) => pids.length === 2 && !pids.includes(lost),
  )
  const callers = await crew.connectToEach('/another')
  for (const { call } of callers) assert.equal((await call('POST', '/captured', { n: 1 })).status, 200)
  assert.equal((await captured()).length, callers.length)
  for (const caller of callers) caller.end()
})
