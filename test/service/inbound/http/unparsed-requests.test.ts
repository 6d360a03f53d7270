/** What is no request yet is a message all the same: answered with an id and a code, and found in the message log by them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connectTo, exchange, readToEnd, requestText, statusesIn } from '../../../support/raw-exchange.ts'
import { type Service, startService } from '../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService({ SERVER_HEADERS_TIMEOUT_MS: '1000', SERVER_REQUEST_TIMEOUT_MS: '1000' })
  await service.register({ endpoint: { pattern: '/json' } })
})
after(() => service.stop())

const JSON_TYPE = 'content-type: application/json'
const whole = (...headers: string[]) => requestText('POST /json', [JSON_TYPE, ...headers], '{}')

const CHUNKS = '2\r\n{}\r\n0\r\n\r\n'
const chunked = (...headers: string[]) => whole(...headers).slice(0, -2) + CHUNKS
const LINE = 'POST /json HTTP/1.1\r\n'
const CLOSE = 'connection: close\r\n\r\n'

const MALFORMED: readonly (readonly [name: string, sent: string])[] = [
  ['no HTTP at all', 'NONSENSE\r\n\r\n'],
  ['the greeting of TLS', '\u0016\u0003\u0001\u0002\u0000'],
  ['a version that does not exist', 'GET /json HTTP/9.9\r\n\r\n'],
  ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a method that does not exist', requestText('FROBNICATE /json', [])],
  ['a URL that is none', requestText('POST json', [])],
  ['a URL that is not ASCII', requestText('POST /j\u00e9', [])],
  ['a header without a name', whole(': x', 'content-length: 2')],
  ['a header with a NUL', whole('x: a\0b')],
  ['two lengths', whole('content-length: 2', 'content-length: 3')],
  ['a negative length', whole('content-length: -1')],
  ['a length and chunks', whole('content-length: 2', 'transfer-encoding: chunked')],
  ['no host', `${LINE}${CLOSE}`],
  ...'[::1]evil.example|127.0.0.1:1@evil.example|127.0.0.1:3004,evil.example|a b|a/b|[::1|127.0.0.1:x'
    .split('|')
    .map((host) => [`the host ${host}`, `${LINE}host: ${host}\r\n${CLOSE}`] as const),
  ['two hosts', `${LINE}host: localhost\r\nHOST: evil.example\r\n${CLOSE}`],
  ['a broken chunk', `${whole('transfer-encoding: chunked')}zz\r\n`],
  ...['gzip, chunked', 'chunked, chunked', 'identity, chunked', 'x-own;a=1, chunked', 'chunked;a=1', 'chunked, '].map(
    (coding) => [`chunks in the coding "${coding}"`, chunked(`transfer-encoding: ${coding}`)] as const,
  ),
  ['two headers of codings', chunked('transfer-encoding: gzip', 'transfer-encoding: chunked')],
  ['chunks in HTTP/1.0', chunked('transfer-encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0')],
]
type Refused = readonly [name: string, sent: string, status?: number, code?: string]
const cases: readonly Refused[] = [
  ...MALFORMED,
  ['headers beyond 16 KiB', whole(`x: ${'x'.repeat(17_000)}`), 431, 'HEADERS_TOO_LARGE'],
  ['a URL beyond 16 KiB', requestText(`POST /json?${'x'.repeat(17_000)}`, []), 431, 'HEADERS_TOO_LARGE'],
  ['many headers', requestText('POST /json', Array(900).fill(`x: ${'x'.repeat(20)}`)), 431, 'HEADERS_TOO_LARGE'],
  ['an expectation', whole('expect: magic', 'content-length: 2'), 417, 'EXPECTATION_REFUSED'],
  ['headers that do not end', 'POST /json HTTP/1.1\r\nhost: a\r\n', 408, 'REQUEST_TIMED_OUT'],
  ['a body that does not end', whole('content-length: 20'), 408, 'REQUEST_TIMED_OUT'],
]

const recordsOf = async (): Promise<readonly Record<string, unknown>[]> => {
  const reply = await fetch(`${service.adminUrl}/messages?limit=500`)
  return ((await reply.json()) as { messages: Record<string, unknown>[] }).messages
}

describe('what is no request', () => {
  for (const [name, sent, status = 400, code = 'REQUEST_MALFORMED'] of cases) {
    test(`${name}: ${status}, with an id and one record, and on the admin port without`, async () => {
      const before = (await recordsOf()).length
      const received = await exchange(service.url, Buffer.from(sent))
      assert.deepEqual(statusesIn(received), [status])
      const [, id] = /^x-crosswalk-message-id: ([0-9a-f]{24})\r$/im.exec(received) ?? []
      const bodyOf = (text: string) => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))
      assert.deepEqual([bodyOf(received).code, bodyOf(received).messageId], [code, id])
      assert.match(received, /^connection: close\r$/im)
      if (status !== 408) {
        const there = await exchange(service.adminUrl, Buffer.from(sent.replace('POST /json', 'POST /endpoints')))
        assert.deepEqual([statusesIn(there), bodyOf(there).code], [[status], code])
      }
      const records = await recordsOf()
      assert.equal(records.length, before + 1)
      assert.deepEqual([records[0]?.id, records[0]?.code, records[0]?.status], [id, code, status])
    })
  }

  test('a tunnel is closed', async () => {
    assert.equal(await exchange(service.url, 'CONNECT example.org:443 HTTP/1.1\r\nhost: a\r\n\r\n'), '')
  })

  test('has one answer, though its body is no body either', async () => {
    for (const line of ['POST /unknown', 'PUT /json', 'POST /endpoints']) {
      const received = await exchange(service.url, `${requestText(line, ['transfer-encoding: chunked'])}zz\r\n`)
      assert.equal(received.split('HTTP/1.1 ').length - 1, 1, received)
    }
  })

  test('chunks are taken in either case, and HTTP/1.0 needs no host', async () => {
    const old = `POST /json HTTP/1.0\r\n${JSON_TYPE}\r\ncontent-length: 2\r\n\r\n{}`
    for (const sent of [...['chunked', 'Chunked'].map((coding) => chunked(`transfer-encoding: ${coding}`)), old])
      assert.deepEqual(statusesIn(await exchange(service.url, sent)), [200])
  })

  test('a caller who leaves in the middle of nothing leaves no record', async () => {
    const before = (await recordsOf()).length
    const socket = await connectTo(service.url)
    const received = readToEnd(socket)
    socket.write('POST /js')
    socket.resetAndDestroy()
    assert.equal(await received, '')
    assert.equal((await recordsOf()).length, before)
  })
})
