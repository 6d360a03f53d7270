/** What bounds a caller of the HTTP server, and that none of it ends or wedges the service. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { call } from '../../../support/adapters/http-server/management/call.ts'
import { connectTo, type Ending, exchange, readToEnd, requestText, statusesIn } from '../../../support/raw-exchange.ts'
import {
  endpointDocument,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../../support/service.ts'

const LIMIT_BYTES = 1_048_576
const MOST_IN_FLIGHT = 3

let service: Service
let upstream: Upstream
let release = (): void => {}
let held = new Promise<void>((resolve) => {
  release = resolve
})

before(async () => {
  upstream = await startUpstream(async () => {
    await held
    return {}
  })
  service = await startService({ MAX_MESSAGES_IN_FLIGHT: `${MOST_IN_FLIGHT}` })
  const lookup = [{ id: 'held', config: { url: upstream.url } }]
  await service.register({ endpoint: { pattern: '/json' } })
  await service.register({ endpoint: { pattern: '/xml' }, transformation: { input: 'XML', output: 'XML' } })
  await service.register({ endpoint: { pattern: '/held' }, requests: { lookup } })
  await service.register({
    endpoint: { pattern: '/held/xml' },
    transformation: { input: 'JSON', output: 'XML' },
    requests: { lookup },
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const inFlight = async (): Promise<unknown> =>
  (await call(service.adminUrl, 'GET', '/health/ready')).json().messagesInFlight

/** Polls until the number of messages under way is as expected; the runner's own limit ends a wait in vain. */
async function untilInFlight(expected: number): Promise<void> {
  while ((await inFlight()) !== expected);
}

async function assertGoesOn(): Promise<void> {
  const reply = await service.fetch('/json', json('POST', { still: 'here' }))
  assert.deepEqual([reply.status, reply.json()], [200, { still: 'here' }])
  assert.equal(await inFlight(), 0)
  const bugs = service.log.filter(({ level }) => level === 'error')
  assert.deepEqual(bugs, [])
}

const JSON_TYPE = 'content-type: application/json'

