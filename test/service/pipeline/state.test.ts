import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json } from '../../support/service.ts'
import { openPipeline } from './fixture.ts'

const pipeline = openPipeline()
const NETWORK_ERROR = 'reset'

/** Registers an endpoint that answers the state it sees, and gives its path. */
const register = (document: JsonObject) =>
  pipeline.register({ inputMapping: { state: 'state', 'requestBody.name': 'name' }, ...document })

/** A lookup that is answered with the status of this query parameter. */
const byQuery = (parameter: string) => ({
  id: parameter,
  config: { url: `${pipeline.upstream.url}/:status`, params: { url: { status: { path: `query.${parameter}` } } } },
  allowedStatuses: ['*'],
})

async function stateOf(path: string, body: Json = {}): Promise<JsonObject> {
  const reply = await pipeline.service.fetch(path, json('POST', body))
  return reply.json<{ state: JsonObject }>().state
}

describe('what is extracted', () => {
  it('comes from the body, the answer, the query and the lookups', async () => {
    const rows = pipeline.at(({ url }) => ({ id: url.split('=')[1] ?? 'single', rows: [{ n: 1 }, { n: 2 }] }))
    const each = {
      id: 'each',
      forEach: { items: 'payload.codes' },
      config: { url: rows, params: { query: { code: { path: 'item' } } } },
    }
    const path = await register({
      requests: { lookup: [{ id: 'my.lookup', config: { url: rows } }, each] },
      state: {
        extract: {
          requestBody: { name: 'name', second: 'codes[1]', missing: 'none' },
          responseBody: { given: 'name' },
          query: { page: 'page' },
          lookupRequests: { 'my.lookup': { id: 'id', last: 'rows[1].n' }, each: { ids: 'id', last: 'rows[1].n' } },
        },
      },
    })
    assert.deepEqual(await stateOf(`${path}?page=2`, { name: 'Jane', codes: ['a', 'b'] }), {})
    const { system, ...values } = await stateOf(path, { codes: [] })
    assert.deepEqual(values, {
      lookupHttpStatus: 200,
      lookupNetworkError: false,
      requestBody: { name: 'Jane', second: 'b' },
      responseBody: { given: 'Jane' },
      query: { page: '2' },
      lookupRequests: { 'my.lookup': { id: 'single', last: 2 }, each: { ids: ['a', 'b'], last: [2, 2] } },
    })
  })

  it('is of the last message of one endpoint only, stays when that changes and goes with it', async () => {
    const document = { state: { extract: { requestBody: { a: 'a', b: 'b' } } } }
    const path = await register(document)
    const other = await register(document)
    await stateOf(path, { a: 1 })
    await stateOf(path, { b: 2 })
    assert.deepEqual(await stateOf(other), {})
    const filter = `?endpoint.pattern=${encodeURIComponent(path)}`
    const [stored] = (await pipeline.service.fetch(`/endpoints${filter}`)).json<{ _id: string }[]>()
    const change = json('PATCH', { description: 'changed' })
    assert.equal((await pipeline.service.fetch(`/endpoints/${stored?._id}`, change)).status, 200)
    assert.deepEqual((await stateOf(path, { a: 2 })).requestBody, { b: 2 })
    await pipeline.service.fetch(`/endpoints/${stored?._id}`, { method: 'DELETE' })
    await pipeline.service.register({ endpoint: { pattern: path }, inputMapping: { state: 'state' }, ...document })
    assert.deepEqual(await stateOf(path), {})
  })
})

