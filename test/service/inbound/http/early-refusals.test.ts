/** Callers who are refused before their body has arrived, who ask before they send it, and who close their sending side. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { connectTo, exchange, readToEnd, requestText, statusesIn } from '../../../support/raw-exchange.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

type Port = 'message' | 'admin'

const MIB = 1_048_576
const JSON_TYPE = 'content-type: application/json'

let service: Service
let upstream: Upstream
const held = Promise.withResolvers<void>()

before(async () => {
  upstream = await startUpstream(async () => {
    await held.promise
    return { found: true }
  })
  service = await startService()
  const secret = `\${env:CROSSWALK_SECRET_${process.pid}}`
  await service.register({ endpoint: { pattern: '/in' } })
  await service.register({ endpoint: { pattern: '/closed' }, auth: { apiKey: { keys: [secret] } } })
  await service.register({
    endpoint: { pattern: '/held' },
    requests: { lookup: [{ id: 'up', config: { url: upstream.url } }] },
    inputMapping: { 'lookupRequests.up.data.found': 'found' },
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const baseOf = (port: Port) => (port === 'message' ? service.url : service.adminUrl)
const doneCount = async () => {
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
  return /^crosswalk_messages_total\{.*outcome="done".*$/m.exec(metrics)?.[0]
}

const PIECE = Buffer.alloc(65_536, ' ')
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), PIECE, Buffer.from('\r\n')])
async function send(socket: Socket, bytes: number, piece: Buffer): Promise<void> {
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += PIECE.length) {
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  }
}

/** Sends all of a body before it reads anything, as simple clients do. */
async function upload(base: string, line: string, headers: readonly string[], bytes: number): Promise<string> {
  const isChunked = headers.some((one) => one.startsWith('transfer-encoding'))
  const socket = await connectTo(base)
  socket.on('error', () => {})
  socket.pause()
  socket.write(`${line} HTTP/1.1\r\n${['host: localhost', JSON_TYPE, ...headers].join('\r\n')}\r\n\r\n`)
  await send(socket, bytes, isChunked ? CHUNK : PIECE)
  if (isChunked) socket.write('0\r\n\r\n')
  return readToEnd(socket.resume())
}

describe('the answer to an upload that is refused early', () => {
  const cases: readonly (readonly [status: number, port: Port, line: string, ...headers: string[]])[] = [
    [404, 'message', 'POST /unknown'],
    [405, 'message', 'PUT /in'],
    [401, 'message', 'POST /closed'],
    [413, 'message', 'POST /in'],
    [400, 'message', 'POST /%zz'],
    [400, 'message', 'POST /in', 'host: b'],
    [417, 'message', 'POST /in', 'expect: x'],
    [400, 'message', 'POST /in', 'content-length: 1, 2'],
    [431, 'message', 'POST /in', `x: ${'x'.repeat(20_000)}`],
    [413, 'message', 'POST /endpoints'],
    [413, 'admin', 'POST /endpoints'],
    [404, 'admin', 'POST /unknown'],
    [405, 'admin', 'PUT /endpoints'],
    [403, 'admin', 'POST /endpoints', 'via: 1.1 x'],
    [403, 'admin', 'POST /endpoints', 'origin: http://x'],
  ]
  // More than the buffers of the system hold between two sockets, once; elsewhere what is not read when the answer is sent.
  const sizes = cases.map((_, at) => (at === 0 ? 16 * MIB : 2 * MIB))
  for (const [at, [status, port, line, ...headers]] of cases.entries()) {
    test(`is read: ${status} for ${line} on the ${port} port ${headers.join().slice(0, 20)}`, async () => {
      const bytes = sizes[at] ?? 0
      const lengths = [`content-length: ${bytes}`, 'transfer-encoding: chunked']
      for (const length of headers[0]?.startsWith('content-length') ? lengths.slice(0, 1) : lengths) {
        const sent = () => upload(baseOf(port), line, [length, ...headers], bytes)
        for (const answer of await Promise.all([sent(), sent()])) {
          assert.deepEqual(statusesIn(answer), [status])
          assert.match(answer, /\}$/)
        }
      }
    })
  }

  test('ends a connection whose caller sends without end', async () => {
    const socket = await connectTo(service.url)
    const received = readToEnd(socket)
    socket.write(`POST /unknown HTTP/1.1\r\nhost: a\r\n${JSON_TYPE}\r\ntransfer-encoding: chunked\r\n\r\n`)
    await send(socket, 2_048 * MIB, CHUNK)
    assert.deepEqual(statusesIn(await received), [404])
    assert.ok(socket.bytesWritten < 512 * MIB, `${socket.bytesWritten} bytes were read`)
  })

  test('is the last on its connection: a request behind it is not processed', async () => {
    const before = await doneCount()
    const next = ['/in', '/endpoints'].map((path) =>
      requestText(`POST ${path}`, [JSON_TYPE, 'content-length: 2'], '{}'),
    )
    const cases: readonly (readonly [status: number, line: string, length: number])[] = [
      [404, 'POST /unknown', 2 * MIB],
      [413, 'POST /in', 2 * MIB],
      [404, 'POST /unknown', 2],
    ]
    for (const [status, line, length] of cases) {
      const head = requestText(line, [JSON_TYPE, `content-length: ${length}`]).replace('connection: close\r\n', '')
      const body = ' '.repeat(length) + next.join('')
      assert.deepEqual(statusesIn(await exchange(service.url, head + body)), [status])
      // What is behind the body comes after the answer.
      const socket = await connectTo(length > 2 ? service.adminUrl : service.url)
      const received = readToEnd(socket)
      socket.write(head.replace('/in ', '/endpoints '))
      if (length > 2) await once(socket, 'readable')
      socket.write(body)
      assert.deepEqual(statusesIn(await received), [status])
    }
    assert.equal(await doneCount(), before)
  })
})

