import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { retryAfterMs } from '../../../../src/outbound/http/upstreams.ts'
import { failsWith, get, OK, onRequests, startClient, startHttp, startTcp, text, untilKept } from './upstream.ts'

const NOW = Date.parse('2024-05-01T12:00:00Z')

const tries: readonly (readonly [
  name: string,
  answers: number[],
  retries: number,
  status: number,
  requests: number,
])[] = [
  ['a 503, then a 200', [503, 200], 1, 200, 2],
  ['a 502 and a 504, then a 201', [502, 504, 201], 5, 201, 3],
  ['a 503 with no retries', [503, 200], 0, 503, 1],
  ['more failures than retries', [503, 502, 504, 200], 2, 504, 3],
  ['a 500', [500, 200], 3, 500, 1],
  ['a 429 that does not say when', [429, 200], 3, 429, 1],
]
for (const [name, answers, retries, status, requests] of tries) {
  test(`tries again as often as it may: ${name}`, async (t) => {
    let seen = 0
    const upstream = await startHttp(t, (_request, response) => response.writeHead(answers[seen++] ?? 500).end('ok'))
    const answer = await startClient(t).send(get(upstream.url, { method: 'POST', body: 'b', retries }))
    assert.deepEqual([answer.status, seen], [status, requests])
  })
}

test('tries again after a lost connection, and sends the body again', async (t) => {
  const bodies: string[] = []
  const upstream = await startHttp(t, (request, response) => {
    request.on('data', (chunk) => bodies.push(String(chunk)))
    request.on('end', () => (bodies.length < 3 ? response.destroy() : response.end('ok')))
  })
  const answer = await startClient(t).send(get(upstream.url, { method: 'PUT', body: 'same', retries: 2 }))
  assert.equal(text(answer.body), 'ok')
  assert.deepEqual(bodies, ['same', 'same', 'same'])
})

test('reports the last failure once its retries are used up', async (t) => {
  const upstream = await startTcp(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
  await assert.rejects(startClient(t).send(get(upstream.url, { retries: 2 })), failsWith('unreachable', /reset/))
  assert.equal(upstream.sockets.length, 3)
})

test('pauses between attempts are by chance, up to a bound that grows', async (t) => {
  const paused: number[] = []
  const upstream = await startHttp(t, (_request, response) => response.writeHead(503).end())
  const pause = async (pauseMs: number) => void paused.push(pauseMs)
  const client = startClient(t, { retry: { pauseMs: 200, random: () => 0.5, pause } })
  await client.send(get(upstream.url, { retries: 8, timeoutMs: 30_000 }))
  assert.deepEqual(paused, [100, 200, 400, 800, 1_600, 2_500, 2_500, 2_500])
})

const asked: readonly (readonly [header: string, paused: readonly number[], status?: number])[] = [
  ['3', [3_005]],
  ['Wed, 01 May 2024 12:00:07 GMT', [7_005]],
  ['Wed, 01 May 2024 11:00:00 GMT', [5]],
  ['soon', [5]],
  // Longer than the time left, and as long.
  ['61', []],
  ['60', []],
  ['3', [3_005], 429],
  ['soon', [], 429],
]
for (const [header, paused, status = 503] of asked) {
  test(`waits as long as Retry-After asks, if the time allows it: ${header} with ${status}`, async (t) => {
    const pauses: number[] = []
    let seen = 0
    const upstream = await startHttp(t, (_request, response) =>
      response.writeHead(seen++ === 0 ? status : 200, { 'retry-after': header }).end(),
    )
    const pause = async (ms: number) => void pauses.push(ms)
    const retry = { pauseMs: 10, random: () => 0.5, clock: () => NOW, pause }
    const answer = await startClient(t, { retry }).send(get(upstream.url, { retries: 1, timeoutMs: 60_000 }))
    assert.deepEqual(pauses, paused)
    assert.equal(answer.status, paused.length === 0 ? status : 200)
  })
}

test('the timeout covers all attempts and pauses together', async (t) => {
  let seen = 0
  const upstream = await startHttp(t, (_request, response) => void (seen++ === 0 && response.writeHead(503).end()))
  const sent = startClient(t).send(get(upstream.url, { retries: 5, timeoutMs: 200 }))
  await assert.rejects(sent, failsWith('timeout', /after 200 ms/))
  assert.equal(seen, 2)
})

test('retryAfterMs reads what RFC 9110 writes and nothing else', () => {
  const cases: readonly (readonly [header: string | string[] | undefined, ms: number | undefined])[] = [
    ['0', 0],
    [' 120 ', 120_000],
    ['Wed, 01 May 2024 12:00:01 GMT', 1_000],
    ['2024', 2_024_000],
    ...['-1', '1.5', '', '2024-05-01', ['1', '2'], undefined].map((header) => [header, undefined] as const),
  ]
  for (const [header, ms] of cases)
    assert.equal(
      retryAfterMs(header, () => NOW),
      ms,
      String(header),
    )
})

/** Serves one request a connection and ends it when the second arrives, as when its idle time ran out just then. */
const race =
  (end: 'destroy' | 'resetAndDestroy', before = '') =>
  (socket: Socket) =>
    onRequests(socket, (index) => {
      if (index === 0) return OK
      if (before !== '') socket.write(before)
      socket[end]()
      return undefined
    })

const races = [
  ['GET', 'destroy', true],
  ['GET', 'resetAndDestroy', true],
  ['PUT', 'resetAndDestroy', true],
  ['DELETE', 'destroy', true],
  // It may have been taken.
  ['POST', 'destroy', false],
  ['POST', 'resetAndDestroy', false],
] as const
for (const [method, end, survives] of races) {
  test(`a kept connection that dies as it is used: ${method}, ${end}`, async (t) => {
    let heads = 0
    const upstream = await startTcp(t, (socket) => {
      race(end)(socket)
      socket.on('data', () => heads++)
    })
    const client = startClient(t)
    const request = get(upstream.url, { method, ...(method === 'PUT' || method === 'POST' ? { body: 'b' } : {}) })
    assert.equal((await client.send(request)).status, 200)
    await untilKept()
    if (survives) assert.equal(text((await client.send(request)).body), 'ok')
    else await assert.rejects(client.send(request), failsWith('unreachable', /reset|closed before/))
    assert.deepEqual([heads, upstream.sockets.length], survives ? [3, 2] : [2, 1])
  })
}

test('a kept connection that dies in the middle of an answer is a failure', async (t) => {
  const upstream = await startTcp(t, race('destroy', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no'))
  const client = startClient(t)
  await client.send(get(upstream.url))
  await untilKept()
  await assert.rejects(client.send(get(upstream.url)), failsWith('unreachable', /closed before/))
  assert.equal(upstream.sockets.length, 1)
})

test('a fresh connection that dies is a failure: nothing is sent twice', async (t) => {
  const upstream = await startTcp(t, (socket) => socket.once('data', () => socket.destroy()))
  await assert.rejects(startClient(t).send(get(upstream.url)), failsWith('unreachable', /closed before|reset/))
  assert.equal(upstream.sockets.length, 1)
})

test('connections that the server closed while idle are not noticed by any method', async (t) => {
  const upstream = await startTcp(t, (socket) => onRequests(socket, () => OK))
  const client = startClient(t)
  for (let round = 0; round < 20; round++) {
    assert.equal((await client.send(get(upstream.url, { method: 'POST', body: 'b' }))).status, 200)
    await untilKept()
    if (round % 2 === 0) upstream.sockets.at(-1)?.destroy()
    else upstream.sockets.at(-1)?.resetAndDestroy()
  }
})
