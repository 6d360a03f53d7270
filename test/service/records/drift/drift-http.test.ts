/** Drift through HTTP: what documents of all kinds read of messages of all kinds. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import type { DriftAnswer } from '../../../support/records/drift/samples.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const driftOf = async (service: Service, id: string, query = ''): Promise<DriftAnswer> => {
  const reply = await service.fetch(`/endpoints/${id}/drift${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json<DriftAnswer>()
}

type Case = Readonly<{
  name: string
  document: JsonObject
  /** JSON, or XML as a text; undefined for none. */
  message: Json | undefined
  method?: 'GET'
  /** Segments after the start of the route, as the pattern has them and as the message does. */
  below?: readonly [pattern: string, path: string]
  query?: string
  status?: number
  unread: readonly string[]
  missing: readonly string[]
  unknown?: true
}>

const XML = { input: 'XML', output: 'JSON' }

const CASES = (upstream: string): readonly Case[] => [
  {
    name: 'a mapping',
    document: { inputMapping: { 'requestBody.nr': 'id', 'requestBody.name.last': 'last', 'query.ward': 'ward' } },
    message: { nr: 1, name: { first: 'A' }, list: [{ a: 1 }, { b: [true] }], none: null, empty: {}, texts: [] },
    query: '?bed=2',
    unread: [
      'query.bed string',
      'requestBody.empty object',
      'requestBody.list[].a number',
      'requestBody.list[].b[] boolean',
      'requestBody.name.first string',
      'requestBody.none null',
      'requestBody.texts array',
    ],
    missing: ['query.ward', 'requestBody.name.last'],
  },
  {
    name: 'an array',
    document: { inputMapping: { 'requestBody[].nr': 'ids[]', 'requestBody[].gone': 'x[]' } },
    message: [{ nr: 1, a: 1 }, [{ nr: 2 }], 'x'],
    unread: ['requestBody[].a number'],
    missing: ['requestBody[].gone'],
  },
  {
    name: 'a request without a body',
    document: {
      inputMapping: { 'query.nr': 'id', 'query.gone': 'x', 'urlParams.bed': 'bed', 'requestHeaders.x-from': 'from' },
    },
    message: undefined,
    method: 'GET',
    below: ['/:ward/:bed', '/w1/2'],
    query: '?nr=1&other=2&other=3',
    unread: ['query.other[] string', 'urlParams.ward string'],
    missing: ['query.gone', 'requestHeaders.x-from'],
  },
  {
    name: 'a null where a value is read',
    document: { inputMapping: { 'requestBody.a': 'a', 'requestBody.list[].b': 'b[]' } },
    message: { a: null, list: [{ b: null }, {}] },
    unread: [],
    missing: ['requestBody.a', 'requestBody.list[].b'],
  },
  {
    name: 'XML, with attributes and text',
    document: { transformation: XML, inputMapping: { 'requestBody.nr': 'id', 'requestBody.ward': 'ward' } },
    message: '<order><nr>1</nr><item code="a">x</item><item code="b">y</item></order>',
    unread: ['requestBody.item[].$.code string', 'requestBody.item[]._ string'],
    missing: ['requestBody.ward'],
  },
  {
    name: 'expressions',
    document: {
      inputTransforms: {
        full: 'requestBody.first & requestBody.last',
        list: 'requestBody.rows[nr > 1].text',
        none: 'requestBody.last',
      },
      inputMapping: { 'transforms.full': 'name', 'transforms.none': 'x' },
    },
    message: { first: 'A', rows: [{ nr: 1, text: 'a' }], other: 1 },
    unread: ['requestBody.other number'],
    missing: ['requestBody.last', 'transforms.none'],
  },
  {
    name: 'an expression that may read anything',
    document: { inputTransforms: { all: '$keys($$)' }, inputMapping: { 'transforms.all': 'x', 'requestBody.a': 'a' } },
    message: { b: 1 },
    unread: [],
    missing: ['requestBody.a'],
    unknown: true,
  },
  {
    name: 'lookups',
    document: {
      requests: {
        lookup: [
          { id: 'p', config: { url: `${upstream}/:nr`, params: { url: { nr: { path: 'payload.nr' } } } } },
          { id: 'w', config: { url: upstream, params: { query: { w: { path: 'query.ward' } } } } },
        ],
      },
      inputMapping: { 'lookupRequests.p.data.city': 'city', 'lookupRequests.w.data.gone': 'x' },
    },
    message: { nr: 17, note: 'x' },
    query: '?ward=1',
    unread: [
      'lookupRequests.p.data.street string',
      'lookupRequests.w.data.city string',
      'lookupRequests.w.data.street string',
      'requestBody.note string',
    ],
    missing: ['lookupRequests.w.data.gone'],
  },
  {
    name: 'a message whose lookup fails: nothing is known of its answer',
    document: {
      requests: { lookup: [{ id: 'p', config: { url: `${upstream}/refuse` } }] },
      inputMapping: { 'lookupRequests.p.data.city': 'city', 'requestBody.gone': 'x' },
    },
    message: { note: 'x' },
    status: 404,
    unread: ['requestBody.note string'],
    missing: ['requestBody.gone'],
  },
  {
    name: 'forEach, state and keys',
    document: {
      requests: {
        lookup: [
          {
            id: 'each',
            forEach: { items: 'requestBody.items' },
            config: { url: `${upstream}/:nr`, params: { url: { nr: { path: 'item.nr' } } } },
          },
        ],
      },
      state: { extract: { requestBody: { last: 'seen.at' } } },
      messageKeys: { order: 'requestBody.order' },
      inputMapping: { 'lookupRequests.each.data.city': 'cities[]', 'state.last': 'before' },
    },
    message: { items: [{ nr: 1, unused: 2 }], seen: { at: 'x', by: 'y' } },
    unread: ['lookupRequests.each[].data.street string', 'requestBody.seen.by string'],
    missing: ['requestBody.order', 'state.last'],
  },
]

