/** What a core is answered, by how the message ended and who sent it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { json, type Service, startUpstream, type Upstream } from '../../../support/service.ts'
import { isWrapped, startMediating, TRANSACTION, URN, wrapperOf } from './wrapped-service.ts'
import { wrapperFaults } from './wrapper-schema.ts'

const KEY = 'outcomes-test-key'

let upstream: Upstream
let service: Service
/** The address of its callers is not that of a core. */
let open: Service

const call = (id: string, path: string, more: JsonObject = {}): JsonObject => ({
  id,
  config: { method: 'POST', url: `${upstream.url}${path}` },
  ...more,
})

const documents = (): Readonly<Record<string, JsonObject>> => ({
  '/echo': {},
  '/keys': {
    messageKeys: {
      patient: 'requestBody.id',
      all: 'requestBody.ids',
      code: 'requestBody.id',
      'a.b$': 'requestBody.id',
    },
  },
  '/xml': { transformation: { input: 'JSON', output: 'XML' } },
  '/fhir': { transformation: { input: 'JSON', output: 'FHIR+JSON' }, inputValidation: { required: ['id'] } },
  '/valid': { inputValidation: { required: ['id'] } },
  '/lookup': { requests: { lookup: [call('look', '/fine')] } },
  '/lookup-refused': { requests: { lookup: [call('look', '/status/409')] } },
  '/lookup-failed': { requests: { lookup: [call('look', '/status/503')] } },
  '/lookup-reset': { requests: { lookup: [call('look', '/reset')] } },
  '/items': {
    requests: { response: [call('send', '/fine', { forEach: { items: 'requestBody.items', concurrency: '2' } })] },
  },
  '/partial': { requests: { response: [call('good', '/fine'), call('bad', '/status/500')] } },
  '/passed-on': { requests: { response: [call('send', '/headers')] } },
  '/refused': { requests: { response: [call('send', '/status/422')] } },
  '/failed': { requests: { response: [call('send', '/status/502')] } },
  '/empty': { requests: { response: [call('send', '/empty')] } },
  '/binary': { requests: { response: [call('send', '/binary')] } },
  '/bug': { inputTransforms: { a: '$number("x")' } },
  '/topic': { requests: { response: [{ id: 'send', kafkaProducerTopic: 'orders', timeoutMs: 300 }] } },
  '/stored': {
    requests: {
      response: [
        call('each', '/fine', { delivery: {}, forEach: { items: 'requestBody.items' } }),
        { id: 'topic', kafkaProducerTopic: 'orders', delivery: {} },
      ],
    },
  },
  '/once': { idempotency: { required: true }, inputMapping: { 'requestBody.id': 'id' } },
  '/rated': {
    auth: { apiKey: { keys: ['${env:OUTCOMES_KEY}'] } },
    rateLimit: { messages: 1, seconds: 3_600, burst: 1 },
  },
  '/closed': { auth: { apiKey: { keys: ['${env:OUTCOMES_KEY}'] } } },
  '/openhim': { transformation: { input: 'JSON', output: 'JSON+OPENHIM' } },
})

before(async () => {
  process.env.OUTCOMES_KEY = KEY
  upstream = await startUpstream(({ url }, response) => {
    // Two answers that are compared may come in two seconds.
    response.sendDate = false
    const status = /^\/status\/(\d+)/.exec(url)?.[1]
    if (status !== undefined) response.writeHead(Number(status), { 'content-type': 'application/json' }).end('{"no":1}')
    else if (url === '/reset') response.destroy()
    else if (url === '/empty') response.writeHead(204).end()
    else if (url === '/binary')
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0x89, 0x50, 0xff]))
    else if (url === '/headers') {
      response.writeHead(201, {
        'content-type': 'application/json',
        'x-dot.name': 'ü'.normalize(),
        etag: '"1"',
        'set-cookie': 'a=b',
      })
      response.end('{"é":"ü"}')
    } else return { fine: true }
    return undefined
  })
  service = await startMediating({
    SECRETS_ALLOW: 'OUTCOMES_*',
    KAFKA_BROKERS: '127.0.0.1:9',
    DELIVERY_MAX_BYTES: '20000',
  })
  open = await startMediating({ SECRETS_ALLOW: 'OUTCOMES_*', OPENHIM_CALLERS: '192.0.2.1' })
  for (const one of [service, open]) {
    for (const [pattern, document] of Object.entries(documents())) {
      await one.register({ name: pattern, endpoint: { pattern }, ...document })
    }
  }
})
after(async () => {
  delete process.env.OUTCOMES_KEY
  await service?.stop()
  await open?.stop()
  await upstream?.stop()
})

