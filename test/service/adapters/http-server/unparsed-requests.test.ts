/** What is no request yet is a message all the same: answered with an id and a code, and found in the message log by them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connectTo, exchange, readToEnd, requestText, statusesIn } from '../../../support/raw-exchange.ts'
import { type Service, startService } from '../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService({ SERVER_HEADERS_TIMEOUT_MS: '300', SERVER_REQUEST_TIMEOUT_MS: '300' })
  await service.register({ endpoint: { pattern: '/json' } })
})
after(() => service.stop())

const JSON_TYPE = 'content-type: application/json'
const whole = (...headers: string[]) => requestText('POST /json', [JSON_TYPE, ...headers], '{}')

type Refused = Readonly<{ name: string; sent: string; status: number; code: string }>

const cases: readonly Refused[] = [
  { name: 'no HTTP at all', sent: 'NONSENSE\r\n\r\n', status: 400, code: 'REQUEST_MALFORMED' },
  { name: 'the greeting of TLS', sent: '\u0016\u0003\u0001\u0002\u0000', status: 400, code: 'REQUEST_MALFORMED' },
  { name: 'a URL that is none', sent: requestText('POST json', []), status: 400, code: 'REQUEST_MALFORMED' },
  { name: 'a header without a name', sent: whole(': x', 'content-length: 2'), status: 400, code: 'REQUEST_MALFORMED' },
  {
    name: 'two lengths',
    sent: whole('content-length: 2', 'content-length: 3'),
    status: 400,
    code: 'REQUEST_MALFORMED',
  },
  {
    name: 'a length and chunks',
    sent: whole('content-length: 2', 'transfer-encoding: chunked'),
    status: 400,
    code: 'REQUEST_MALFORMED',
  },
  { name: 'no host', sent: 'POST /json HTTP/1.1\r\nconnection: close\r\n\r\n', status: 400, code: 'REQUEST_MALFORMED' },
  ...[
    '[::1]evil.example',
    '127.0.0.1:1@evil.example',
    '127.0.0.1:3004,evil.example',
    'a b',
    'a/b',
    '[::1',
    '127.0.0.1:x',
  ].map((host) => ({
    name: `the host ${host}`,
    sent: `POST /json HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
    status: 400,
    code: 'REQUEST_MALFORMED',
  })),
  {
    name: 'two hosts',
    sent: 'POST /json HTTP/1.1\r\nhost: localhost\r\nHOST: evil.example\r\nconnection: close\r\n\r\n',
    status: 400,
    code: 'REQUEST_MALFORMED',
  },
  {
    name: 'a broken chunk',
    sent: `${whole('transfer-encoding: chunked')}zz\r\n`,
    status: 400,
    code: 'REQUEST_MALFORMED',
  },
  ...['gzip, chunked', 'chunked, chunked', 'identity, chunked', 'x-own;a=1, chunked', 'chunked;a=1', 'chunked, '].map(
    (coding) => ({
      name: `chunks in the coding "${coding}"`,
      sent: `${whole(`transfer-encoding: ${coding}`).slice(0, -2)}2\r\n{}\r\n0\r\n\r\n`,
      status: 400,
      code: 'REQUEST_MALFORMED',
    }),
  ),
  {
    name: 'two headers of codings',
    sent: `${whole('transfer-encoding: gzip', 'transfer-encoding: chunked').slice(0, -2)}2\r\n{}\r\n0\r\n\r\n`,
    status: 400,
    code: 'REQUEST_MALFORMED',
  },
  {
    name: 'chunks in HTTP/1.0',
    sent: `${whole('transfer-encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0').slice(0, -2)}2\r\n{}\r\n0\r\n\r\n`,
    status: 400,
    code: 'REQUEST_MALFORMED',
  },
  { name: 'headers beyond 16 KiB', sent: whole(`x: ${'x'.repeat(17_000)}`), status: 431, code: 'HEADERS_TOO_LARGE' },
  {
    name: 'an expectation',
    sent: whole('expect: magic', 'content-length: 2'),
    status: 417,
    code: 'EXPECTATION_REFUSED',
  },
  {
    name: 'headers that do not end',
    sent: 'POST /json HTTP/1.1\r\nhost: a\r\n',
    status: 408,
    code: 'REQUEST_TIMED_OUT',
  },
  { name: 'a body that does not end', sent: whole('content-length: 20'), status: 408, code: 'REQUEST_TIMED_OUT' },
]

const recordsOf = async (): Promise<readonly Record<string, unknown>[]> => {
  const reply = await fetch(`${service.adminUrl}/messages?limit=500`)
  return ((await reply.json()) as { messages: Record<string, unknown>[] }).messages
}

describe('what is no request', () => {
  for (const { name, sent, status, code } of cases) {
    test(`${name}: ${status}, with an id and one record`, async () => {
      const before = (await recordsOf()).length
      const received = await exchange(service.url, sent)
      assert.deepEqual(statusesIn(received), [status])
      const [, id] = /^x-crosswalk-message-id: ([0-9a-f]{24})\r$/im.exec(received) ?? []
      const body = JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4))
      assert.deepEqual([body.code, body.messageId], [code, id])
      assert.match(received, /^connection: close\r$/im)
      const records = await recordsOf()
      assert.equal(records.length, before + 1)
      assert.deepEqual([records[0]?.id, records[0]?.code, records[0]?.status], [id, code, status])
    })
  }

  for (const line of ['POST /unknown', 'PUT /json', 'POST /endpoints']) {
    test(`${line} has one answer, though its body is no body either`, async () => {
      const received = await exchange(service.url, `${requestText(line, ['transfer-encoding: chunked'])}zz\r\n`)
      assert.equal(received.split('HTTP/1.1 ').length - 1, 1, received)
    })
  }

  test('chunks are taken, in either case', async () => {
    for (const coding of ['chunked', 'Chunked']) {
      const sent = `${whole(`transfer-encoding: ${coding}`).slice(0, -2)}2\r\n{}\r\n0\r\n\r\n`
      assert.deepEqual(statusesIn(await exchange(service.url, sent)), [200])
    }
  })

  test('HTTP/1.0 needs no host', async () => {
    const sent = `POST /json HTTP/1.0\r\n${JSON_TYPE}\r\ncontent-length: 2\r\n\r\n{}`
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

  for (const { name, sent, status, code } of cases.filter((one) => one.status !== 408)) {
    test(`on the admin port ${name} is answered with a code, and is no message`, async () => {
      const before = (await recordsOf()).length
      const received = await exchange(service.adminUrl, sent.replace('POST /json', 'POST /endpoints'))
      assert.deepEqual(statusesIn(received), [status])
      assert.equal(JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4)).code, code)
      assert.equal((await recordsOf()).length, before)
    })
  }
})
