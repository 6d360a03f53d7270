/** An answer that came in time counts, also where this process had no time to look. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createHttpClient } from '../../../../src/outbound/http/http-client.ts'

/** Places in what is shared with the upstream. */
const [RECEIVED, MAY_ANSWER, ANSWERED] = [0, 1, 2] as const

/** An upstream with a loop of its own, which answers when it may. */
const UPSTREAM = `
  const { parentPort, workerData: shared } = require('node:worker_threads')
  const server = require('node:http').createServer(async (request, response) => {
    Atomics.add(shared, ${RECEIVED}, 1)
    await Atomics.waitAsync(shared, ${MAY_ANSWER}, 0).value
    response.end('{}', () => Atomics.add(shared, ${ANSWERED}, 1))
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`
const CALLS = 8
const TIMEOUT_MS = 1_000

test('answers that came while the loop was busy are taken, and the circuit stays closed', async (t) => {
  const shared = new Int32Array(new SharedArrayBuffer(12))
  const upstream = new Worker(UPSTREAM, { eval: true, workerData: shared })
  t.after(() => upstream.terminate())
  const [port] = await once(upstream, 'message')
  const client = createHttpClient({
    connectTimeoutMs: 2_000,
    answerLimitBytes: 1_000,
    circuit: { failures: 5, pauseMs: 60_000, maxPauseMs: 60_000 },
  })
  const request = { method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {}, timeoutMs: TIMEOUT_MS, retries: 0 }
  const begunAt = performance.now()
  const settled = Promise.allSettled(Array.from({ length: CALLS }, () => client.send(request)))
  while (Atomics.load(shared, RECEIVED) < CALLS) await new Promise(setImmediate)

  Atomics.store(shared, MAY_ANSWER, 1)
  Atomics.notify(shared, MAY_ANSWER)
  while (Atomics.load(shared, ANSWERED) < CALLS || performance.now() < begunAt + 1.2 * TIMEOUT_MS);

  for (const call of await settled) assert.equal(call.status === 'fulfilled' && call.value.status, 200)
  assert.deepEqual(client.health().open, [])
  await client.close()
})