const SUCCESSFUL = 'Successful'
type Case = Readonly<{
  path: string
  body?: JsonObject
  init?: RequestInit
  /** Of the wrapper; its HTTP status where that differs from the inner one. */
  expect: readonly [status: string, inner: number, outer?: number]
  code?: string
  error?: RegExp
  orchestrations?: readonly string[]
}>

const cases: Readonly<Record<string, Case>> = {
  'done without calls': { path: '/echo', expect: [SUCCESSFUL, 200] },
  'done in XML': { path: '/xml', body: { a: 'ü' }, expect: [SUCCESSFUL, 200] },
  'done with a lookup': { path: '/lookup', expect: [SUCCESSFUL, 200], orchestrations: ['look 200'] },
  'done with items': {
    path: '/items',
    body: { items: [{ n: 1 }, { n: 2 }, { n: 3 }] },
    expect: [SUCCESSFUL, 200],
    orchestrations: ['send[0] 200', 'send[1] 200', 'send[2] 200'],
  },
  'passed on': { path: '/passed-on', expect: [SUCCESSFUL, 201], orchestrations: ['send 201'] },
  'an empty answer': { path: '/empty', expect: [SUCCESSFUL, 204, 200], orchestrations: ['send 204'] },
  partial: { path: '/partial', expect: ['Completed with error(s)', 200], orchestrations: ['good 200', 'bad 500'] },
  invalid: { path: '/valid', expect: ['Completed', 400], code: 'VALIDATION_FAILED' },
  'invalid for FHIR': { path: '/fhir', expect: ['Completed', 400], code: 'VALIDATION_FAILED' },
  unreadable: {
    path: '/echo',
    init: { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } },
    expect: ['Completed', 400],
    code: 'BODY_UNREADABLE',
  },
  'of a wrong media type': {
    path: '/echo',
    init: { method: 'POST', body: '<a/>', headers: { 'content-type': 'application/xml' } },
    expect: ['Completed', 415],
    code: 'MEDIA_TYPE_WRONG',
  },
  'too large': {
    path: '/echo',
    body: { a: 'a'.repeat(1_100_000) },
    expect: ['Completed', 413],
    code: 'BODY_TOO_LARGE',
  },
  'a lookup refused': {
    path: '/lookup-refused',
    expect: ['Completed', 409],
    code: 'LOOKUP_REFUSED',
    orchestrations: ['look 409'],
  },
  'a lookup that may succeed later': {
    path: '/lookup-failed',
    expect: ['Failed', 503],
    code: 'LOOKUP_REFUSED',
    error: /answered 503 to /,
    orchestrations: ['look 503'],
  },
  'a lookup without an answer': {
    path: '/lookup-reset',
    expect: ['Failed', 502],
    code: 'LOOKUP_UNREACHABLE',
    error: /look/,
    orchestrations: ['look The target could not be reached.'],
  },
  'refused by the target': {
    path: '/refused',
    expect: ['Completed', 422],
    code: 'RESPONSE_REFUSED',
    orchestrations: ['send 422'],
  },
  'failed by the target': {
    path: '/failed',
    expect: ['Failed', 502],
    code: 'RESPONSE_REFUSED',
    error: /status 502/,
    orchestrations: ['send 502'],
  },
  'a fault of the document': { path: '/bug', expect: ['Failed', 500], code: 'TRANSFORM_FAILED' },
  'without its key': { path: '/once', expect: ['Completed', 400], code: 'IDEMPOTENCY_KEY_MISSING' },
  'without credentials': { path: '/closed', expect: ['Completed', 401], code: 'CREDENTIALS_REFUSED' },
  'without an endpoint': { path: '/nowhere', expect: ['Completed', 404], code: 'ROUTE_UNKNOWN' },
  'of another method': {
    path: '/echo',
    init: { method: 'DELETE' },
    expect: ['Completed', 405],
    code: 'METHOD_NOT_ALLOWED',
  },
}

