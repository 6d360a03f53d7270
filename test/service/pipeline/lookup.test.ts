import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import {
  type Answering,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

let service: Service
let upstream: Upstream
/** What the upstream answers, by path. */
const answers = new Map<string, Answering>()
before(async () => {
  service = await startService()
  upstream = await startUpstream((request, response) => answers.get(request.url)?.(request, response) ?? undefined)
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

/** A path of the upstream that answers so. */
function answering(answer: Answering): string {
  routes += 1
  answers.set(`/target-${routes}`, answer)
  return `/target-${routes}`
}

async function send(lookup: Json, document: JsonObject = {}, body: Json = {}) {
  routes += 1
  await service.register({ endpoint: { pattern: `/lookup-${routes}` }, requests: { lookup }, ...document })
  return service.fetch(`/lookup-${routes}`, json('POST', body))
}

const countOf = (path: string) => upstream.received.filter(({ url }) => url === path).length

const to = (path: string, config: JsonObject = {}): JsonObject => ({ url: `${upstream.url}${path}`, ...config })

type Found = { lookupRequests: Record<string, { data: Json; headers: JsonObject }> }

describe('the answer of a lookup', () => {
  const cases: { name: string; type?: string; coding?: string; body: string | Buffer; data: Json }[] = [
    { name: 'JSON', type: 'application/json', body: '{"a":[1,{"b":null}]}', data: { a: [1, { b: null }] } },
    { name: 'a suffix of JSON', type: 'Application/FHIR+JSON; charset=UTF-8', body: '{"a":"å"}', data: { a: 'å' } },
    { name: 'a JSON scalar that is declared', type: 'application/json', body: ' 7 ', data: 7 },
    {
      name: 'XML',
      type: 'application/xml',
      body: '<r a="1"><b>2</b><b>3</b></r>',
      data: { $: { a: '1' }, b: ['2', '3'] },
    },
    {
      name: 'XML in its own charset',
      type: 'text/xml; charset=iso-8859-1',
      body: Buffer.from('<r><b>\u00e5</b></r>', 'latin1'),
      data: { b: '\u00e5' },
    },
    { name: 'an object that nothing declares', body: ' {"a":1}', data: { a: 1 } },
    { name: 'an array that nothing declares', body: '[1]', data: [1] },
    { name: 'an object declared as text', type: 'text/plain', body: '{"a":1}', data: { a: 1 } },
    { name: 'a number as text', type: 'text/plain', body: '5', data: '5' },
    { name: 'a quoted text as it is', body: '"a"', data: '"a"' },
    { name: 'true as text', body: 'true', data: 'true' },
    { name: 'what only starts as an object', body: '{a', data: '{a' },
    { name: 'HTML as text', type: 'text/html', body: '<p>a</p>', data: '<p>a</p>' },
    { name: 'nothing', type: 'application/json', body: '', data: null },
    {
      name: 'what was compressed',
      type: 'application/json',
      coding: 'gzip',
      body: gzipSync('{"a":1}'),
      data: { a: 1 },
    },
  ]
  for (const { name, type, coding, body, data } of cases) {
    it(`is read: ${name}`, async () => {
      const path = answering((_request, response) => {
        if (type !== undefined) response.setHeader('content-type', type)
        if (coding !== undefined) response.setHeader('content-encoding', coding)
        response.end(body)
        return undefined
      })
      const reply = await send({ id: 'one', config: to(path) })
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.json<Found>().lookupRequests.one?.data, data)
    })
  }

  const unreadable: { name: string; type: string; coding?: string; body: string }[] = [
    { name: 'JSON', type: 'application/json', body: '{"a":' },
    { name: 'a suffix of JSON', type: 'application/fhir+json', body: '<a/>' },
    { name: 'XML', type: 'text/xml', body: '<a><b></a>' },
    { name: 'JSON that is too deep', type: 'application/json', body: '['.repeat(65) + ']'.repeat(65) },
    { name: 'a charset that it does not have', type: 'application/json; charset=us-ascii', body: '"å"' },
    { name: 'a content coding', type: 'application/json', coding: 'gzip', body: '{}' },
  ]
  for (const { name, type, coding, body } of unreadable) {
    it(`is a 502 where it is not what it declares: ${name}`, async () => {
      const path = answering((_request, response) => {
        response.setHeader('content-type', type)
        if (coding !== undefined) response.setHeader('content-encoding', coding)
        response.end(body)
        return undefined
      })
      const reply = await send({ id: 'one', config: to(path) })
      const { code, stage, path: blames } = reply.json()
      assert.deepEqual([reply.status, code, stage, blames], [502, 'LOOKUP_UNREADABLE', 'lookup', 'requests.lookup[0]'])
    })
  }

  it('comes with its headers, names in lower case', async () => {
    const path = answering((_request, response) => {
      response.setHeader('X-Total', '7')
      response.setHeader('Link', ['<a>', '<b>'])
      return {}
    })
    const lookup = { id: 'my.lookup', config: to(path) }
    const { headers = {} } = (await send(lookup)).json<Found>().lookupRequests['my.lookup'] ?? {}
    assert.deepEqual([headers['x-total'], headers.link], ['7', ['<a>', '<b>']])
    const mapped = await send(lookup, { inputMapping: { 'lookupRequests.my\\.lookup.headers.x-total': 'total' } })
    assert.deepEqual(mapped.json(), { total: '7' })
  })
})

describe('allowedStatuses', () => {
  const cases: { allowed?: Json; status: number; passes: boolean; answered?: number }[] = [
    { status: 299, passes: true },
    { status: 404, passes: false },
    { status: 503, passes: false },
    { status: 302, passes: false, answered: 502 },
    { status: 600, passes: false, answered: 502 },
    { allowed: ['2xx', '404'], status: 404, passes: true },
    { allowed: [404], status: 404, passes: true },
    { allowed: [404], status: 200, passes: false, answered: 502 },
    { allowed: ['4xx'], status: 422, passes: true },
    { allowed: ['4xx'], status: 500, passes: false },
    { allowed: ['*'], status: 500, passes: true },
    { allowed: ['*'], status: 301, passes: true },
  ]
  for (const { allowed, status, passes, answered = status } of cases) {
    it(`${passes ? 'take' : 'refuse'} ${status} where they are ${JSON.stringify(allowed)}`, async () => {
      const path = answering((_request, response) => {
        response.statusCode = status
        return { reason: 'because' }
      })
      const lookup: JsonObject = {
        id: 'one',
        config: to(path),
        ...(allowed === undefined ? {} : { allowedStatuses: allowed }),
      }
      const reply = await send(lookup)
      if (passes) {
        assert.equal(reply.status, 200, reply.text)
        assert.deepEqual(reply.json<Found>().lookupRequests.one?.data, { reason: 'because' })
        return
      }
      const { error, code, stage, path: blames } = reply.json<Record<string, string>>()
      assert.deepEqual(
        [reply.status, code, stage, blames],
        [answered, 'LOOKUP_REFUSED', 'lookup', 'requests.lookup[0]'],
      )
      assert.ok(error?.includes(String(status)) && error.includes('{"reason":"because"}'), error)
    })
  }

  it('refuse with the start of a long body', async () => {
    const path = answering((_request, response) => {
      response.statusCode = 404
      response.end(`begin ${'x'.repeat(100_000)} end`)
      return undefined
    })
    const { error = '' } = (await send({ id: 'one', config: to(path) })).json<{ error?: string }>()
    assert.match(error, /404: begin xxx/)
    assert.ok(error.length < 400)
  })
})

/** Answers no request before `count` of them have arrived. */
function barrier(count: number): Answering {
  let arrived = 0
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return async ({ url }) => {
    arrived += 1
    if (arrived === count) open()
    await opened
    return { url }
  }
}

describe('several lookups', () => {
  it('are made all at once', async () => {
    const wait = barrier(3)
    const paths = [answering(wait), answering(wait), answering(wait)]
    const lookups = paths.map((path, index) => ({ id: `l${index}`, config: to(path), timeoutMs: 5_000 }))
    const reply = await send(lookups)
    assert.equal(reply.status, 200, reply.text)
    const { lookupRequests } = reply.json<Found>()
    assert.deepEqual(
      Object.entries(lookupRequests).map(([id, { data }]) => [id, data]),
      paths.map((url, index) => [`l${index}`, { url }]),
    )
  })

  it('fail with the first in the document, after all are done', async () => {
    let refused = () => {}
    const secondRefused = new Promise<void>((resolve) => {
      refused = resolve
    })
    const firstEnded = Promise.withResolvers<void>()
    const ended: string[] = []
    const slow = answering(async (_request, response) => {
      await firstEnded.promise
      response.on('finish', () => ended.push('slow'))
      return {}
    })
    const first = answering(async (_request, response) => {
      await secondRefused
      response.statusCode = 410
      response.on('finish', () => {
        ended.push('first')
        firstEnded.resolve()
      })
      return {}
    })
    const second = answering((_request, response) => {
      response.statusCode = 409
      response.on('finish', () => {
        ended.push('second')
        refused()
      })
      return {}
    })
    const lookups = [slow, first, second].map((path, index) => ({ id: `l${index}`, config: to(path) }))
    const reply = await send(lookups)
    assert.deepEqual([reply.status, reply.json().path], [410, 'requests.lookup[1]'])
    assert.deepEqual(ended, ['second', 'first', 'slow'])
  })
})

it('notes when each lookup started and ended', async () => {
  const before = Date.now()
  const slow = answering(async () => {
    await new Promise((resolve) => setTimeout(resolve, 30))
    return {}
  })
  const each = { id: 'each', forEach: { items: 'payload.n' }, config: to(answering(() => ({}))) }
  const reply = await send(
    [{ id: 'slow', config: to(slow) }, each],
    { inputMapping: { timestamps: 't' } },
    { n: [1, 2] },
  )
  type Times = { requestStart: string; requestEnd: string; requestDuration: { milliseconds: number } }
  const { t } = reply.json<{ t: { endpointStart: string; lookupRequests: Record<string, Times> } }>()
  assert.deepEqual(Object.keys(t.lookupRequests).toSorted(), ['each', 'slow'])
  for (const { requestStart, requestEnd, requestDuration } of Object.values(t.lookupRequests)) {
    const times = [before, ...[t.endpointStart, requestStart, requestEnd].map((time) => Date.parse(time)), Date.now()]
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
    )
    assert.equal(requestDuration.milliseconds, Date.parse(requestEnd) - Date.parse(requestStart))
    for (const time of [requestStart, requestEnd]) assert.equal(time, new Date(time).toISOString())
  }
  assert.ok((t.lookupRequests.slow?.requestDuration.milliseconds ?? 0) >= 20)
})

it('sends nothing where an earlier stage refused the message', async () => {
  const path = answering(() => ({}))
  routes += 1
  const lookup = { id: 'one', config: to(path) }
  await service.register({ endpoint: { pattern: `/lookup-${routes}` }, requests: { lookup } })
  const reply = await service.fetch(`/lookup-${routes}`, { ...json('POST', undefined), body: '{' })
  assert.deepEqual([reply.status, countOf(path)], [400, 0])
})
