/** The mapping, and every other place of a path, over messages that were sent; the worked examples: test/unit/language/mapping/mapping.test.ts. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json } from '../../support/service.ts'
import { openPipeline } from './fixture.ts'

const pipeline = openPipeline()

it('reads every root of the message', async () => {
  const url = pipeline.at({ type: 'application/json', headers: { etag: 'W/1' }, body: '{"id":7}' })
  const roots = await pipeline.register(
    {
      constants: { system: { code: 'loinc', list: [1, 2] } },
      requests: { lookup: [{ id: 'p', config: { url } }] },
      inputTransforms: { upper: '$uppercase(requestBody.name)' },
      state: { extract: { requestBody: { last: 'name' } } },
      inputMapping: {
        'constants.system': 'constant',
        'constants.system.list[1]': 'inConstant',
        'requestHeaders.x-sender': 'header',
        'query.tag': 'query',
        'urlParams.who': 'urlParam',
        'requestBody.name': 'body',
        'lookupRequests.p.data.id': 'lookup',
        'lookupRequests.p.headers.etag': 'lookupHeader',
        'transforms.upper': 'transform',
        'state.requestBody.last': 'state',
        'timestamps.endpointStart': 'start',
        'timestamps.lookupRequests.p.requestStart': 'lookupStart',
        'timestamps.lookupRequests.p.requestEnd': 'lookupEnd',
        'timestamps.lookupRequests.p.requestDuration.milliseconds': 'lookupMs',
      },
    },
    '/:who',
  )
  await pipeline.service.fetch(`${roots}/x`, json('POST', { name: 'before' }))
  const startedAt = Date.now()
  const path = `${roots}/J%C3%BCrgen%2FX?tag=a&tag=b%20c`
  const reply = await pipeline.service.fetch(path, json('POST', { name: 'now' }, { 'X-Sender': 'Lab' }))
  const { start, lookupStart, lookupEnd, lookupMs, ...rest } = reply.json()
  assert.deepEqual(rest, {
    constant: { code: 'loinc', list: [1, 2] },
    inConstant: 2,
    header: 'Lab',
    query: ['a', 'b c'],
    urlParam: 'Jürgen/X',
    body: 'now',
    lookup: 7,
    lookupHeader: 'W/1',
    transform: 'NOW',
    state: 'before',
  })
  const times = [start, lookupStart, lookupEnd].map((time) => Date.parse(String(time)))
  assert.deepEqual([startedAt, ...times, Date.now()], [startedAt, ...times, Date.now()].toSorted())
  assert.match(String(start), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.equal(lookupMs, (times[2] ?? 0) - (times[1] ?? 0))
})

it('fails where a message would grow out of bounds, naming the entry', async () => {
  const document = {
    constants: { big: 'x'.repeat(50_000) },
    inputMapping: {
      'requestBody.items[].n': 'entry[].n',
      'constants.big': { key: 'entry[].big', transform: { function: 'oneToAllElements' } },
    },
  }
  assert.equal((await pipeline.send(document, { items: [{ n: 1 }] })).status, 200)
  const many = await pipeline.send(document, { items: Array.from({ length: 5_000 }, (_, n) => ({ n })) })
  const { code, stage, path } = many.json()
  assert.deepEqual([many.status, code, stage, path], [413, 'OUTPUT_TOO_LARGE', 'map', 'inputMapping.constants\\.big'])
})

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