it('keeps the times of the message, for endpoints that poll', async () => {
  const since = { path: 'state.system.timestamps.lookupRequests.p.requestStart', prefix: 'ge' }
  const at = (path: string) => `${pipeline.upstream.url}/${path}`
  const lookup = { id: 'p', config: { url: at('poll'), params: { query: { since } } } }
  const response = ['r', 'p'].map((id) => ({ id, config: { url: at(`sink-${id}`) } }))
  const path = await register({ requests: { lookup, response } })
  const startedAt = Date.now()
  await pipeline.service.fetch(path, json('POST', {}))
  const endedAt = Date.now()
  type Times = { requestStart: string; requestEnd: string; requestDuration: { milliseconds: number } }
  await pipeline.service.fetch(path, json('POST', {}))
  const { received } = pipeline.upstream
  const sent = received.findLast(({ url }) => url === '/sink-r')?.body ?? ''
  const { timestamps } = (JSON.parse(sent) as { state: { system: JsonObject } }).state.system
  const { endpointStart, endpointEnd, endpointDuration, lookupRequests, responseRequests } = timestamps as unknown as {
    endpointStart: string
    endpointEnd: string
    endpointDuration: { milliseconds: number }
    lookupRequests: { p: Times; r: Times }
    responseRequests: { p: Times; r: Times }
  }
  const { requestStart, requestEnd, requestDuration } = lookupRequests.p
  const { r, p } = responseRequests
  const times = [endpointStart, requestStart, requestEnd, r.requestStart, r.requestEnd, endpointEnd]
  const parsed = times.map((time) => Date.parse(time))
  const [start = 0, requested = 0, answered = 0, sentAt = 0, doneAt = 0, end = 0] = parsed
  assert.deepEqual([startedAt, ...parsed, endedAt], [startedAt, ...parsed, endedAt].toSorted())
  assert.deepEqual(
    [endpointDuration, requestDuration, r.requestDuration].map(({ milliseconds }) => milliseconds),
    [end - start, answered - requested, doneAt - sentAt],
  )
  assert.deepEqual(lookupRequests.r, r)
  assert.ok(Date.parse(p.requestStart) >= answered, 'the lookup and the response of one id both have their times')
  const polled = received.map(({ url }) => url).filter((url) => url.startsWith('/poll'))
  assert.deepEqual(polled, ['/poll', `/poll?since=ge${requestStart}`])
})

describe('how the lookups of the message went', () => {
  const cases: [name: string, query: string, status: number | undefined, networkError: boolean][] = [
    ['both answered', 'first=201&second=404', 404, false],
    ['one is reset', 'first=203&second=reset', 203, true],
    ['none answers', 'first=reset&second=reset', undefined, true],
  ]
  for (const [name, query, status, networkError] of cases) {
    it(`is read by mapping, parameters and expressions: ${name}`, async () => {
      const params = { query: { was: { path: 'state.lookupHttpStatus' }, broke: { path: 'state.lookupNetworkError' } } }
      const path = await register({
        requests: {
          lookup: ['first', 'second'].map((id) => ({ ...byQuery(id), optional: true })),
          response: { id: 'told', config: { url: `${pipeline.upstream.url}/told`, params } },
        },
        inputTransforms: { broke: 'state.lookupNetworkError ? "yes" : "no"', status: 'state.lookupHttpStatus + 0' },
        inputMapping: {
          'state.lookupHttpStatus': 'status',
          'state.lookupNetworkError': 'networkError',
          transforms: 'transforms',
        },
      })
      await pipeline.service.fetch(`${path}?${query}`, json('POST', {}))
      await pipeline.service.fetch(`${path}?first=200&second=200`, json('POST', {}))
      const told = pipeline.upstream.received.findLast(({ url }) => url.startsWith('/told'))
      const found = status === undefined ? {} : { status }
      const transforms = { broke: networkError ? 'yes' : 'no', ...found }
      assert.deepEqual(JSON.parse(told?.body ?? ''), { ...found, networkError, transforms })
      assert.equal(told?.url, `/told?${status === undefined ? '' : `was=${status}&`}broke=${networkError}`)
    })
  }
})

