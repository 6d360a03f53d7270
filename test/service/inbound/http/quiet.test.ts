/** A service that stops closes its ports when no caller is left: a connected one is a caller. */
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { quiet } from '../../../../src/inbound/http/connections.ts'
import { createServer } from '../../../../src/inbound/http/server.ts'
import { answerFailure } from '../../../../src/pipeline/reply.ts'
import { readTestSettings } from '../../../support/service.ts'

/** Connects, and says so at once, whatever the thread of the server does meanwhile. */
const CALLER = `
const { workerData: { port, connected } } = require('node:worker_threads')
const socket = require('node:net').connect(port, '127.0.0.1', () => {
  Atomics.store(connected, 0, 1)
  Atomics.notify(connected, 0)
})
socket.on('error', () => {})
`

/** Far longer than nothing must have come. */
const BUSY_MS = 200

test('a process that had no time to look is not one without callers', async (t) => {
  const server = createServer(readTestSettings({}), (failure) => answerFailure(failure, 'JSON'))
  await server.listen({ host: '127.0.0.1', port: 0 })
  const connected = new Int32Array(new SharedArrayBuffer(4))
  const { port } = server.server.address() as AddressInfo
  const seen: string[] = []
  server.server.on('connection', () => seen.push('connection'))
  const isQuiet = quiet(server).then(() => seen.push('quiet'))
  const caller = new Worker(CALLER, { eval: true, workerData: { port, connected } })
  t.after(async () => {
    await caller.terminate()
    await server.close()
  })
  // The thread stands still, as on a machine that is busy with others.
  assert.notEqual(Atomics.wait(connected, 0, 0, 10_000), 'timed-out')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS)
  await isQuiet
  assert.deepEqual(seen, ['connection', 'quiet'])
})
