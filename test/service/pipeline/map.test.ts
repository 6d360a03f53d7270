import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

type Example = { why: string; mapping: JsonObject; output: Json }
type Examples = { source: Record<string, JsonObject>; cases: Example[] }
const { source, cases }: Examples = JSON.parse(
  readFileSync(new URL('../../data/mapping.json', import.meta.url), 'utf8'),
)
const lookups = source.lookupRequests as unknown as { p: { data: Json }; each: { data: Json }[] }

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService()
  upstream = await startUpstream(({ url }, response) => {
    response.setHeader('etag', 'W/1')
    if (url === '/p') return lookups.p.data
    return lookups.each[Number(url.split('/')[2])]?.data ?? null
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

/** Lookups that give what the examples call `lookupRequests`. */
const lookup = (): Json => [
  { id: 'p', config: { url: `${upstream.url}/p` } },
  {
    id: 'each',
    forEach: { items: 'constants.indexes', concurrency: 2 },
    config: { url: `${upstream.url}/each/:index`, params: { url: { index: { path: 'item' } } } },
  },
]

describe('the worked examples, through the whole pipeline', () => {
  let path: string
  let id: string
  let document: JsonObject
  before(async () => {
    const constants = { ...source.constants, indexes: [0, 1] }
    const inputTransforms = { total: '10', rows: '[{"q":1},{"q":2}]' }
    document = { name: 'examples', endpoint: { pattern: '/examples/:id' }, constants, inputTransforms }
    id = (await service.register({ ...document, requests: { lookup: lookup() } }))._id
    path = `/examples/${source.urlParams?.id}?page=${source.query?.page}`
  })
  for (const { why, mapping, output } of cases) {
    it(why, async () => {
      const transformation = { input: 'JSON', output: 'JSON' }
      const changed = { ...document, transformation, requests: { lookup: lookup() }, inputMapping: mapping }
      const put = await service.fetch(`/endpoints/${id}`, json('PUT', changed))
      assert.equal(put.status, 200, put.text)
      const reply = await service.fetch(path, json('POST', source.requestBody))
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.json(), output)
    })
  }
})

it('reads every root of the message', async () => {
  await service.register({
    endpoint: { pattern: '/roots/:who' },
    constants: { system: { code: 'loinc', list: [1, 2] } },
    requests: { lookup: [{ id: 'p', config: { url: `${upstream.url}/p` } }] },
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
  })
  await service.fetch('/roots/x', json('POST', { name: 'before' }))
  const startedAt = Date.now()
  const path = '/roots/J%C3%BCrgen%2FX?tag=a&tag=b%20c'
  const reply = await service.fetch(path, json('POST', { name: 'now' }, { 'X-Sender': 'Lab' }))
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

describe('without a mapping', () => {
  it('answers the parsed body', async () => {
    await service.register({ endpoint: { pattern: '/plain' }, inputTransforms: { a: '1' }, constants: { b: 2 } })
    const reply = await service.fetch('/plain', json('POST', [1, { a: null }]))
    assert.equal(reply.text, '[1,{"a":null}]')
  })

  it('answers the body and the lookups where there are some', async () => {
    await service.register({
      endpoint: { pattern: '/with-lookups' },
      requests: { lookup: lookup() },
      constants: { indexes: [1, 0] },
    })
    const reply = await service.fetch('/with-lookups', json('POST', { a: 1 }))
    const { requestBody, lookupRequests } = reply.json<{ requestBody: Json; lookupRequests: typeof lookups }>()
    assert.deepEqual(requestBody, { a: 1 })
    assert.deepEqual(Object.keys(lookupRequests), ['p', 'each'])
    assert.deepEqual(lookupRequests.p.data, lookups.p.data)
    assert.deepEqual(
      lookupRequests.each.map(({ data }) => data),
      [{ id: 2 }, { id: 1 }],
    )
  })
})

it('changes neither the message nor the document', async () => {
  await service.register({
    endpoint: { pattern: '/unchanged' },
    constants: { person: { tags: ['fixed'] } },
    inputMapping: {
      'constants.person': 'person',
      'requestBody.name': 'person.name',
      'requestBody.tag': 'person.tags[]+',
    },
  })
  for (const name of ['first', 'second']) {
    const reply = await service.fetch('/unchanged', json('POST', { name, tag: name }))
    assert.deepEqual(reply.json(), { person: { tags: ['fixed', name], name } })
  }
})

it('reads own fields only', async () => {
  const inputMapping = {
    'requestBody.toString': 'a',
    'requestBody.constructor.name': 'b',
    'requestBody.__proto__': 'c',
    'requestBody.list.length': 'd',
    'requestBody.text.length': 'e',
  }
  await service.register({ endpoint: { pattern: '/own' }, inputMapping })
  const reply = await service.fetch('/own', json('POST', { list: [], text: 'abc' }))
  assert.deepEqual(reply.json(), { d: [] })
})

it('fails where a message would grow out of bounds, naming the entry', async () => {
  await service.register({
    endpoint: { pattern: '/bounds' },
    constants: { big: 'x'.repeat(50_000) },
    inputMapping: {
      'requestBody.items[].n': 'entry[].n',
      'constants.big': { key: 'entry[].big', transform: { function: 'oneToAllElements' } },
    },
  })
  const few = await service.fetch('/bounds', json('POST', { items: [{ n: 1 }] }))
  assert.equal(few.status, 200, few.text)
  const many = await service.fetch('/bounds', json('POST', { items: Array.from({ length: 5_000 }, (_, n) => ({ n })) }))
  const { code, stage, path } = many.json()
  assert.deepEqual([many.status, code, stage, path], [413, 'OUTPUT_TOO_LARGE', 'map', 'inputMapping.constants\\.big'])
})