for (const isolation of ['none', 'process']) {
  describe(`drift with ISOLATION=${isolation}`, () => {
    let service: Service
    let upstream: Upstream
    before(async () => {
      service = await startService({ DRIFT_SAMPLE: '1', ISOLATION: isolation })
      upstream = await startUpstream(({ url }, response) => {
        if (url.includes('refuse')) response.statusCode = 404
        return { city: 'Paarl', street: 'Main' }
      })
    })
    after(async () => {
      await service.stop()
      await upstream.stop()
    })

    for (const [index, { name }] of CASES('').entries()) {
      // What runs in an isolated process is read there too.
      if (isolation === 'process' && name !== 'expressions') continue
      test(name, async () => {
        const {
          document,
          message,
          method = 'POST',
          below = ['', ''],
          query = '',
          status = 200,
          ...expected
        } = CASES(upstream.url)[index] as Case
        const pattern = `/drift-${index}`
        const { _id } = await service.register({ endpoint: { pattern: `${pattern}${below[0]}`, method }, ...document })
        const sent = await service.fetch(
          `${pattern}${below[1]}${query}`,
          typeof message === 'string'
            ? { method: 'POST', body: message, headers: { 'content-type': 'application/xml' } }
            : json(method, message),
        )
        assert.equal(sent.status, status, sent.text)
        const { version, sample, sampled, cut, hours, unread, missing, unreadUnknown } = await driftOf(service, _id)
        assert.deepEqual({ version, sample, sampled, cut }, { version: 1, sample: 1, sampled: 1, cut: 0 })
        const counts = hours.map(({ sampled: messages }) => messages)
        assert.deepEqual(counts, [1])
        assert.deepEqual(unread.map(({ path, types }) => `${path} ${types.join()}`).sort(), expected.unread)
        assert.deepEqual(missing.map(({ path }) => path).sort(), expected.missing)
        assert.equal(unreadUnknown !== undefined, expected.unknown === true)
      })
    }
  })
}

