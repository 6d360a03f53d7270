/** Callers who send a part of their body and no more: what they make the service keep is bounded. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { connectTo, exchange, readToEnd, requestText, statusesIn } from '../../../support/raw-exchange.ts'
import { json, type Service, startService } from '../../../support/service.ts'

const KIB = 1024
/** Little more than what is sent first: the rest may come in two pieces, of which the first has to have room as well. */
const WHOLE = 208 * KIB
const SENT = 200 * KIB
/** As many bodies as have room in 1 MiB. */
const HELD = 5
const FIT_WHOLE = 3

/** A chunked body. */
function chunksOf(text: string, size = 1): string {
  let chunks = ''
  for (let at = 0; at < text.length; at += size) {
    const chunk = text.slice(at, at + size)
    chunks += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  }
  return `${chunks}0\r\n\r\n`
}

describe('bodies that do not come whole', () => {
  let service: Service

  before(async () => {
    service = await startService({ PARSER_LIMIT: '256kb', MAX_INCOMPLETE_BODIES: '1mb' })
    await service.register({ endpoint: { pattern: '/in' } })
  })
  after(() => service.stop())

  const start = (head: string): { socket: Socket; received: () => string } => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    socket.write(`POST /in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${head}\r\n\r\n`)
    return { socket, received: () => text }
  }

  test('the bodies that have waited the longest for more are refused, and the others go on', async () => {
    const callers = Array.from({ length: 2 * HELD }, () => start(`Content-Length: ${WHOLE}`))
    const ended = callers.map(({ socket }) => once(socket, 'end'))
    for (const { socket } of callers) socket.write(' '.repeat(SENT))
    // As many have ended as had no room; only then do the others go on.
    let refused = 0
    await new Promise<void>((resolve) => {
      for (const end of ended) end.then(() => ++refused === HELD && resolve())
    })
    const message = await service.fetch('/in', json('POST', { a: 1 }))
    assert.deepEqual([message.status, message.json()], [200, { a: 1 }])
    for (const { socket, received } of callers) {
      if (received() !== '') continue
      socket.write(`${' '.repeat(WHOLE - SENT - 2)}{}`)
      await once(socket, 'data')
    }
    const statuses = callers.map(({ received }) => received().slice(0, 12)).toSorted()
    assert.deepEqual(statuses, [...Array(HELD).fill('HTTP/1.1 200'), ...Array(HELD).fill('HTTP/1.1 503')])
    for (const { received } of callers.filter((caller) => caller.received().startsWith('HTTP/1.1 503'))) {
      assert.match(received(), /retry-after: \d/i)
      assert.match(received(), /"code":"OVERLOADED"/)
    }
    for (const { socket } of callers) socket.destroy()
  })

  test('what came whole gives back its room', async () => {
    for (let round = 0; round < 4; round += 1) {
      const callers = Array.from({ length: FIT_WHOLE }, () => start(`Content-Length: ${WHOLE}`))
      await Promise.all(callers.map(({ socket }) => new Promise((resolve) => socket.write(' '.repeat(SENT), resolve))))
      for (const { socket } of callers) socket.end(`${' '.repeat(WHOLE - SENT - 2)}{}`)
      await Promise.all(callers.map(({ socket }) => once(socket, 'close')))
      assert.deepEqual(
        callers.map(({ received }) => received().slice(0, 12)),
        Array(FIT_WHOLE).fill('HTTP/1.1 200'),
      )
    }
  })

  for (const [what, transfer] of [
    ['message', 'POST /in'],
    ['call of the management API', 'POST /endpoints'],
  ] as const) {
    test(`a ${what} in very many pieces of one byte is refused before it is whole`, async () => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
      socket.setEncoding('utf8').on('error', () => {})
      const head = 'HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked'
      socket.write(`${transfer} ${head}\r\n\r\n${'1\r\n \r\n'.repeat(30_000)}`)
      const [answer] = await once(socket, 'data')
      assert.match(String(answer), /^HTTP\/1\.1 400 .*"code":"REQUEST_MALFORMED"/s)
      socket.destroy()
    })
  }

  test('a body whose chunks are too many is never taken as whole, though its end came with them', async () => {
    const body = chunksOf(`{"a":1}${' '.repeat(6_000)}JUNK!`)
    for (const [line, ...more] of [
      ['POST /in'],
      ['POST /in', 'Expect: 100-continue'],
      ['POST /endpoints'],
      ['PATCH /endpoints/000000000000000000000000'],
    ] as const) {
      const head = ['Content-Type: application/json', 'Transfer-Encoding: chunked', ...more]
      const answer = await exchange(service.url, requestText(line, head, body))
      assert.match(answer, /HTTP\/1\.1 400 .*5000 chunks.*"code":"REQUEST_MALFORMED"/s, line)
    }
  })

  test('a wrong expectation does not keep the chunks of a body from being bounded', async () => {
    const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    const refused = requestText('POST /in', [...chunked, 'Expect: x'], chunksOf(' '.repeat(6_000)))
    const left: unknown[] = []
    // Node makes no buffers of chunks that no listener of its parser takes.
    const look = (message: unknown): void => {
      const { parser } = (message as { socket: { parser: object } }).socket
      left.push(
        ...Object.values(parser).filter((value) => typeof value === 'function' && /body|chunk/i.test(value.name)),
      )
    }
    subscribe('http.server.response.finish', look)
    try {
      assert.deepEqual(statusesIn(await exchange(service.url, refused)), [417])
    } finally {
      unsubscribe('http.server.response.finish', look)
    }
    assert.deepEqual(left, [])
  })

  const HEAD = 'POST /in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n'
  const FLOOD = `${HEAD}\r\n${'1\r\n \r\n'.repeat(60_000)}`

  test('many connections that send chunks of one byte are refused, and later ones are read as before', async () => {
    for (const answer of await Promise.all(Array.from({ length: 24 }, () => exchange(service.url, FLOOD)))) {
      // The connection is reset while bytes arrive, and its caller may lose the answer.
      assert.match(answer, /^$|^HTTP\/1\.1 (?:400 .*"code":"REQUEST_MALFORMED"|503 .*"code":"OVERLOADED")/s)
    }
    // Each takes a parser that a refused connection had.
    const message = `${HEAD}Connection: close\r\n\r\n${'1\r\n \r\n'.repeat(200)}2\r\n{}\r\n0\r\n\r\n`
    for (let n = 0; n < 24; n += 1) assert.match(await exchange(service.url, message), /^HTTP\/1\.1 200 .*\{\}$/s)
  })

  test('a caller who sends 200 short chunks is not refused for the chunks of others', async () => {
    const text = `{"text":"${'x'.repeat(5_989)}"}`
    const message = `${HEAD}Connection: close\r\n\r\n${chunksOf(text, 30)}`
    for (let round = 0; round < 2; round += 1) {
      const sockets = await Promise.all(Array.from({ length: 12 }, () => connectTo(service.url)))
      for (const socket of sockets) {
        socket.write('GET /uptime HTTP/1.1\r\nHost: x\r\n\r\n')
        await once(socket, 'data')
      }
      const received = sockets.map(readToEnd)
      // Read in one turn, the message after the chunks of the others.
      for (const [at, socket] of sockets.entries()) socket.write(at < 11 ? FLOOD : message)
      const answer = (await received[11]) as string
      assert.deepEqual([statusesIn(answer), answer.endsWith(text)], [[200], true])
      await Promise.all(received)
    }
  })

  test('after a body of very many chunks that nothing reads, the next one of the connection is read', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
    const chunks = '1\r\n \r\n'.repeat(6_000)
    socket.write(`GET /uptime HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
    await once(socket, 'data')
    socket.write('POST /in HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n')
    socket.write('Content-Length: 7\r\n\r\n{"a":1}')
    await once(socket, 'close')
    assert.match(received, /^HTTP\/1\.1 200 .*HTTP\/1\.1 200 .*\{"a":1\}$/s)
  })

  test('bodies that come in small pieces take no more room than others', async () => {
    const callers = Array.from({ length: 6 }, () => start('Transfer-Encoding: chunked'))
    // Each holds what it has sent while the others send.
    const head = `8\r\n${' '.repeat(8)}\r\n`.repeat(12 * KIB)
    await Promise.all(callers.map(({ socket }) => new Promise((resolve) => socket.write(head, resolve))))
    const statuses: string[] = []
    for (const { socket, received } of callers) {
      socket.write('2\r\n{}\r\n0\r\n\r\n')
      await once(socket, 'data')
      statuses.push(received().slice(0, 12))
      socket.destroy()
    }
    assert.deepEqual(statuses, Array(6).fill('HTTP/1.1 200'))
  })
})
