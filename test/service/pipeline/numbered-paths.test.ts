/** A number in a path reads that element of an array, wherever documents have paths. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService()
  upstream = await startUpstream(({ url, body }) => ({ url, body, rows: [{ n: `${url} 0` }, { n: `${url} 1` }] }))
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const BODY = {
  list: [{ id: 'l0' }, { id: 'l1', ids: ['x', 'y'] }],
  groups: [[{ ids: ['a0', 'a1'] }, { ids: ['b0', 'b1'] }]],
  byNumber: { 0: { id: 'field 0' } },
}

let routes = 0

/** What the upstream was asked for, and what a second message answers; the first may have left state. */
async function exchange(document: JsonObject): Promise<{ urls: string[]; answer: JsonObject }> {
  routes += 1
  await service.register({ endpoint: { pattern: `/numbers-${routes}` }, ...document })
  const path = `/numbers-${routes}?tag=t0&tag=t1`
  const first = await service.fetch(path, json('POST', BODY))
  assert.equal(first.status, 200, first.text)
  const from = upstream.received.length
  const reply = await service.fetch(path, json('POST', BODY))
  assert.equal(reply.status, 200, reply.text)
  return { urls: upstream.received.slice(from).map(({ url }) => url), answer: reply.json() }
}

it('in the mapping', async () => {
  const { answer } = await exchange({
    constants: { codes: ['c0', 'c1'] },
    inputTransforms: { pairs: '["p0", "p1"]' },
    inputMapping: {
      'requestBody.list.1.id': 'element',
      'requestBody.list.1.ids.0': 'deeper',
      'requestBody.groups.0.ids.1': 'each',
      'requestBody.list.0.gone': 'gone',
      'requestBody.list.2.id': 'outside',
      'requestBody.byNumber.0.id': 'field',
      'constants.codes.1': 'constant',
      'query.tag.1': 'query',
      'transforms.pairs.1': 'transform',
    },
  })
  assert.deepEqual(answer, {
    element: 'l1',
    deeper: 'x',
    each: ['a1', 'b1'],
    field: 'field 0',
    constant: 'c1',
    query: 't1',
    transform: 'p1',
  })
})

it('in the parameters of requests', async () => {
  const params = {
    url: { id: { path: 'payload.list.1.id' }, tag: { path: 'query.tag.1' } },
    query: { first: { path: 'requestBody.list.1.ids.0' }, none: { path: 'payload.list.7.id' } },
  }
  const { urls } = await exchange({
    requests: { lookup: { id: 'one', config: { url: `${upstream.url}/:id/:tag`, params } } },
  })
  assert.deepEqual(urls, ['/l1/t1?first=x'])
})

it('in the items of forEach, in its item, and in what its lookups found', async () => {
  const each = {
    id: 'each',
    forEach: { items: 'payload.groups.0' },
    config: { url: `${upstream.url}/:id`, params: { url: { id: { path: 'item.ids.1' } } } },
  }
  const after = {
    id: 'after',
    config: {
      url: `${upstream.url}/after/:n`,
      params: { url: { n: { path: 'lookupRequests.each.1.data.rows.0.n' } } },
    },
  }
  const { urls, answer } = await exchange({
    requests: { lookup: each, response: [after, { ...after, id: 'again', primary: true }] },
    inputMapping: { 'lookupRequests.each.1.data.rows.1.n': 'n' },
  })
  assert.deepEqual(urls.toSorted(), ['/a1', '/after/%2Fb1%200', '/after/%2Fb1%200', '/b1'])
  assert.equal(answer.body, '{"n":"/b1 1"}')
})

it('in state.extract, and in what it left', async () => {
  const { answer } = await exchange({
    requests: { lookup: { id: 'one', config: { url: `${upstream.url}/one` } } },
    inputMapping: {
      'state.requestBody': 'body',
      'state.query': 'query',
      'state.lookupRequests.one': 'one',
      'state.responseBody': 'response',
      'state.requestBody.list.0.id': 'left',
      'requestBody.list[].id': 'mapped[].id',
    },
    state: {
      extract: {
        requestBody: { id: 'list.0.id', list: 'list', field: 'byNumber.0.id' },
        query: { tag: 'tag.1' },
        lookupRequests: { one: { n: 'rows.1.n' } },
        responseBody: { id: 'mapped.1.id' },
      },
    },
  })
  assert.deepEqual(answer, {
    body: { id: 'l0', list: BODY.list, field: 'field 0' },
    query: { tag: 't1' },
    one: { n: '/one 1' },
    response: { id: 'l1' },
    left: 'l0',
    mapped: [{ id: 'l0' }, { id: 'l1' }],
  })
})

it('in a body that is an array', async () => {
  await service.register({
    endpoint: { pattern: '/array' },
    inputMapping: { 'requestBody.1.id': 'id', 'state.requestBody.first': 'first' },
    state: { extract: { requestBody: { first: '0.id' } } },
  })
  await service.fetch('/array', json('POST', BODY.list))
  assert.deepEqual((await service.fetch('/array', json('POST', BODY.list))).json(), { id: 'l1', first: 'l0' })
})

it('as a name that every element has only where [] says so', async () => {
  const body = [
    { 0: 'a', 2024: 1 },
    { 0: 'b', 2024: 2 },
  ]
  await service.register({
    endpoint: { pattern: '/fields' },
    inputMapping: { 'requestBody[].0': 'named', 'requestBody.0': 'element', 'requestBody[].2024': 'years' },
  })
  const reply = await service.fetch('/fields', json('POST', body))
  assert.deepEqual(reply.json(), { named: ['a', 'b'], element: body[0], years: [1, 2] })
})
