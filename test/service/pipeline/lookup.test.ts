import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Answering } from '../../support/service.ts'
import { dataOf, failureOf, openPipeline, type Said } from './fixture.ts'

const pipeline = openPipeline()

const to = (answer: Said | Answering, more: JsonObject = {}): JsonObject => ({
  id: 'one',
  config: { url: pipeline.at(answer) },
  ...more,
})
const send = (lookup: Json, document: JsonObject = {}, body: Json = {}) =>
  pipeline.send({ requests: { lookup }, ...document }, body)

const JSON_TYPE = 'application/json'
const GZIP = { 'content-encoding': 'gzip' }

describe('the answer of a lookup', () => {
  const cases: [string, Said, Json][] = [
    ['JSON', { type: JSON_TYPE, body: '{"a":[1,{"b":null}]}' }, { a: [1, { b: null }] }],
    ['a suffix of JSON', { type: 'Application/FHIR+JSON; charset=UTF-8', body: '{"a":"å"}' }, { a: 'å' }],
    ['XML', { type: 'text/xml', body: '<r a="1"><b>2</b><b>3</b></r>' }, { $: { a: '1' }, b: ['2', '3'] }],
    ['an object that nothing declares', { body: ' {"a":1}' }, { a: 1 }],
    ['an object declared as text', { type: 'text/plain', body: '{"a":1}' }, { a: 1 }],
    ['a number as text', { type: 'text/plain', body: '5' }, { text: '5' }],
    ['a number that nothing declares', { body: '5' }, '5'],
    ['a quoted text as it is', { body: '"a"' }, '"a"'],
    ['HTML as text', { type: 'text/html', body: '<p>a</p>' }, '<p>a</p>'],
    ['nothing', { type: JSON_TYPE, body: '' }, null],
    ['what was compressed', { type: JSON_TYPE, headers: GZIP, body: gzipSync('{"a":1}') }, { a: 1 }],
  ]
  for (const [name, said, data] of cases) {
    it(`is read: ${name}`, async () => assert.deepEqual(dataOf(await send(to(said))), data))
  }

  const unreadable: [string, Said][] = [
    ['JSON', { type: JSON_TYPE, body: '{"a":' }],
    ['a suffix of JSON', { type: 'application/fhir+json', body: '<a/>' }],
    ['XML', { type: 'text/xml', body: '<a><b></a>' }],
    ['a content coding', { type: JSON_TYPE, headers: GZIP, body: '{}' }],
  ]
  for (const [name, said] of unreadable) {
    it(`is a 502 where it is not what it declares: ${name}`, async () => {
      const reply = await send(to(said))
      assert.deepEqual(failureOf(reply), [502, 'LOOKUP_UNREADABLE', 'lookup', 'requests.lookup[0]'])
    })
  }

  it('comes with its headers, names in lower case', async () => {
    const lookup = to({ headers: { 'X-Total': '7', Link: ['<a>', '<b>'] } }, { id: 'my.lookup' })
    const headers = 'lookupRequests.my\\.lookup.headers'
    const inputMapping = { [`${headers}.x-total`]: 'total', [`${headers}.link`]: 'link' }
    assert.deepEqual((await send(lookup, { inputMapping })).json(), { total: '7', link: ['<a>', '<b>'] })
  })
})

describe('allowedStatuses', () => {
  const cases: { allowed?: Json; status: number; passes: boolean; answered?: number }[] = [
    { status: 299, passes: true },
    { status: 404, passes: false },
    { status: 302, passes: false, answered: 502 },
    { allowed: ['2xx', '404'], status: 404, passes: true },
    { allowed: [404], status: 200, passes: false, answered: 502 },
    { allowed: ['*'], status: 301, passes: true },
  ]
  for (const { allowed, status, passes, answered = status } of cases) {
    it(`${passes ? 'take' : 'refuse'} ${status} where they are ${JSON.stringify(allowed)}`, async () => {
      const said = { status, type: JSON_TYPE, body: '{"reason":"because"}' }
      const reply = await send(to(said, allowed === undefined ? {} : { allowedStatuses: allowed }))
      if (passes) assert.deepEqual(dataOf(reply), { reason: 'because' })
      else {
        assert.deepEqual(failureOf(reply), [answered, 'LOOKUP_REFUSED', 'lookup', 'requests.lookup[0]'])
        const error = String(reply.json().error)
        assert.ok(error.includes(String(status)) && error.includes(said.body), error)
      }
    })
  }

  it('refuse with a body of up to 200 characters, or the start of a longer one', async () => {
    for (const [body, shown] of [
      ['x'.repeat(200), /404 to GET \S+: x{200}\.?$/],
      [`begin ${'x'.repeat(100_000)} end`, /404 to GET \S+: begin x{194}…\.?$/],
    ] as const) {
      const reply = await send(to({ status: 404, body }))
      assert.match(String(reply.json().error), shown)
    }
  })
})

describe('several lookups', () => {
  it('are made all at once, as several responses are', async () => {
    for (const kind of ['lookup', 'response']) {
      let arrived = 0
      const opened = Promise.withResolvers<void>()
      const url = pipeline.at(async () => {
        arrived += 1
        if (arrived === 3) opened.resolve()
        await opened.promise
        return 1
      })
      const requests = ['a', 'b', 'c'].map((id) => ({ id, config: { url }, timeoutMs: 5_000 }))
      const reply = await pipeline.send({ requests: { [kind]: requests } })
      if (kind === 'lookup')
        assert.deepEqual(
          ['a', 'b', 'c'].map((id) => dataOf(reply, id)),
          [1, 1, 1],
        )
      else assert.deepEqual(reply.json(), { a: 1, b: 1, c: 1 })
    }
  })

  it('fail with the first in the document, after all are done', async () => {
    const ended: string[] = []
    const gates = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() }
    const answer =
      (name: string, status: number, after?: Promise<void>): Answering =>
      async (_request, response) => {
        await after
        response.statusCode = status
        response.on('finish', () => {
          ended.push(name)
          if (name === 'first' || name === 'second') gates[name].resolve()
        })
        return {}
      }
    const slow = answer('slow', 200, gates.first.promise)
    const first = answer('first', 410, gates.second.promise)
    const lookups = [slow, first, answer('second', 409)].map((one, at) => to(one, { id: `l${at}` }))
    const reply = await send(lookups)
    assert.deepEqual(failureOf(reply), [410, 'LOOKUP_REFUSED', 'lookup', 'requests.lookup[1]'])
    assert.deepEqual(ended, ['second', 'first', 'slow'])
  })
})
