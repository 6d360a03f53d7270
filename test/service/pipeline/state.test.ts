import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService()
  /** `/<status>` answers that status, `/reset` breaks the connection; any other path gives its own name. */
  upstream = await startUpstream(({ url }, response) => {
    const [path = ''] = url.slice(1).split('?')
    if (path === 'reset') response.destroy()
    if (path === 'reset') return undefined
    if (/^\d+$/.test(path)) response.statusCode = Number(path)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: path, rows: [{ n: 1 }, { n: 2 }] }))
    return undefined
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

/** Registers an endpoint that answers the state it sees, and gives its path. */
async function registerStateful(document: JsonObject): Promise<string> {
  routes += 1
  await service.register({
    endpoint: { pattern: `/state-${routes}` },
    inputMapping: { state: 'state', 'requestBody.name': 'name' },
    ...document,
  })
  return `/state-${routes}`
}

const byQuery = (parameter: string) => ({
  id: 'p',
  config: { url: `${upstream.url}/:status`, params: { url: { status: { path: `query.${parameter}` } } } },
  allowedStatuses: ['*'],
})

const stateOf = async (path: string, body: Json = {}): Promise<JsonObject> => {
  const reply = await service.fetch(path, json('POST', body))
  return reply.json<{ state: JsonObject }>().state
}

