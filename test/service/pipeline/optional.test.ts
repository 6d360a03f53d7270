import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { call } from '../../support/adapters/http-server/management/call.ts'
import {
  endpointDocument,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

let service: Service
let upstream: Upstream
before(async () => {
  // One upstream fails on purpose throughout.
  service = await startService({ CIRCUIT_BREAKER_FAILURES: '0', ANSWER_LIMIT: '1kb', MESSAGE_LOG: 'all' })
  upstream = await startUpstream(({ url }, response) => {
    const [, step] = url.split('/')
    if (step === 'reset') response.destroy()
    if (step === 'silent') return undefined
    if (step === 'large') return 'x'.repeat(2_000)
    if (step === 'broken') response.setHeader('content-type', 'application/json').end('{')
    if (step === 'broken') return undefined
    if (/^\d{3}$/.test(step ?? '')) response.statusCode = Number(step)
    return { step: step ?? '' }
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

async function send(document: JsonObject, body: Json = {}) {
  routes += 1
  const { _id } = await service.register({ endpoint: { pattern: `/optional-${routes}` }, ...document })
  return { _id, reply: await service.fetch(`/optional-${routes}`, json('POST', body)) }
}

const FAILING = ['404', '503', 'reset', 'silent', 'large', 'denied'] as const
const urlOf = (failing: string) => (failing === 'denied' ? 'http://169.254.169.254/' : `${upstream.url}/${failing}`)

describe('an optional lookup', () => {
  const lookup = (failing: string, more: JsonObject = {}) => ({
    id: 'one',
    optional: true,
    timeoutMs: failing === 'silent' ? 100 : 5_000,
    config: { url: urlOf(failing) },
    ...more,
  })

  for (const failing of [...FAILING, 'broken']) {
    it(`that fails (${failing}) leaves its default`, async () => {
      const requests = { lookup: [lookup(failing, { default: { step: ['none'] } })] }
      const { reply } = await send({ requests, inputMapping: { 'lookupRequests.one.data.step': 'step' } })
      assert.deepEqual([reply.status, reply.json()], [200, { step: ['none'] }])
      assert.equal(reply.headers.get('x-crosswalk-status'), null)
    })

    it(`that fails (${failing}) leaves nothing where it has no default`, async () => {
      const { reply } = await send({ requests: { lookup: [lookup(failing)] } }, { a: 1 })
      assert.deepEqual(
        [reply.status, reply.json()],
        [200, { requestBody: { a: 1 }, lookupRequests: { one: { headers: {} } } }],
      )
    })
  }

  for (const value of [null, false, 0, '', [], [1, { a: 'b' }]] as const) {
    it(`takes ${JSON.stringify(value)} as its default`, async () => {
      const { reply } = await send({ requests: { lookup: [lookup('reset', { default: value as Json })] } })
      assert.deepEqual(reply.json<{ lookupRequests: Json }>().lookupRequests, { one: { data: value, headers: {} } })
    })
  }

  it('that answers is as any other', async () => {
    const { reply } = await send({
      requests: { lookup: [lookup('200', { default: 'none' })] },
      inputMapping: { 'lookupRequests.one.data': 'data' },
    })
    assert.deepEqual(reply.json(), { data: { step: '200' } })
  })

  it('is replaced item by item inside a forEach', async () => {
    const { reply } = await send(
      {
        requests: {
          lookup: [
            {
              ...lookup(':step'),
              default: 'none',
              forEach: { items: 'payload.steps', concurrency: 2 },
              config: { url: `${upstream.url}/:step`, params: { url: { step: { path: 'item' } } } },
            },
          ],
        },
        inputMapping: { 'lookupRequests.one[].data': 'all' },
      },
      { steps: ['200', '500', 'reset', '201'] },
    )
    assert.deepEqual(reply.json(), { all: [{ step: '200' }, 'none', 'none', { step: '201' }] })
  })

  it('keeps another one from failing the message no more than before', async () => {
    const requests = { lookup: [lookup('reset'), { id: 'two', config: { url: `${upstream.url}/404` } }] }
    const { reply } = await send({ requests })
    assert.deepEqual([reply.status, reply.json().path], [404, 'requests.lookup[1]'])
  })

  it('does not excuse a message whose values cannot stand in its URL', async () => {
    const config = { url: `${upstream.url}/:id`, params: { url: { id: { path: 'payload.id' } } } }
    const { reply } = await send({ requests: { lookup: [lookup('200', { config })] } })
    assert.deepEqual([reply.status, reply.json().code], [400, 'PARAMETER_INVALID'])
  })

  it('is reported as it went: in the record, the metrics and the state', async () => {
    const { _id, reply } = await send({
      name: 'reported as it went',
      requests: { lookup: [lookup('reset')] },
      state: { extract: { requestBody: { a: 'a' } }, config: { networkErrors: 'include' } },
      inputMapping: { 'state.requestBody.a': 'before' },
    })
    assert.equal(reply.status, 200)
    const again = await service.fetch(`/optional-${routes}`, json('POST', {}))
    assert.equal(again.status, 200)
    const { messages } = (await call(service.adminUrl, 'GET', `/messages?endpoint=${_id}`)).json<{
      messages: JsonObject[]
    }>()
    const record = await call(service.adminUrl, 'GET', `/messages/${messages[0]?.id}`)
    const { outcome, calls } = record.json<{ outcome: string; calls: JsonObject[] }>()
    assert.deepEqual([outcome, calls.map(({ id, fault }) => [id, fault])], ['done', [['one', 'unreachable']]])
    const metrics = (await call(service.adminUrl, 'GET', '/metrics')).text
    assert.match(metrics, /outbound_calls_total\{endpoint="reported as it went",.*fault="unreachable"\} 2/)
  })

  it('leaves a state with its network error', async () => {
    const document = {
      requests: { lookup: [lookup('reset')] },
      state: { extract: { requestBody: { a: 'a' } }, config: { networkErrors: 'include' } },
      inputMapping: { 'state.requestBody.a': 'before' },
    }
    await send(document, { a: 'kept' })
    const second = await service.fetch(`/optional-${routes}`, json('POST', {}))
    assert.deepEqual(second.json(), { before: 'kept' })
  })
})

describe('an optional response', () => {
  const response = (id: string, failing: string, more: JsonObject = {}) => ({
    id,
    timeoutMs: failing === 'silent' ? 100 : 5_000,
    config: { url: urlOf(failing) },
    ...more,
  })

  for (const failing of FAILING) {
    it(`among others, that fails (${failing}), gives its default, and the answer is not partial`, async () => {
      const fine = response('fine', '200')
      const { reply } = await send({
        requests: { response: [fine, response('other', failing, { optional: true, default: { step: 'none' } })] },
      })
      assert.deepEqual([reply.status, reply.json()], [200, { fine: { step: '200' }, other: { step: 'none' } }])
      assert.equal(reply.headers.get('x-crosswalk-status'), null)
    })

    it(`alone, that fails (${failing}), leaves the output, or gives its default`, async () => {
      const optional = { optional: true }
      const without = await send({ requests: { response: [response('one', failing, optional)] } }, { a: 1 })
      assert.deepEqual([without.reply.status, without.reply.json()], [200, { a: 1 }])
      const instead = response('one', failing, { ...optional, default: [1] })
      const having = await send({ requests: { response: [instead] } }, { a: 1 })
      assert.deepEqual([having.reply.status, having.reply.json()], [200, [1]])
    })
  }

  it('among others holds its own error body where it has no default', async () => {
    const requests = { response: [response('fine', '200'), response('other', '404', { optional: true })] }
    const { reply } = await send({ requests })
    assert.deepEqual(reply.json(), { fine: { step: '200' }, other: { step: '404' } })
    assert.equal(reply.headers.get('x-crosswalk-status'), null)
  })

  it('leaves the answer partial where another one failed', async () => {
    const other = response('other', 'reset', { optional: true, default: null })
    const { reply } = await send({ requests: { response: [response('failing', '404'), other] } })
    assert.deepEqual(reply.json(), { failing: { step: '404' }, other: null })
    assert.equal(reply.headers.get('x-crosswalk-status'), 'partial')
  })

  it('beside a primary one changes nothing of its answer', async () => {
    const primary = { ...response('fine', '200'), primary: true }
    const { reply } = await send({ requests: { response: [primary, response('other', 'reset', { optional: true })] } })
    assert.deepEqual([reply.status, reply.json()], [200, { step: '200' }])
  })

  it('is replaced item by item inside a forEach', async () => {
    const each = response('each', '', {
      optional: true,
      default: 'none',
      forEach: { items: 'payload.steps' },
      config: { url: `${upstream.url}/:step`, params: { url: { step: { path: 'item' } } } },
    })
    const { reply } = await send({ requests: { response: [each] } }, { steps: ['200', '500'] })
    assert.deepEqual(reply.json(), { each: [{ step: '200' }, 'none'] })
  })

  it('answers its default in the output type', async () => {
    const { reply } = await send({
      transformation: { input: 'JSON', output: 'XML' },
      requests: { response: [response('one', '404', { optional: true, default: { a: 'b' } })] },
    })
    assert.match(reply.text, /<a>b<\/a>/)
  })
})

describe('registration refuses', () => {
  const config = { url: 'http://127.0.0.1:1/' }
  const cases = [
    { what: 'a default without optional', kind: 'lookup', request: { config, default: 1 }, at: 'default' },
    {
      what: 'a default with optional: false',
      kind: 'response',
      request: { config, optional: false, default: 1 },
      at: 'default',
    },
    {
      what: 'an optional primary',
      kind: 'response',
      request: { config: { ...config, primary: true }, optional: true },
      at: 'optional',
    },
    {
      what: 'an optional topic',
      kind: 'response',
      request: { kafkaProducerTopic: 'a', optional: true },
      at: 'optional',
    },
    { what: 'optional that is no boolean', kind: 'lookup', request: { config, optional: 'yes' }, at: 'optional' },
  ]
  for (const { what, kind, request, at } of cases) {
    it(what, async () => {
      const document = endpointDocument({
        endpoint: { pattern: '/refused' },
        requests: { [kind]: [{ id: 'one', ...request } as unknown as JsonObject] },
      })
      const reply = await service.fetch('/endpoints', json('POST', document))
      const { details } = reply.json<{ details: { path: string }[] }>()
      assert.deepEqual([reply.status, details.map(({ path }) => path)], [400, [`requests.${kind}[0].${at}`]])
    })
  }
})
