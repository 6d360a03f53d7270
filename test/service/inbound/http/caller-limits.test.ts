/** What bounds a caller of the HTTP server, and that none of it ends or wedges the service. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { call } from '../../../support/inbound/http/management/call.ts'
import { connectTo, exchange, readToEnd, requestText, statusesIn } from '../../../support/raw-exchange.ts'
import {
  endpointDocument,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const LIMIT_BYTES = 1_048_576
const MAX_IN_FLIGHT = 3

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
  service = await startService({ MAX_MESSAGES_IN_FLIGHT: `${MAX_IN_FLIGHT}` })
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

const untilInFlight = (expected: number) => until(inFlight, (count) => count === expected)

async function assertGoesOn(): Promise<void> {
  const reply = await service.fetch('/json', json('POST', { still: 'here' }))
  assert.deepEqual([reply.status, reply.json()], [200, { still: 'here' }])
  assert.equal(await inFlight(), 0)
  const bugs = service.log.filter(({ level }) => level === 'error')
  assert.deepEqual(bugs, [])
}

const JSON_TYPE = 'content-type: application/json'

describe('the size and the depth of a body', () => {
  const brackets = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const elements = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  const text = (bytes: number) => `"${'a'.repeat(bytes - 2)}"`
  const cases: readonly (readonly [path: string, body: string, status: number])[] = [
    ['/json', text(LIMIT_BYTES), 200],
    ['/json', text(LIMIT_BYTES + 1), 413],
    ['/xml', text(LIMIT_BYTES + 1), 413],
    ['/json', brackets(64), 200],
    ['/json', brackets(65), 400],
    ['/json', brackets(500_000), 400],
    ['/xml', elements(64), 200],
    ['/xml', elements(65), 400],
    ['/xml', elements(140_000), 400],
  ]
  for (const [path, body, status] of cases) {
    test(`${body.length} characters that start with ${body.slice(0, 3)} on ${path}: ${status}`, async () => {
      const type = path === '/xml' ? 'application/xml' : 'application/json'
      for (const sent of [body, new Blob([body]).stream()]) {
        const init = { method: 'POST', headers: { 'content-type': type }, body: sent, duplex: 'half' } as const
        const reply = await service.fetch(path, init)
        assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, type])
        const code = status === 413 ? 'BODY_TOO_LARGE' : 'BODY_TOO_DEEP'
        if (status === 200) continue
        if (path === '/xml') assert.match(reply.text, new RegExp(`^<\\?xml .*<code>${code}</code>`, 's'))
        else assert.equal(reply.json().code, code)
      }
      await assertGoesOn()
    })
  }

  test('without an endpoint are not waited for', async () => {
    const head = requestText('POST /unknown', [JSON_TYPE, 'content-length: 900000'])
    assert.deepEqual(statusesIn(await exchange(service.url, head)), [404])
  })
})

describe('a slow caller', { concurrency: true }, () => {
  let strict: Service
  before(async () => {
    strict = await startService({ SERVER_HEADERS_TIMEOUT_MS: '1000', SERVER_REQUEST_TIMEOUT_MS: '1000' })
    await strict.register({ endpoint: { pattern: '/json' } })
  })
  after(() => strict.stop())

  const cases: readonly (readonly [name: string, sent: string])[] = [
    ['sends nothing', ''],
    ['never ends its headers', 'POST /json HTTP/1.1\r\nhost: a\r\n'],
    ['never ends its body', requestText('POST /json', [JSON_TYPE, 'content-length: 2'], '{')],
    ['never ends a chunk', requestText('POST /json', [JSON_TYPE, 'transfer-encoding: chunked'], '2\r\n{')],
    ['asks the admin port', 'GET /health/live HTTP/1.1\r\n'],
  ]
  for (const [name, sent] of cases) {
    test(`that ${name} is answered with 408 and let go`, async () => {
      const received = await exchange(sent.includes('/health') ? strict.adminUrl : strict.url, sent)
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

describe('a body that is cut short', () => {
  const heads: readonly (readonly [name: string, sent: string])[] = [
    ['its length', requestText('POST /json', [JSON_TYPE, 'content-length: 10'], '{}')],
    ['its chunks', requestText('POST /json', [JSON_TYPE, 'transfer-encoding: chunked'], '2\r\n{}\r\n')],
    ['a chunk', requestText('POST /xml', ['transfer-encoding: chunked'], 'ff\r\n<a>')],
    ['a document', requestText('POST /endpoints', [JSON_TYPE, 'content-length: 10'], '{}')],
  ]
  for (const [name, sent] of heads) {
    test(`before the end of ${name} is no message`, async () => {
      assert.deepEqual(statusesIn(await exchange(service.url, sent, 'end')), [400])
      assert.deepEqual(statusesIn(await exchange(service.url, sent, 'drop')), [])
      await assertGoesOn()
    })
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

test('MAX_MESSAGES_IN_FLIGHT refuses one more with 503, in the type of its endpoint and without its body, and recovers', async () => {
  held = new Promise((resolve) => {
    release = resolve
  })
  const messages = Array.from({ length: MAX_IN_FLIGHT }, () => service.fetch('/held', json('POST', {})))
  await untilInFlight(MAX_IN_FLIGHT)
  const refused = await service.fetch('/json', json('POST', {}))
  assert.deepEqual([refused.status, refused.headers.get('retry-after'), refused.json().code], [503, '1', 'OVERLOADED'])
  assert.match((await service.fetch('/held/xml', json('POST', {}))).text, /<code>OVERLOADED<\/code>/)
  const head = requestText('POST /json', [JSON_TYPE, 'content-length: 900000'])
  assert.deepEqual(statusesIn(await exchange(service.url, head)), [503])
  assert.equal((await call(service.adminUrl, 'GET', '/health/ready')).status, 200)
  assert.equal((await service.fetch('/unknown', json('POST', {}))).status, 404)
  release()
  for (const message of messages) assert.equal((await message).status, 200)
  await assertGoesOn()
})

describe('the connections of a port', () => {
  const MAX = 3
  const ports = [
    { port: 'message', setting: 'SERVER_MAX_CONNECTIONS', path: '/json' },
    { port: 'admin', setting: 'ADMIN_MAX_CONNECTIONS', path: '/uptime' },
  ] as const
  for (const { port, setting, path } of ports) {
    test(`of the ${port} port are bounded: one more is closed, and idle ones make room for the next`, async (t) => {
      const bounded = await startService({ [setting]: `${MAX}` })
      t.after(bounded.stop)
      const [base, other] = port === 'message' ? [bounded.url, bounded.adminUrl] : [bounded.adminUrl, bounded.url]
      // Through the other port, since fetch keeps its connections.
      const document = endpointDocument({ endpoint: { pattern: '/json', method: 'GET' } })
      assert.equal((await fetch(`${other}/endpoints`, json('POST', document))).status, 201)
      const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\n`
      const ask = () => exchange(base, `${request}connection: close\r\n\r\n`)

      const sockets = []
      for (let count = 0; count < MAX; count += 1) {
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
      assert.ok(count('crosswalk_connections') <= MAX)
      assert.ok(count('crosswalk_connections_refused_total') >= 2)
      const warnings = bounded.log.filter(({ level, message }) => level === 'warn' && message.includes(setting))
      assert.equal(warnings.length, 1, 'one a minute')
    })
  }
})