test('messages in one write are answered in their order, the last of them too', async () => {
  const message = (n: number, ...headers: string[]) =>
    requestText('POST /in', [JSON_TYPE, 'content-length: 7', ...headers], `{"n":${n}}`)
  const kept = (n: number) => message(n).replace('connection: close\r\n', '')
  const received = await exchange(service.url, kept(1) + kept(2) + message(3))
  assert.deepEqual(
    received.match(/HTTP\/1\.1 \d+|\{"n":\d\}/g),
    [1, 2, 3].flatMap((n) => ['HTTP/1.1 200', `{"n":${n}}`]),
  )
})

describe('a caller who expects 100 Continue', () => {
  test('is not asked for the body of what is refused', async () => {
    const refused: readonly (readonly [status: number, port: Port, line: string, ...headers: string[]])[] = [
      [413, 'message', 'POST /in'],
      [404, 'message', 'POST /unknown'],
      [401, 'message', 'POST /closed'],
      [413, 'message', 'POST /endpoints'],
      [413, 'admin', 'POST /endpoints'],
      [403, 'admin', 'POST /endpoints', 'via: 1.1 x'],
      [403, 'admin', 'POST /endpoints', 'origin: http://x'],
      [404, 'admin', 'POST /unknown'],
      [405, 'admin', 'PUT /endpoints'],
    ]
    for (const [status, port, line, ...headers] of refused) {
      const text = requestText(line, [JSON_TYPE, 'expect: 100-continue', `content-length: ${8 * MIB}`, ...headers])
      assert.deepEqual(statusesIn(await exchange(baseOf(port), text)), [status], `${port} ${line}`)
    }
  })

  test('is asked for a body that is read', async () => {
    for (const [port, path, status] of [
      ['message', '/in', 200],
      ['message', '/endpoints', 400],
      ['admin', '/endpoints', 400],
    ] as const) {
      const socket = await connectTo(baseOf(port))
      const received = readToEnd(socket)
      socket.write(requestText(`POST ${path}`, [JSON_TYPE, 'Expect: 100-Continue', 'content-length: 2']))
      await once(socket, 'data')
      socket.write('{}')
      assert.deepEqual(statusesIn(await received), [100, status])
    }
  })
})

describe('a caller who closes its sending side', () => {
  const text = (path: string) =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${JSON_TYPE}\r\ncontent-length: 2\r\n\r\n{}`

  test('gets all answers, to messages and to management calls, and a refusal in the middle of a body', async () => {
    const uptime = 'GET /uptime HTTP/1.1\r\nhost: localhost\r\n\r\n'
    const cases: readonly (readonly [base: string, sent: string, statuses: readonly number[]])[] = [
      [service.url, text('/in'), [200]],
      [service.url, text('/in').replace('length: 2', 'length: 3'), [400]],
      ...[service.url, service.adminUrl].flatMap((base) => [
        [base, text('/endpoints'), [400]] as const,
        [base, uptime, [200]] as const,
      ]),
    ]
    for (const [base, sent, statuses] of cases)
      assert.deepEqual(statusesIn(await exchange(base, sent, 'end')), statuses, sent)
    assert.equal((await exchange(service.url, text('/in').repeat(3), 'end')).match(/HTTP\/1\.1 200 /g)?.length, 3)
  })

  test('gets the answer that takes its time', async () => {
    const received = exchange(service.url, text('/held'), 'end')
    await until(
      async () => upstream.received.length,
      (count) => count > 0,
    )
    held.resolve()
    assert.match(await received, /^HTTP\/1\.1 200 .*\{"found":true\}$/s)
  })

  test('leaves a stream of events', async () => {
    const socket = await connectTo(service.adminUrl)
    socket.write('GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await once(socket, 'data')
    const closed = readToEnd(socket)
    socket.end()
    await closed
    assert.equal((await service.fetch('/in', json('POST', {}))).status, 200)
  })
})