const requestOf = ({ body = {}, init }: Case): RequestInit => init ?? json('POST', body)
const asCore = (init: RequestInit, more: Record<string, string> = {}): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), ...TRANSACTION, ...more },
})

/** Headers that differ from one answer to the next. */
const VARYING = ['x-crosswalk-message-id', 'date', 'connection', 'keep-alive', 'content-length']

describe('the answer of a core', () => {
  for (const [name, one] of Object.entries(cases)) {
    const { path, expect, code, error, orchestrations = [] } = one
    const [status, inner, outer = inner] = expect
    test(name, async () => {
      const bare = await service.fetch(path, requestOf(one))
      assert.ok(!isWrapped(bare), 'without the header')
      const reply = await service.fetch(path, asCore(requestOf(one)))
      const wrapper = wrapperOf(reply)
      assert.deepEqual(wrapperFaults(wrapper), [])
      assert.equal(wrapper['x-mediator-urn'], URN)
      assert.deepEqual([wrapper.status, wrapper.response.status, reply.status], [status, inner, outer])
      assert.equal(bare.status, inner)

      const { messageId } = wrapper.properties
      assert.equal(reply.headers.get('x-crosswalk-message-id'), messageId)
      assert.equal(wrapper.response.headers['x-crosswalk-message-id'], messageId)
      assert.equal(wrapper.properties.code, code)
      assert.equal(wrapper.properties.endpoint, path === '/nowhere' || inner === 405 ? undefined : path)
      if (error === undefined) assert.equal(wrapper.error, undefined)
      else assert.match(wrapper.error?.message ?? '', error)

      const withoutId = (text: string) => text.replaceAll(/[0-9a-f]{24}/g, '<id>')
      assert.equal(withoutId(wrapper.response.body), withoutId(bare.text), 'the body is that of the bare answer')
      const shown = (headers: Iterable<readonly [string, unknown]>) =>
        Object.fromEntries([...headers].filter(([header]) => !VARYING.includes(header)))
      assert.deepEqual(shown(Object.entries(wrapper.response.headers)), shown(bare.headers))

      const made = wrapper.orchestrations.map((made) => `${made.name} ${made.response?.status ?? made.error?.message}`)
      assert.deepEqual(made, orchestrations)
    })
  }

  test('names the topic of a record that was not written', async () => {
    const wrapper = wrapperOf(await service.fetch('/topic', asCore(json('POST', { a: 1 }))))
    assert.deepEqual(wrapperFaults(wrapper), [])
    const [{ name, request, response, error } = assert.fail()] = wrapper.orchestrations
    const { host, port, path, querystring, method } = request
    assert.deepEqual([name, host, port, path, querystring, method], ['send', 'kafka', '', 'orders', '', 'PRODUCE'])
    assert.equal(request.headers['crosswalk．message-id'], wrapper.properties.messageId)
    assert.deepEqual([wrapper.status, response], ['Failed', undefined])
    assert.match(error?.message ?? '', /could not be reached|did not answer in time/)
  })

  test('has what was stored to be delivered, in the order in which it was made, and no answers of it', async () => {
    const body = json('POST', { items: [{ n: 1 }, { n: 2 }] })
    const wrapper = wrapperOf(await service.fetch('/stored', asCore(body)))
    assert.deepEqual(wrapperFaults(wrapper), [])
    assert.deepEqual([wrapper.status, wrapper.response.status], [SUCCESSFUL, 202])
    const { deliveries } = JSON.parse(wrapper.response.body) as { deliveries: readonly unknown[] }
    assert.equal(deliveries.length, 3)
    assert.deepEqual(
      wrapper.orchestrations.map(({ name, group, request: { method, path, host }, response, error }) => [
        ...[name, group, method, host + path],
        response ?? error,
      ]),
      [
        ['each[0]', 'deliveries', 'POST', '127.0.0.1/fine', undefined],
        ['topic', 'deliveries', 'PRODUCE', 'kafkaorders', undefined],
        ['each[1]', 'deliveries', 'POST', '127.0.0.1/fine', undefined],
      ],
    )
    const large = json('POST', { items: [{ n: 'x'.repeat(20_000) }] })
    const full = wrapperOf(await service.fetch('/stored', asCore(large)))
    assert.deepEqual([full.status, full.properties.code, full.orchestrations], ['Failed', 'DELIVERIES_FULL', []])
  })

  test('has the business keys, under names that a core can store', async () => {
    const { properties } = wrapperOf(await service.fetch('/keys', asCore(json('POST', { id: 17, ids: ['a', 'b'] }))))
    const { messageId: _, ...rest } = properties
    assert.deepEqual(rest, { endpoint: '/keys', patient: '17', all: ['a', 'b'], 'code (key)': '17', 'a．b＄': '17' })
  })

  test('is the bare one where its body is no text: a core would damage it', async () => {
    const reply = await service.fetch('/binary', asCore(json('POST', {})))
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'image/png'])
  })

  test('has the cached response of an earlier message with the same key, which is bare', async () => {
    const key = { 'idempotency-key': '"wrapped-1"' }
    const first = wrapperOf(await service.fetch('/once', asCore(json('POST', { id: 1 }), key)))
    const bare = await service.fetch('/once', json('POST', { id: 1 }, key))
    const second = wrapperOf(await service.fetch('/once', asCore(json('POST', { id: 1 }), key)))
    assert.deepEqual([bare.text, bare.headers.get('content-type')], ['{"id":1}', 'application/json'])
    assert.deepEqual([first.response.body, second.response.body], ['{"id":1}', '{"id":1}'])
    assert.equal(second.response.headers['idempotency-replayed'], 'true')
    assert.deepEqual(wrapperFaults(second), [])
  })

  test('keeps the wrapper of a document that writes one itself, with the orchestrations', async () => {
    const own = {
      'x-mediator-urn': 'urn:mine',
      status: 'Completed',
      response: { status: 202, headers: {}, body: 'mine', timestamp: '2026-01-01T00:00:00.000Z' },
      orchestrations: [{ name: 'mine', request: { headers: { authorization: 'Basic mine' } } }, { request: {} }],
      properties: { mine: 'yes' },
    }
    const wrapper = wrapperOf(await service.fetch('/openhim', asCore(json('POST', own))))
    assert.deepEqual(wrapper.response, own.response)
    assert.deepEqual([wrapper['x-mediator-urn'], wrapper.status], ['urn:mine', 'Completed'])
    assert.deepEqual(wrapperFaults(wrapper), [])
    const shown = wrapper.orchestrations.map(({ name, request }) => [name, request.headers])
    assert.deepEqual(shown, [['mine', { authorization: '***' }]])
    assert.equal(wrapper.properties.mine, 'yes')
    assert.equal(wrapper.properties.endpoint, '/openhim')
  })

  test('mends a wrapper of a document that a core could not store', async () => {
    const own = { 'x-mediator-urn': 'urn:mine', status: 'Fine', response: { body: 'mine' }, orchestrations: 'none' }
    const wrapper = wrapperOf(await service.fetch('/openhim', asCore(json('POST', own))))
    assert.deepEqual([wrapper.status, wrapper.response], ['Successful', { status: 200, body: 'mine' }])
    assert.deepEqual(wrapper.orchestrations, [])
  })

  test('wraps other JSON of such a document', async () => {
    const wrapper = wrapperOf(await service.fetch('/openhim', asCore(json('POST', { a: 1 }))))
    assert.deepEqual(wrapperFaults(wrapper), [])
    assert.equal(wrapper.response.body, '{"a":1}')
    assert.equal(wrapper.response.headers['content-type'], 'application/json+openhim')
  })

  test('leaves records of messages as they are', async () => {
    const { properties } = wrapperOf(await service.fetch('/valid', asCore(json('POST', {}))))
    const record = await fetch(`${service.adminUrl}/messages/${properties.messageId}/body/answer`)
    assert.equal(record.status, 200)
    assert.equal(((await record.json()) as JsonObject).code, 'VALIDATION_FAILED')
  })
})