describe('the size of a body', () => {
  const tooLarge = 'a'.repeat(LIMIT_BYTES - 1)
  const xml = { type: 'application/xml', opening: /^<\?xml .*<code>BODY_TOO_LARGE<\/code>/s }
  const cases = [
    { path: '/json', type: 'application/json', opening: /^\{.*"code":"BODY_TOO_LARGE"/ },
    { path: '/xml', ...xml },
    { path: '/endpoints', type: 'application/json', opening: /^\{.*"code":"BODY_TOO_LARGE"/ },
  ]
  for (const { path, type, opening } of cases) {
    for (const chunked of [false, true]) {
      test(`is limited on ${path}${chunked ? ' where it comes in chunks' : ''}`, async () => {
        const body = new Blob([`"${tooLarge}"`])
        const reply = await service.fetch(path, {
          method: 'POST',
          headers: { 'content-type': type },
          body: chunked ? body.stream() : body,
          duplex: 'half',
        })
        assert.equal(reply.status, 413)
        assert.equal(reply.headers.get('content-type'), type)
        assert.match(reply.text, opening)
        await assertGoesOn()
      })
    }
  }

  test('is limited on the admin port', async () => {
    const reply = await call(service.adminUrl, 'POST', '/endpoints', {
      headers: { 'content-type': 'application/json' },
      body: `"${tooLarge}"`,
    })
    assert.deepEqual([reply.status, reply.json().code], [413, 'BODY_TOO_LARGE'])
  })

  test('may be the limit itself', async () => {
    const body = `"${tooLarge.slice(1)}"`
    const reply = await service.fetch('/json', { ...json('POST', undefined), body })
    assert.deepEqual([reply.status, reply.text.length], [200, LIMIT_BYTES])
  })

  test('without an endpoint is not waited for', async () => {
    const head = requestText('POST /nobody', [JSON_TYPE, 'content-length: 900000'])
    assert.deepEqual(statusesIn(await exchange(service.url, head)), [404])
  })
})

describe('the depth of a body', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const elements = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  const cases = [
    { path: '/json', type: 'application/json', body: nested(64), status: 200 },
    { path: '/json', type: 'application/json', body: nested(65), status: 400 },
    { path: '/json', type: 'application/json', body: nested(500_000), status: 400 },
    { path: '/xml', type: 'application/xml', body: elements(64), status: 200 },
    { path: '/xml', type: 'application/xml', body: elements(65), status: 400 },
    { path: '/xml', type: 'application/xml', body: elements(140_000), status: 400 },
    { path: '/endpoints', type: 'application/json', body: nested(65), status: 400 },
  ]
  for (const { path, type, body, status } of cases) {
    test(`${body.length} characters of brackets or tags on ${path}: ${status}`, async () => {
      const reply = await call(service.url, 'POST', path, { headers: { 'content-type': type }, body })
      assert.equal(reply.status, status)
      if (status === 400) assert.match(reply.text, /BODY_TOO_DEEP/)
    })
  }
})

describe('a slow caller', { concurrency: true }, () => {
  let strict: Service
  before(async () => {
    strict = await startService({ SERVER_HEADERS_TIMEOUT_MS: '300', SERVER_REQUEST_TIMEOUT_MS: '400' })
    await strict.register({ endpoint: { pattern: '/json' } })
  })
  after(() => strict.stop())

  const cases = [
    { name: 'that sends nothing', sent: '' },
    { name: 'that never ends its headers', sent: 'POST /json HTTP/1.1\r\nhost: a\r\n' },
    { name: 'that never ends its body', sent: requestText('POST /json', [JSON_TYPE, 'content-length: 2'], '{') },
    {
      name: 'that never ends a chunk',
      sent: requestText('POST /json', [JSON_TYPE, 'transfer-encoding: chunked'], '2\r\n{'),
    },
    { name: 'of the admin port', sent: 'GET /health/live HTTP/1.1\r\n', admin: true },
  ]
  for (const { name, sent, admin = false } of cases) {
    test(`${name} is answered with 408 and let go`, async () => {
      const received = await exchange(admin ? strict.adminUrl : strict.url, sent)
      assert.deepEqual(statusesIn(received), [408])
      assert.match(received, /"code":"REQUEST_TIMED_OUT"/)
    })
  }

  test('does not hold up others', async () => {
    const slow = await connectTo(strict.url)
    slow.write('POST /json HTTP/1.1\r\n')
    const ended = readToEnd(slow)
    for (const meanwhile of [Promise.resolve(), ended]) {
      await meanwhile
      assert.equal((await strict.fetch('/json', json('POST', {}))).status, 200)
    }
  })
})

describe('what is no HTTP', () => {
  const cases: readonly { name: string; sent: string | Uint8Array; status: number | undefined }[] = [
    { name: 'a line of text', sent: 'nonsense\r\n\r\n', status: 400 },
    { name: 'random bytes', sent: Buffer.from('16030100a5010000a10303', 'hex'), status: 400 },
    { name: 'a version that does not exist', sent: 'GET /json HTTP/9.9\r\n\r\n', status: 400 },
    { name: 'HTTP/2 without asking', sent: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', status: 400 },
    { name: 'a method that does not exist', sent: requestText('FROBNICATE /json', []), status: 400 },
    { name: 'no host', sent: 'GET /json HTTP/1.1\r\n\r\n', status: 400 },
    {
      name: 'two lengths',
      sent: requestText('POST /json', ['content-length: 2', 'content-length: 3'], '{}'),
      status: 400,
    },
    {
      name: 'a length and chunks',
      sent: requestText('POST /json', ['content-length: 2', 'transfer-encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'),
      status: 400,
    },
    { name: 'a negative length', sent: requestText('POST /json', ['content-length: -1'], '{}'), status: 400 },
    {
      name: 'a chunk without a size',
      sent: requestText('POST /json', ['transfer-encoding: chunked'], 'zz\r\n'),
      status: 400,
    },
    { name: 'a header without a name', sent: requestText('GET /json', [': x']), status: 400 },
    { name: 'a header with a NUL', sent: requestText('GET /json', ['x: a\0b']), status: 400 },
    { name: 'a URL that is not ASCII', sent: Buffer.from(requestText('GET /jé', [])), status: 400 },
    { name: 'a tunnel', sent: 'CONNECT example.org:443 HTTP/1.1\r\nhost: a\r\n\r\n', status: undefined },
  ]
  for (const { name, sent, status } of cases) {
    test(`${name}: ${status ?? 'the connection is closed'}`, async () => {
      assert.deepEqual(statusesIn(await exchange(service.url, sent)), status === undefined ? [] : [status])
      await assertGoesOn()
    })
  }
})

describe('a body that is cut short', () => {
  const heads = [
    { name: 'its length', sent: requestText('POST /json', [JSON_TYPE, 'content-length: 10'], '{}') },
    { name: 'its chunks', sent: requestText('POST /json', [JSON_TYPE, 'transfer-encoding: chunked'], '2\r\n{}\r\n') },
    { name: 'a chunk', sent: requestText('POST /xml', ['transfer-encoding: chunked'], 'ff\r\n<a>') },
    { name: 'a document', sent: requestText('POST /endpoints', [JSON_TYPE, 'content-length: 10'], '{}') },
  ]
  for (const { name, sent } of heads) {
    for (const ending of ['end', 'drop'] as const satisfies Ending[]) {
      test(`before the end of ${name}, by a caller who ${ending}s, is no message`, async () => {
        const statuses = statusesIn(await exchange(service.url, sent, ending))
        assert.deepEqual(statuses, ending === 'end' ? [400] : [])
        await assertGoesOn()
      })
    }
  }

  test('and one whose caller goes while it is worked on leave nothing behind', async () => {
    const caller = await connectTo(service.url)
    caller.write(requestText('POST /held', [JSON_TYPE, 'content-length: 2'], '{}'))
    await untilInFlight(1)
    caller.resetAndDestroy()
    release()
    await untilInFlight(0)
    const { text } = await call(service.adminUrl, 'GET', '/metrics')
    assert.match(text, /^crosswalk_messages_in_flight 0$/m)
    await assertGoesOn()
  })
})

describe('MAX_MESSAGES_IN_FLIGHT', () => {
  test('refuses one more with 503, in the type of its endpoint, and recovers', async () => {
    held = new Promise((resolve) => {
      release = resolve
    })
    const messages = Array.from({ length: MOST_IN_FLIGHT }, () => service.fetch('/held', json('POST', {})))
    await untilInFlight(MOST_IN_FLIGHT)
    const refused = await service.fetch('/json', json('POST', {}))
    assert.deepEqual(
      [refused.status, refused.headers.get('retry-after'), refused.json().code],
      [503, '1', 'OVERLOADED'],
    )
    const refusedXml = await service.fetch('/held/xml', json('POST', {}))
    assert.equal(refusedXml.status, 503)
    assert.match(refusedXml.text, /<code>OVERLOADED<\/code>/)
    const full = await call(service.adminUrl, 'GET', '/health/ready')
    assert.deepEqual([full.status, full.json().messagesInFlight], [200, MOST_IN_FLIGHT])
    assert.equal((await service.fetch('/nobody', json('POST', {}))).status, 404)
    release()
    for (const message of messages) assert.equal((await message).status, 200)
    await assertGoesOn()
  })

  test('reads no body of what it refuses', async () => {
    held = new Promise((resolve) => {
      release = resolve
    })
    const messages = Array.from({ length: MOST_IN_FLIGHT }, () => service.fetch('/held', json('POST', {})))
    await untilInFlight(MOST_IN_FLIGHT)
    const head = requestText('POST /json', [JSON_TYPE, 'content-length: 900000'])
    assert.deepEqual(statusesIn(await exchange(service.url, head)), [503])
    release()
    await Promise.all(messages)
  })
})

describe('the connections of a port', () => {
  const MOST = 3
  const ports = [
    { port: 'message', setting: 'SERVER_MAX_CONNECTIONS', path: '/json' },
    { port: 'admin', setting: 'ADMIN_MAX_CONNECTIONS', path: '/uptime' },
  ] as const
  for (const { port, setting, path } of ports) {
    test(`of the ${port} port are bounded: one more is closed, and idle ones make room for the next`, async (t) => {
      const bounded = await startService({ [setting]: `${MOST}` })
      t.after(bounded.stop)
      const [base, other] = port === 'message' ? [bounded.url, bounded.adminUrl] : [bounded.adminUrl, bounded.url]
      // Through the other port, since fetch keeps its connections.
      const document = endpointDocument({ endpoint: { pattern: '/json', method: 'GET' } })
      assert.equal((await fetch(`${other}/endpoints`, json('POST', document))).status, 201)
      const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\n`
      const ask = () => exchange(base, `${request}connection: close\r\n\r\n`)

      const sockets = []
      for (let count = 0; count < MOST; count += 1) {
        const socket = await connectTo(base)
        socket.on('error', () => {}).write(request)
        sockets.push(socket)
      }
      assert.equal(await ask(), '')
      assert.equal((await fetch(`${other}/uptime`)).status, 200)
      const answers = sockets.map((socket) => once(socket.setEncoding('latin1'), 'data'))
      for (const socket of sockets) socket.write('\r\n')
      for (const [answer] of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 200 /)
      const closed = sockets.map((socket) => once(socket, 'close'))
      while ((await ask()) === '');
      await Promise.all(closed)

      const metrics = await (await fetch(`${bounded.adminUrl}/metrics`)).text()
      const count = (name: string) => Number(new RegExp(`^${name}\\{port="${port}"\\} (\\d+)$`, 'm').exec(metrics)?.[1])
      assert.ok(count('crosswalk_connections') <= MOST)
      assert.ok(count('crosswalk_connections_refused_total') >= 2)
      const warnings = bounded.log.filter(({ level, message }) => level === 'warn' && message.includes(setting))
      assert.equal(warnings.length, 1, 'one a minute')
    })
  }
})