describe('state.config', () => {
  // What each filter selects: test/service/contracts/state-store.test.ts. `sees`: the number of the message whose state the next
  // one finds, from 1; 0 where it finds none.
  const cases: [config: JsonObject, statuses: string[], sees: number][] = [
    [{}, ['200', '404', '201'], 3],
    [{ networkErrors: 'include' }, [NETWORK_ERROR, '200'], 1],
    [{ includeStatuses: [201, '5xx'] }, ['503', '200'], 1],
    [{ networkErrors: 'exclude', includeStatuses: ['4xx'] }, ['404', '200', NETWORK_ERROR], 1],
  ]
  for (const [config, sent, sees] of cases) {
    it(`${JSON.stringify(config)} after ${sent} finds message ${sees}`, async () => {
      const extract = { requestBody: { number: 'number' } }
      const path = await register({ requests: { lookup: byQuery('status') }, state: { extract, config } })
      for (const [index, status] of sent.entries()) {
        const reply = await pipeline.service.fetch(`${path}?status=${status}`, json('POST', { number: index + 1 }))
        assert.equal(reply.status, status === NETWORK_ERROR ? 502 : 200)
      }
      const state = await stateOf(`${path}?status=200`)
      if (sees === 0) assert.deepEqual(state, {})
      else if (sent[sees - 1] === NETWORK_ERROR) assert.deepEqual(Object.keys(state), ['system', 'lookupNetworkError'])
      else assert.deepEqual(state.requestBody, { number: sees })
    })
  }

  it('goes by the highest status of all lookups', async () => {
    const state = { extract: { requestBody: { a: 'a' } }, config: { includeStatuses: ['404'] } }
    const path = await register({ requests: { lookup: [byQuery('first'), byQuery('second')] }, state })
    await stateOf(`${path}?first=404&second=200`, { a: 1 })
    await stateOf(`${path}?first=404&second=500`, { a: 2 })
    assert.deepEqual((await stateOf(`${path}?first=200&second=200`)).requestBody, { a: 1 })
  })
})

describe('a message that failed', () => {
  const path = (name: string) => ({ id: 'p', config: { url: `${pipeline.upstream.url}/${name}` } })
  const nowhere = { id: 'r', config: { url: 'http://127.0.0.1:1' } }
  /** `keeps`: whether its values; otherwise only how its lookups went. */
  type Case = [
    name: string,
    document: () => JsonObject,
    code: string,
    more: { keeps?: true; status?: string; body?: Json },
  ]
  const cases: Case[] = [
    ['unreadable', () => ({}), 'BODY_UNREADABLE', { body: null }],
    ['refused by a lookup', () => ({ requests: { lookup: path('404') } }), 'LOOKUP_REFUSED', { status: '404' }],
    [
      ...([
        'invalid after a lookup',
        () => ({ requests: { lookup: path('200') }, inputValidation: { required: ['age'] } }),
      ] as const),
      ...(['VALIDATION_FAILED', { status: '200' }] as const),
    ],
    ['stopped by a transform', () => ({ inputTransforms: { a: 'requestBody.name + 1' } }), 'TRANSFORM_FAILED', {}],
    [
      'that cannot be serialised',
      () => ({ transformation: { input: 'JSON', output: 'XML' }, inputMapping: { 'requestBody.name': 'not a name' } }),
      ...(['SERIALISE_FAILED', { keeps: true }] as const),
    ],
    ['whose response fails', () => ({ requests: { response: nowhere } }), 'RESPONSE_UNREACHABLE', { keeps: true }],
  ]
  for (const [name, document, code, { keeps, status, body }] of cases) {
    it(`keeps ${keeps ? 'its values' : 'how its lookups went and no values'}: ${name}`, async () => {
      const config = { includeStatuses: status === undefined ? [] : [status] }
      const changes = document()
      const pattern = `/failed-${code}`
      const state = { extract: { requestBody: { name: 'name' } }, config }
      const { _id } = await pipeline.service.register({ endpoint: { pattern }, state, ...changes })
      const message = json('POST', { name: 'Jane' })
      const reply = await pipeline.service.fetch(pattern, body === null ? { ...message, body: '{' } : message)
      assert.ok(reply.text.includes(code), reply.text)
      // A version of the endpoint that nothing can fail in reads what is left.
      const inputMapping = {
        ...(changes.inputMapping === undefined ? {} : { 'requestBody.name': null }),
        state: 'state',
      }
      const nothing = { inputTransforms: null, inputValidation: null, requests: null }
      const reader = { ...nothing, transformation: { input: 'JSON', output: 'JSON' }, inputMapping }
      const patched = await pipeline.service.fetch(`/endpoints/${_id}`, json('PATCH', reader))
      assert.equal(patched.status, 200, patched.text)
      const { system, ...others } = await stateOf(pattern)
      const went = { ...(status === undefined ? {} : { lookupHttpStatus: Number(status) }), lookupNetworkError: false }
      assert.ok(system)
      if (keeps) assert.deepEqual(others.requestBody, { name: 'Jane' })
      else assert.deepEqual(others, went)
    })
  }
})
