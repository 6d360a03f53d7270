/** Headers beyond the limit end a call, and hold up no other message meanwhile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCpuTime } from '../../../support/cpu-time.ts'
import { failsWith, get, OK, onRequests, startClient, startTcp, untilKept } from './upstream.ts'

const HEADERS = 20_000
const MANY = `HTTP/1.1 200 OK\r\n${Array.from({ length: HEADERS }, (_, n) => `x${n}: y\r\n`).join('')}\r\n`
const CALLS = 20
/** For all calls; errors with stacks would take some seconds. */
const MOST_MS = 1_200

test('twenty thousand headers take little processor time', async (t) => {
  const upstream = await startTcp(t, (socket) => onRequests(socket, () => MANY))
  const client = startClient(t)
  const { stackTraceLimit } = Error
  const cpuMs = startCpuTime()
  for (let call = 0; call < CALLS; call += 1) {
    await assert.rejects(client.send(get(upstream.url)), failsWith('unreachable', /headers/))
  }
  const tookMs = cpuMs()
  assert.ok(tookMs < MOST_MS, `${tookMs} ms`)
  await untilKept()
  assert.equal(Error.stackTraceLimit, stackTraceLimit)
})

test('the next call to the same target is answered', async (t) => {
  const upstream = await startTcp(t, (socket, index) => onRequests(socket, () => (index === 0 ? MANY : OK)))
  const client = startClient(t)
  await assert.rejects(client.send(get(upstream.url)), failsWith('unreachable', /headers/))
  assert.equal((await client.send(get(upstream.url))).status, 200)
})