describe('the answer', () => {
  let service: Service
  before(async () => {
    service = await startService({ DRIFT_SAMPLE: '1', MESSAGE_LOG: 'all' })
  })
  after(() => service.stop())

  test('names the places that read a missing field, and starts anew with a changed document', async () => {
    const fields = {
      name: 'changes',
      endpoint: { pattern: '/changes' },
      transformation: { input: 'JSON', output: 'JSON' },
    }
    const { _id } = await service.register({
      ...fields,
      inputTransforms: { twice: 'requestBody.nr * 2' },
      inputMapping: { 'requestBody.nr': 'id' },
    })
    await service.fetch('/changes', json('POST', { number: 1 }))
    const first = await driftOf(service, _id)
    assert.deepEqual(first.missing, [
      { path: 'requestBody.nr', readBy: ['inputTransforms.twice', 'inputMapping.requestBody\\.nr'] },
    ])
    await service.fetch(`/endpoints/${_id}`, json('PUT', { ...fields, inputMapping: { 'requestBody.number': 'id' } }))
    const { version, sampled, unread, missing, hours, since } = await driftOf(service, _id)
    assert.deepEqual({ version, sampled, unread, missing, hours }, { ...empty, version: 2 })
    assert.equal(since, undefined)
    await service.fetch('/changes', json('POST', { number: 1 }))
    assert.equal((await driftOf(service, _id)).sampled, 1)
  })
  const empty = { sampled: 0, unread: [], missing: [], hours: [] }

  test('has no messages of dry runs and replays, and one a second of the others', async () => {
    const { _id } = await service.register({
      endpoint: { pattern: '/replayed' },
      inputMapping: { 'requestBody.a': 'a' },
    })
    const dryRun = await service.fetch('/endpoints/dry-run', json('POST', { endpointId: _id, message: { body: {} } }))
    assert.equal((await driftOf(service, _id)).sampled, 0, dryRun.text)
    const sent = await service.fetch('/replayed', json('POST', { a: 1 }))
    const id = sent.headers.get('x-crosswalk-message-id')
    const record = () => call(service.adminUrl, 'GET', `/messages/${id}`)
    await until(record, ({ status }) => status === 200)
    const headers = { 'content-type': 'application/json' }
    const replayed = await call(service.adminUrl, 'POST', `/messages/${id}/replay`, { headers })
    assert.equal(replayed.status, 200, replayed.text)
    assert.equal((await driftOf(service, _id)).sampled, 1)
    const startedAt = performance.now()
    const send = async () => {
      await service.fetch('/replayed', json('POST', { a: 1 }))
      return driftOf(service, _id)
    }
    const { sampled } = await until(send, (answer) => answer.sampled > 2)
    assert.ok(performance.now() - startedAt > 1_000, `${sampled}`)
  })

  test('has from 1 to 24 hours', async () => {
    const { _id } = await service.register({ endpoint: { pattern: '/hours' } })
    for (const query of ['?hours=0', '?hours=25', '?hours=x', '?hours=1&hours=2']) {
      const reply = await service.fetch(`/endpoints/${_id}/drift${query}`)
      assert.deepEqual([reply.status, reply.json().code], [400, 'FILTER_INVALID'], query)
    }
  })

  test('is there on both ports, and only for endpoints that exist', async () => {
    const { _id } = await service.register({ endpoint: { pattern: '/ports' } })
    assert.equal((await call(service.adminUrl, 'GET', `/endpoints/${_id}/drift?hours=1`)).status, 200)
    assert.equal((await service.fetch(`/endpoints/${'0'.repeat(24)}/drift`)).status, 404)
    assert.equal((await service.fetch('/endpoints/x/drift')).status, 400)
    assert.equal((await service.fetch(`/endpoints/${_id}/drift`, json('POST', {}))).status, 405)
  })
})

test('DRIFT_SAMPLE=0 examines nothing', async (t) => {
  const service = await startService({ DRIFT_SAMPLE: '0' })
  t.after(() => service.stop())
  const { _id } = await service.register({ endpoint: { pattern: '/off' }, inputMapping: { 'requestBody.a': 'a' } })
  await service.fetch('/off', json('POST', { b: 1 }))
  const { sample, sampled, unread, missing } = await driftOf(service, _id)
  assert.deepEqual({ sample, sampled, unread, missing }, { sample: 0, sampled: 0, unread: [], missing: [] })
})
