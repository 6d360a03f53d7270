/** Servers that close a connection at the very moment of its next use. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { get, OK, onRequests, startClient, startTcp, text, untilKept } from './upstream.ts'

type End = (socket: Socket) => void

/** Answers so many requests on a connection without saying that it is the last, and ends it `when` it is. */
const closingAfter = (answers: number, end: End, when: 'with the answer' | 'at the next request') => (socket: Socket) =>
  onRequests(socket, (index) => {
    if (index >= answers) end(socket)
    if (index + 1 === answers && when === 'with the answer') socket.write(OK, () => end(socket))
    else if (index < answers) return OK
    return undefined
  })

const ENDS: readonly (readonly [string, End])[] = [
  ['closes', (socket) => socket.destroy()],
  ['resets', (socket) => socket.resetAndDestroy()],
  ['ends', (socket) => socket.end()],
]

const CONCURRENCY = 20
const ROUNDS = 4

describe('idempotent calls never see that a server', () => {
  for (const [name, end] of ENDS) {
    for (const when of ['with the answer', 'at the next request'] as const) {
      test(`${name} its connections ${when}`, async (t) => {
        let connections = 0
        const upstream = await startTcp(t, (socket) => {
          connections += 1
          closingAfter(1 + (connections % 3), end, when)(socket)
        })
        const client = startClient(t)
        for (let round = 0; round < ROUNDS; round++) {
          const calls = Array.from({ length: CONCURRENCY }, (_, index) => {
            const method = ['GET', 'PUT', 'DELETE'][index % 3] ?? ''
            return client.send(get(upstream.url, { method }))
          })
          const answers = await Promise.all(calls)
          assert.ok(answers.every(({ status, body }) => status === 200 && text(body) === 'ok'))
          if (round % 2 === 0) await untilKept()
        }
        assert.ok(connections > CONCURRENCY)
      })
    }
  }

  test('closes all of them at once, when a call has many to choose from', async (t) => {
    let closing = false
    const upstream = await startTcp(t, (socket) =>
      onRequests(socket, (index) => {
        if (!closing || index === 0) return OK
        socket.destroy()
        return undefined
      }),
    )
    const client = startClient(t)
    const burst = () => Promise.all(Array.from({ length: 50 }, () => client.send(get(upstream.url))))
    await burst()
    await untilKept()
    closing = true
    assert.equal((await client.send(get(upstream.url))).status, 200)
    await burst()
    assert.ok(upstream.sockets.length > 51)
  })

  test('closes them, where a POST declares itself idempotent', async (t) => {
    const upstream = await startTcp(
      t,
      closingAfter(1, (socket) => socket.resetAndDestroy(), 'at the next request'),
    )
    const client = startClient(t)
    for (let round = 0; round < 10; round++) {
      const request = get(upstream.url, { method: 'POST', body: 'b', idempotent: true })
      assert.equal((await client.send(request)).status, 200)
      await untilKept()
    }
  })
})

describe('a server that says how long it keeps connections', () => {
  const saying = (header: string) => `HTTP/1.1 200 OK\r\n${header}\r\ncontent-length: 2\r\n\r\nok`
  for (const [header, connections] of [
    ['keep-alive: timeout=1', 5],
    ['keep-alive: timeout=60', 1],
    ['connection: close', 5],
  ] as const) {
    test(`${header}: five POSTs take ${connections}`, async (t) => {
      const upstream = await startTcp(t, (socket) => onRequests(socket, () => saying(header)))
      const client = startClient(t)
      for (let call = 0; call < 5; call++) {
        await client.send(get(upstream.url, { method: 'POST', body: 'b' }))
        await untilKept()
      }
      assert.equal(upstream.sockets.length, connections)
    })
  }
})