test('calls of a document carry the transaction of the message, unless it writes the header itself', async () => {
  const sent = upstream.received.length
  const config = { method: 'POST', url: `${upstream.url}/fine` }
  const headers = { 'X-OpenHIM-TransactionID': 'own' }
  const secret = { 'x-key': '${env:OUTCOMES_KEY}' }
  await service.register({
    name: '/carries',
    endpoint: { pattern: '/carries' },
    requests: {
      lookup: [{ id: 'look', config }],
      response: [
        { id: 'one', config: { ...config, headers: secret } },
        { id: 'two', config: { ...config, headers } },
      ],
    },
  })
  const transactions = () =>
    upstream.received.slice(sent).map((request) => request.headers['x-openhim-transactionid'] ?? 'none')
  await service.fetch('/carries', asCore(json('POST', {})))
  const id = TRANSACTION['x-openhim-transactionid']
  assert.deepEqual(transactions().toSorted(), [id, id, 'own'].toSorted())
  await service.fetch('/carries', json('POST', {}))
  assert.deepEqual(transactions().slice(3).toSorted(), ['none', 'none', 'own'])
})

describe('another caller gets no wrapper', () => {
  const forged = {
    ...TRANSACTION,
    'x-openhim-clientid': 'core',
    'x-forwarded-for': '192.0.2.1',
    forwarded: 'for=192.0.2.1',
    'x-real-ip': '192.0.2.1',
    accept: 'application/json+openhim',
  }
  for (const [name, one] of Object.entries(cases)) {
    test(name, async () => {
      const reply = await open.fetch(one.path, asCore(requestOf(one), forged))
      assert.ok(!isWrapped(reply))
      assert.equal(reply.status, one.expect[1])
    })
  }

  test('with wrong credentials', async () => {
    const reply = await open.fetch('/closed', asCore(json('POST', {}), { ...forged, 'x-api-key': 'wrong' }))
    assert.deepEqual([reply.status, isWrapped(reply)], [401, false])
  })

  test('but one whom the endpoint authenticates does', async () => {
    const reply = await open.fetch('/closed', asCore(json('POST', { a: 1 }), { 'x-api-key': KEY }))
    const wrapper = wrapperOf(reply)
    assert.deepEqual(wrapperFaults(wrapper), [])
    assert.equal(wrapper.response.body, '{"a":1}')
    assert.ok(!reply.text.includes(KEY))
  })

  test('also if its message is refused, as one too many', async () => {
    const init = asCore(json('POST', {}), { 'x-api-key': KEY })
    await open.fetch('/rated', init)
    const reply = await open.fetch('/rated', init)
    const wrapper = wrapperOf(reply)
    assert.deepEqual([reply.status, wrapper.status, wrapper.properties.code], [429, 'Completed', 'RATE_LIMITED'])
    assert.equal(reply.headers.get('retry-after'), wrapper.response.headers['retry-after'])
    assert.match(wrapper.error?.message ?? '', /./)
  })

  test('nor does one whom the endpoint authenticates without the header', async () => {
    assert.ok(!isWrapped(await open.fetch('/closed', json('POST', {}, { 'x-api-key': KEY }))))
  })
})

test('the guide shows a wrapper', () => {
  const page = readFileSync(new URL('../../../../docs/openhim.md', import.meta.url), 'utf8')
  const [, example = ''] = /^```text\n(\{.*?)^```$/ms.exec(page) ?? []
  assert.deepEqual(wrapperFaults(JSON.parse(example)), [])
})

test('without OPENHIM_REGISTER, OPENHIM_CALLERS has no effect', async () => {
  const off = await startMediating({ OPENHIM_REGISTER: 'false' })
  try {
    await off.register({ endpoint: { pattern: '/echo' } })
    const reply = await off.fetch('/echo', asCore(json('POST', { a: 1 })))
    assert.deepEqual([reply.headers.get('content-type'), reply.text], ['application/json', '{"a":1}'])
  } finally {
    await off.stop()
  }
})
