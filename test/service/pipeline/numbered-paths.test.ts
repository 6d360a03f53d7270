/** A number in a path reads that element of an array, wherever documents have paths. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json } from '../../support/service.ts'
import { openPipeline } from './fixture.ts'

const pipeline = openPipeline()

const BODY = {
  list: [{ id: 'l0' }, { id: 'l1', ids: ['x', 'y'] }],
  groups: [[{ ids: ['a0', 'a1'] }, { ids: ['b0', 'b1'] }]],
  byNumber: { 0: { id: 'field 0' } },
}
const rows = () => pipeline.at({ type: 'application/json', body: '{"rows":[{"n":"r0"},{"n":"r1"}]}' })

/** What a second message is answered; the first may have left state. */
async function secondAnswer(document: JsonObject, body: Json = BODY) {
  const path = `${await pipeline.register(document)}?tag=t0&tag=t1`
  await pipeline.service.fetch(path, json('POST', body))
  return (await pipeline.service.fetch(path, json('POST', body))).json()
}

it('in the parameters of requests, the items of forEach, its item, and what its lookups found', async () => {
  const lookup = [
    {
      id: 'each',
      forEach: { items: 'payload.groups.0' },
      config: { url: `${pipeline.upstream.url}/:id`, params: { url: { id: { path: 'item.ids.1' } } } },
    },
    { id: 'one', config: { url: rows() } },
  ]
  const params = {
    url: { n: { path: 'lookupRequests.each.1.data.url' }, tag: { path: 'query.tag.1' } },
    query: {
      first: { path: 'requestBody.list.1.ids.0' },
      row: { path: 'lookupRequests.one.data.rows.1.n' },
      none: { path: 'payload.list.7.id' },
    },
  }
  const response = { id: 'after', config: { url: `${pipeline.upstream.url}/after/:n/:tag`, params } }
  const inputMapping = { 'lookupRequests.each.1.data.url': 'n' }
  const answer = await secondAnswer({ requests: { lookup, response }, inputMapping })
  assert.deepEqual(answer, { method: 'POST', url: '/after/%2Fb1/t1?first=x&row=r1', body: '{"n":"/b1"}' })
})

it('in state.extract, and in what it left', async () => {
  const answer = await secondAnswer({
    requests: { lookup: { id: 'one', config: { url: rows() } } },
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
    one: { n: 'r1' },
    response: { id: 'l1' },
    left: 'l0',
    mapped: [{ id: 'l0' }, { id: 'l1' }],
  })
})