describe('what is extracted', () => {
  it('comes from the body, the answer, the query and the lookups', async () => {
    const each = {
      id: 'each',
      forEach: { items: 'payload.codes' },
      config: { url: `${upstream.url}/:code`, params: { url: { code: { path: 'item' } } } },
    }
    const path = await registerStateful({
      requests: { lookup: [{ id: 'my.lookup', config: { url: `${upstream.url}/single` } }, each] },
      state: {
        extract: {
          requestBody: { name: 'name', second: 'codes[1]', missing: 'none' },
          responseBody: { given: 'name' },
          query: { page: 'page' },
          lookupRequests: { 'my.lookup': { id: 'id', last: 'rows[1].n' }, each: { ids: 'id', last: 'rows[1].n' } },
        },
      },
    })
    const sent = { name: 'Jane', codes: ['a', 'b'] }
    assert.deepEqual(await stateOf(`${path}?page=2`, sent), {})
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

  it('comes from a body that is an array', async () => {
    const path = await registerStateful({ state: { extract: { requestBody: { first: '[0].n', all: 'n' } } } })
    await stateOf(path, [{ n: 1 }, { n: 2 }])
    assert.deepEqual((await stateOf(path)).requestBody, { first: 1, all: [1, 2] })
  })

  it('is of the last message only', async () => {
    const path = await registerStateful({ state: { extract: { requestBody: { a: 'a', b: 'b' } } } })
    await stateOf(path, { a: 1 })
    await stateOf(path, { b: 2 })
    assert.deepEqual((await stateOf(path)).requestBody, { b: 2 })
  })

  it('is of one endpoint only, stays when it changes and goes with it', async () => {
    const document = { state: { extract: { requestBody: { a: 'a' } } } }
    const path = await registerStateful(document)
    const other = await registerStateful(document)
    await stateOf(path, { a: 1 })
    assert.deepEqual(await stateOf(other), {})
    const filter = `?endpoint.pattern=${encodeURIComponent(path)}`
    const [stored] = (await service.fetch(`/endpoints${filter}`)).json<{ _id: string }[]>()
    const changed = await service.fetch(`/endpoints/${stored?._id}`, json('PATCH', { description: 'changed' }))
    assert.equal(changed.status, 200)
    assert.deepEqual((await stateOf(path, { a: 2 })).requestBody, { a: 1 })
    await service.fetch(`/endpoints/${stored?._id}`, { method: 'DELETE' })
    await service.register({ endpoint: { pattern: path }, inputMapping: { state: 'state' }, ...document })
    assert.deepEqual(await stateOf(path), {})
  })
})

it('keeps the times of the message, for endpoints that poll', async () => {
  const since = { path: 'state.system.timestamps.lookupRequests.p.requestStart', prefix: 'ge' }
  const lookup = { id: 'p', config: { url: `${upstream.url}/poll`, params: { query: { since } } } }
  const response = [
    { id: 'r', config: { url: `${upstream.url}/sink`, method: 'POST' } },
    { id: 'p', config: { url: `${upstream.url}/201`, method: 'POST' } },
  ]
  const path = await registerStateful({ requests: { lookup, response } })
  const polled = () => upstream.received.filter(({ url }) => url.startsWith('/poll')).map(({ url }) => url)
  const startedAt = Date.now()
  await service.fetch(path, json('POST', {}))
  const endedAt = Date.now()
  type Times = { requestStart: string; requestEnd: string; requestDuration: { milliseconds: number } }
  await service.fetch(path, json('POST', {}))
  const sent = upstream.received.filter(({ url }) => url === '/sink').at(-1)?.body ?? ''
  const { system } = (JSON.parse(sent) as { state: JsonObject }).state as {
    system: {
      timestamps: Record<'endpointStart' | 'endpointEnd', string> & {
        endpointDuration: { milliseconds: number }
        lookupRequests: { p: Times; r: Times }
        responseRequests: { p: Times; r: Times }
      }
    }
  }
  const { endpointStart, endpointEnd, endpointDuration, lookupRequests, responseRequests } = system.timestamps
  const { requestStart, requestEnd, requestDuration } = lookupRequests.p
  const { r, p } = responseRequests
  const times = [endpointStart, requestStart, requestEnd, r.requestStart, r.requestEnd, endpointEnd]
  const [start = 0, requested = 0, answered = 0, sentAt = 0, doneAt = 0, end = 0] = times.map((time) =>
    Date.parse(time),
  )
  const inOrder = [startedAt, start, requested, answered, sentAt, doneAt, end, endedAt]
  assert.deepEqual(inOrder, inOrder.toSorted())
  assert.equal(endpointDuration.milliseconds, end - start)
  assert.equal(requestDuration.milliseconds, answered - requested)
  assert.equal(r.requestDuration.milliseconds, doneAt - sentAt)
  assert.deepEqual(lookupRequests.r, r)
  assert.ok(
    Date.parse(p.requestStart) >= answered,
    'the lookup and the response request of one id both have their times',
  )
  assert.deepEqual(polled(), ['/poll', `/poll?since=ge${requestStart}`])
})

describe('how the lookups of the message went', () => {
  const cases: readonly { name: string; query: string; status: number | undefined; networkError: boolean }[] = [
    { name: 'both answered', query: 'first=201&second=404', status: 404, networkError: false },
    { name: 'one is reset', query: 'first=203&second=reset', status: 203, networkError: true },
    { name: 'none answers', query: 'first=reset&second=reset', status: undefined, networkError: true },
  ]
  for (const { name, query, status, networkError } of cases) {
    it(`is read by mapping, parameters and expressions: ${name}`, async () => {
      const params = { query: { was: { path: 'state.lookupHttpStatus' }, broke: { path: 'state.lookupNetworkError' } } }
      const path = await registerStateful({
        requests: {
          lookup: ['first', 'second'].map((id) => ({ ...byQuery(id), id, optional: true })),
          response: { id: 'told', config: { url: `${upstream.url}/told`, params } },
        },
        inputTransforms: { broke: 'state.lookupNetworkError ? "yes" : "no"', status: 'state.lookupHttpStatus + 0' },
        inputMapping: {
          'state.lookupHttpStatus': 'status',
          'state.lookupNetworkError': 'networkError',
          transforms: 'transforms',
        },
      })
      await service.fetch(`${path}?${query}`, json('POST', {}))
      await service.fetch(`${path}?first=200&second=200`, json('POST', {}))
      const told = upstream.received.findLast(({ url }) => url.startsWith('/told'))
      const found = status === undefined ? {} : { status }
      const transforms = { broke: networkError ? 'yes' : 'no', ...found }
      assert.deepEqual(JSON.parse(told?.body ?? ''), { ...found, networkError, transforms })
      assert.equal(told?.url, `/told?${status === undefined ? '' : `was=${status}&`}broke=${networkError}`)
    })
  }

  it('is no status where there are no lookups', async () => {
    const path = await registerStateful({})
    await stateOf(path)
    const { lookupHttpStatus, lookupNetworkError } = await stateOf(path)
    assert.deepEqual([lookupHttpStatus, lookupNetworkError], [undefined, false])
  })
})

describe('state.config', () => {
  type Filter = { networkErrors?: string; includeStatuses?: (string | number)[] }
  /** `sees`: the number of the message whose state the next one finds, from 1; 0 where it finds none. */
  const cases: { name: string; config: Filter; statuses: string[]; sees: number }[] = [
    { name: 'takes the newest by default', config: {}, statuses: ['200', '404', '201'], sees: 3 },
    { name: 'takes one with a network error by default', config: {}, statuses: ['200', 'reset'], sees: 2 },
    { name: 'takes it with no-filter', config: { networkErrors: 'no-filter' }, statuses: ['200', 'reset'], sees: 2 },
    {
      name: 'skips network errors',
      config: { networkErrors: 'exclude' },
      statuses: ['200', 'reset', 'reset'],
      sees: 1,
    },
    { name: 'takes network errors only', config: { networkErrors: 'include' }, statuses: ['reset', '200'], sees: 1 },
    { name: 'finds no network error', config: { networkErrors: 'include' }, statuses: ['200', '500'], sees: 0 },
    { name: 'takes a class', config: { includeStatuses: ['2xx'] }, statuses: ['200', '204', '404'], sees: 2 },
    { name: 'takes a status as a text', config: { includeStatuses: ['201'] }, statuses: ['201', '200'], sees: 1 },
    { name: 'takes a status as a number', config: { includeStatuses: [201] }, statuses: ['201', '202'], sees: 1 },
    {
      name: 'takes any of several',
      config: { includeStatuses: ['404', '5xx'] },
      statuses: ['404', '503', '200'],
      sees: 2,
    },
    { name: 'takes all with "*"', config: { includeStatuses: ['*'] }, statuses: ['200', '404'], sees: 2 },
    { name: 'takes no status with "*" too', config: { includeStatuses: ['*'] }, statuses: ['200', 'reset'], sees: 2 },
    { name: 'wants a status for a class', config: { includeStatuses: ['2xx'] }, statuses: ['reset'], sees: 0 },
    {
      name: 'applies both filters',
      config: { networkErrors: 'exclude', includeStatuses: ['4xx'] },
      statuses: ['404', '200', 'reset'],
      sees: 1,
    },
  ]
  for (const { name, config, statuses, sees } of cases) {
    it(name, async () => {
      const extract = { requestBody: { number: 'number' } }
      const path = await registerStateful({ requests: { lookup: byQuery('status') }, state: { extract, config } })
      for (const [index, status] of statuses.entries()) {
        const reply = await service.fetch(`${path}?status=${status}`, json('POST', { number: index + 1 }))
        assert.equal(reply.status, status === 'reset' ? 502 : 200)
      }
      const state = await stateOf(`${path}?status=200`)
      if (sees === 0) assert.deepEqual(state, {})
      else if (statuses[sees - 1] === 'reset') assert.deepEqual(Object.keys(state), ['system', 'lookupNetworkError'])
      else assert.deepEqual(state.requestBody, { number: sees })
    })
  }

  const withoutLookups: { includeStatuses: string[]; passes: boolean }[] = [
    { includeStatuses: [], passes: true },
    { includeStatuses: ['*'], passes: true },
    { includeStatuses: ['1xx', '2xx', '3xx', '4xx', '5xx'], passes: false },
  ]
  for (const { includeStatuses, passes } of withoutLookups) {
    it(`${passes ? 'takes' : 'skips'} messages without lookups with ${JSON.stringify(includeStatuses)}`, async () => {
      const state = { extract: { requestBody: { a: 'a' } }, config: { includeStatuses } }
      const path = await registerStateful({ state })
      await stateOf(path, { a: 1 })
      assert.deepEqual((await stateOf(path)).requestBody, passes ? { a: 1 } : undefined)
    })
  }

  it('goes by the highest status of all lookups', async () => {
    const lookup = [
      { ...byQuery('first'), id: 'first' },
      { ...byQuery('second'), id: 'second' },
    ]
    const extract = { requestBody: { a: 'a' } }
    const path = await registerStateful({
      requests: { lookup },
      state: { extract, config: { includeStatuses: ['404'] } },
    })
    await stateOf(`${path}?first=404&second=200`, { a: 1 })
    await stateOf(`${path}?first=404&second=500`, { a: 2 })
    assert.deepEqual((await stateOf(`${path}?first=200&second=200`)).requestBody, { a: 1 })
  })
})
