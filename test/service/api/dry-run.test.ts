/** Dry runs over HTTP: the pipeline as it is, with nothing sent on and nothing kept. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { describeServices } from '../../support/databases.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument, json, startService, startUpstream, type Upstream } from '../../support/service.ts'

type Detail = { path: string; message: string }
type Call = JsonObject & {
  kind: string
  id: string
  answered: string
  body?: string
  answer?: { status: number; body: string }
}
type Report = Readonly<{
  ran: boolean
  lint: { errors: Detail[]; clashes: Detail[]; warnings: Detail[] }
  outcome: string
  stages: {
    stage: string
    ms: number
    input: JsonObject
    output?: JsonObject
    failed?: true
    coerced?: readonly JsonObject[]
  }[]
  calls: Call[]
  callsNotShown?: number
  answer: { status: number; headers: JsonObject; body: string; assumed?: boolean; cut?: true }
  failure?: { code: string; error: string; status: number; stage?: string; path?: string; details?: Detail[] }
  state?: JsonObject
}>

let upstream: Upstream
before(async () => {
  upstream = await startUpstream(() => ({ from: 'upstream' }))
})
after(() => upstream.stop())
beforeEach(() => void upstream.received.splice(0))

const documentOf = (changes: JsonObject): JsonObject => endpointDocument({ endpoint: { pattern: '/dry' }, ...changes })
const to = (path = ''): JsonObject => ({ url: `${upstream.url}${path}` })
/** What the stages added to the message. */
const resultsOf = ({ stages }: Report) => {
  const adding = stages.filter(({ stage }) => !['validate', 'extract', 'respond'].includes(stage))
  return Object.assign({}, ...adding.map(({ output }) => output ?? {}))
}

/** What the document writes out, so that the report has something to leave out. */
const credentialAt = (header: string) => ({
  path: `requests.lookup[0].config.headers.${header}`,
  message:
    'The value looks like a credential; refer to it as "${env:CROSSWALK_SECRET_NAME}" or "${file:/run/secrets/crosswalk/name}" instead.',
})

describeServices('a dry run', {}, (stage) => {
  const ask = (request: Json, on = stage.service) => on.fetch('/endpoints/dry-run', json('POST', request))
  async function run(request: JsonObject, on = stage.service): Promise<Report> {
    const reply = await ask(request, on)
    assert.equal(reply.status, 200, reply.text)
    return reply.json<Report>()
  }

  describe('a message with everything', () => {
    const headers = { Authorization: 'Basic s3cr3t', 'X-Api-Key': 's3cr3t', 'X-Ward': 'W' }
    const params = { url: { nr: { path: 'requestBody.nr' } }, query: { q: { path: 'query.q' } } }
    const everything = (): JsonObject =>
      documentOf({
        endpoint: { pattern: '/dry/:id' },
        constants: { ward: 'W' },
        inputTransforms: { upper: '$uppercase(requestBody.name)' },
        inputValidation: { required: ['name'] },
        requests: {
          lookup: [{ id: 'patient', config: { ...to('/p/:nr'), headers, params } }],
          response: [{ id: 'store', config: { ...to('/store'), method: 'PUT' } }],
        },
        inputMapping: {
          'transforms.upper': 'name',
          'lookupRequests.patient.data.born': 'born',
          'urlParams.id': 'id',
          'state.requestBody.last': 'last',
          'requestHeaders.x-from': 'from',
        },
        state: { extract: { requestBody: { last: 'nr' } } },
      })
    const message = {
      body: { name: 'ada', nr: 7 },
      headers: { 'X-From': 'desk' },
      query: { q: ['a', 'b'] },
      urlParams: { id: '12' },
      state: { requestBody: { last: 6 } },
    }

    test('reports what each stage gave, what would have been sent, and the answer', async () => {
      const report = await run({
        endpoint: everything(),
        message,
        lookups: { patient: { body: { born: 1815 }, headers: { 'Set-Cookie': 's3cr3t' } } },
      })
      const warnings = ['Authorization', 'X-Api-Key'].map(credentialAt)
      assert.deepEqual(report.lint, { errors: [], clashes: [], warnings })
      assert.deepEqual([report.ran, report.outcome, report.failure], [true, 'done', undefined])
      assert.deepEqual(
        report.stages.map(({ stage }) => stage),
        ['recall', 'parse', 'lookup', 'validate', 'transform', 'map', 'extract', 'serialise', 'respond'],
      )
      for (const { stage, ms } of report.stages) assert.ok(ms >= 0, stage)
      const canned = { 'content-type': 'application/json', 'set-cookie': '[redacted]' }
      const output = { name: 'ADA', born: 1815, id: '12', last: 6, from: 'desk' }
      assert.deepEqual(resultsOf(report), {
        state: message.state,
        requestBody: message.body,
        lookupRequests: { patient: { data: { born: 1815 }, headers: canned } },
        transforms: { upper: 'ADA' },
        responseBody: output,
        output: JSON.stringify(output),
      })
      const accept = 'application/json, */*;q=0.8'
      const [lookup, response, ...more] = report.calls.map(({ ms, ...rest }) => rest)
      assert.deepEqual(more, [])
      assert.deepEqual(lookup, {
        kind: 'lookup',
        id: 'patient',
        method: 'GET',
        url: `${upstream.url}/p/7?q=a,b`,
        headers: { authorization: '[redacted]', 'x-api-key': '[redacted]', 'x-ward': 'W', accept },
        answered: 'canned',
        answer: { status: 200, headers: canned, body: '{"born":1815}' },
      })
      assert.deepEqual(response, {
        kind: 'response',
        id: 'store',
        method: 'PUT',
        url: `${upstream.url}/store`,
        headers: { accept, 'content-type': 'application/json' },
        body: JSON.stringify(output),
        answered: 'assumed',
        answer: { status: 200, headers: {}, body: '' },
      })
      assert.deepEqual(report.answer, { status: 200, headers: {}, body: '', assumed: true })
      assert.deepEqual(report.state?.requestBody, { last: 7 })
      assert.deepEqual([report.state?.lookupHttpStatus, report.state?.lookupNetworkError], [200, false])
      assert.ok(!JSON.stringify(report).includes('s3cr3t'))
      assert.deepEqual(upstream.received, [])
    })

    test('leaves nothing behind: no state, no record, no count, no endpoint, and makes no call', async () => {
      const document = { ...everything(), requests: { lookup: [], response: [] }, inputMapping: { state: 'state' } }
      const { _id: id } = await stage.service.register({
        ...document,
        name: 'stateful',
        endpoint: { pattern: '/stateful/:id' },
      })
      const shown = async () => ({
        metrics: (await call(stage.service.adminUrl, 'GET', '/metrics')).text.match(/^crosswalk_messages_.*$/gm),
        endpoints: (await stage.service.fetch('/endpoints')).text,
        messages: (await call(stage.service.adminUrl, 'GET', '/messages')).text,
      })
      const before = await shown()
      const report = await run({ endpointId: id, message })
      assert.equal(report.outcome, 'done')
      assert.ok(report.state)
      assert.deepEqual(await shown(), before)
      assert.deepEqual((await stage.service.fetch('/stateful/1', json('POST', { name: 'ada' }))).json(), { state: {} })
    })
  })

  test('answers as the endpoint does', async () => {
    const cases: readonly (readonly [document: JsonObject, body: string, contentType?: string])[] = [
      [{ inputMapping: { 'requestBody.a': 'b' } }, '{"a":1}'],
      [{ transformation: { input: 'XML', output: 'XML' } }, '<a><b>1</b></a>', 'text/xml'],
      [{}, '{"a":'],
      [{}, '<a/>', 'text/xml'],
      [{ inputValidation: { required: ['a'] } }, '{}'],
      [{ inputTransforms: { t: '$number("x")' } }, '{}'],
    ]
    for (const [index, [document, body, contentType = 'application/json']] of cases.entries()) {
      const pattern = `/same/${index}`
      const { _id: endpointId } = await stage.service.register({ endpoint: { pattern }, ...document })
      const real = await stage.service.fetch(pattern, {
        method: 'POST',
        headers: { 'content-type': contentType },
        body,
      })
      const { answer } = await run({ endpointId, message: { body, contentType } })
      const settled = (text: string) => text.replaceAll(/[0-9a-f]{24}/g, 'id')
      assert.deepEqual(
        [answer.status, answer.headers['content-type'], settled(answer.body)],
        [real.status, real.headers.get('content-type'), settled(real.text)],
      )
    }
  })

  describe('a failure', () => {
    const lookup = (extra: JsonObject = {}) =>
      documentOf({ requests: { lookup: [{ id: 'up', config: to(), ...extra }] } })
    const respond = () => documentOf({ requests: { response: [{ id: 'up', config: to() }] } })
    const valid = () => documentOf({ inputValidation: { required: ['a'] } })
    const each = () => lookup({ forEach: { items: 'requestBody' } })
    const gone = { up: { fault: 'unreachable' } }
    const late = { up: { fault: 'timeout' } }
    const busy = { up: { status: 503, body: 'busy' } }
    const items = () => ({ endpoint: each(), message: { body: [1, 2] }, lookups: { up: [{ body: 1 }] } })
    /** `ends`: the outcome, the stage and the code. */
    const cases: readonly (readonly [name: string, ends: string, request: () => JsonObject])[] = [
      ['of validation', 'refused validate VALIDATION_FAILED', () => ({ endpoint: valid(), message: { body: {} } })],
      ['of the body', 'refused parse BODY_UNREADABLE', () => ({ endpoint: documentOf({}), message: { body: '{' } })],
      ['of a lookup said to refuse', 'failed lookup LOOKUP_REFUSED', () => ({ endpoint: lookup(), lookups: busy })],
      ['of a lookup said away', 'failed lookup LOOKUP_UNREACHABLE', () => ({ endpoint: lookup(), lookups: gone })],
      ['of a lookup said late', 'failed lookup LOOKUP_TIMED_OUT', () => ({ endpoint: lookup(), lookups: late })],
      [
        'of a response said away',
        'failed respond RESPONSE_UNREACHABLE',
        () => ({ endpoint: respond(), responses: gone }),
      ],
      ['of an item without a canned answer', 'refused lookup DRY_RUN_ANSWER_MISSING', items],
    ]
    for (const [name, ends, request] of cases) {
      test(name, async () => {
        const report = await run(request())
        const { outcome, failure, answer, stages } = report
        assert.equal(`${outcome} ${failure?.stage} ${failure?.code}`, ends)
        assert.equal(JSON.parse(answer.body).code, failure?.code)
        const last = stages.at(-1)
        assert.deepEqual([last?.stage, last?.failed], [failure?.stage, true])
        assert.deepEqual(upstream.received, [])
      })
    }

    test('of a missing answer says where to give it, and shows the call', async () => {
      const { failure, calls } = await run({ endpoint: lookup() })
      assert.match(failure?.error ?? '', /give one in "lookups\.up", or set "live": true/)
      assert.deepEqual([calls[0]?.answered, calls[0]?.url], ['missing', upstream.url])
    })
  })

  describe('lookups', () => {
    test('are made where they are to be live and have no answer; responses never', async () => {
      const requests = {
        lookup: [
          { id: 'live', config: to('/live') },
          { id: 'given', config: to('/given') },
        ],
        response: [{ id: 'out', config: { ...to('/out'), method: 'POST' } }],
      }
      const inputMapping = { 'lookupRequests.live.data': 'live', 'lookupRequests.given.data': 'given' }
      const report = await run({
        endpoint: documentOf({ requests, inputMapping }),
        lookups: { given: { body: 'text' } },
        live: true,
      })
      assert.deepEqual(resultsOf(report).responseBody, { live: { from: 'upstream' }, given: 'text' })
      assert.deepEqual(
        report.calls.map(({ id, answered }) => [id, answered]),
        [
          ['live', 'live'],
          ['given', 'canned'],
          ['out', 'assumed'],
        ],
      )
      assert.deepEqual(
        upstream.received.map(({ url }) => url),
        ['/live'],
      )
    })

    test('with forEach take an answer for each item, or one for all', async () => {
      const forEach = { items: 'requestBody', concurrency: 2 }
      const config = { ...to('/i/:n'), params: { url: { n: { path: 'item' } } } }
      const endpoint = documentOf({ requests: { lookup: [{ id: 'each', forEach, config }] } })
      const data = async (each: Json) => {
        const report = await run({ endpoint, message: { body: [5, 6] }, lookups: { each } })
        assert.deepEqual(
          report.calls.map(({ item, url }) => [item, url]),
          [
            [0, `${upstream.url}/i/5`],
            [1, `${upstream.url}/i/6`],
          ],
        )
        return resultsOf(report).lookupRequests.each.map((one: JsonObject) => one.data)
      }
      assert.deepEqual(await data([{ body: 'a' }, { body: 'b' }]), ['a', 'b'])
      assert.deepEqual(await data({ body: 'same' }), ['same', 'same'])
    })
  })

  describe('responses', () => {
    const several = (extra: JsonObject = {}): JsonObject => ({
      response: [
        { id: 'one', config: { ...to('/one'), method: 'POST', ...extra } },
        { id: 'each', config: { ...to('/each'), method: 'POST' }, forEach: { items: 'responseBody' } },
        { id: 'topic', kafkaProducerTopic: 'out', key: { path: 'query.key' } },
      ],
    })

    test('show what each would be sent, and make the answer of what is said or assumed', async () => {
      const endpoint = documentOf({ requests: several() })
      const { calls, answer, outcome } = await run({
        endpoint,
        message: { body: ['a', 'b'], query: { key: 'k' } },
        responses: { one: { status: 201, body: { stored: true } }, each: [{ body: { n: 1 } }] },
      })
      assert.equal(outcome, 'done')
      const order = ({ id, item }: Call) => `${id} ${item ?? ''}`
      const sent = calls.toSorted((one, other) => (order(one) < order(other) ? -1 : 1))
      assert.deepEqual(
        sent.map(({ id, item, body, answered, topic, key }) => ({ id, item, body, answered, topic, key })),
        [
          { id: 'each', item: 0, body: '"a"', answered: 'canned', topic: undefined, key: undefined },
          { id: 'each', item: 1, body: '"b"', answered: 'assumed', topic: undefined, key: undefined },
          { id: 'one', item: undefined, body: '["a","b"]', answered: 'canned', topic: undefined, key: undefined },
          { id: 'topic', item: undefined, body: '["a","b"]', answered: 'assumed', topic: 'out', key: 'k' },
        ],
      )
      assert.deepEqual(JSON.parse(answer.body), {
        one: { stored: true },
        each: [{ n: 1 }, null],
        topic: { topic: 'out', partition: 0, offset: 0 },
      })
      assert.equal(answer.assumed, true)
    })

    test('that are primary answer alone, and failed ones make it partial', async () => {
      const endpoint = documentOf({ requests: several({ primary: true }) })
      const { answer, outcome } = await run({
        endpoint,
        message: { body: ['a'] },
        responses: { one: { body: { mine: 1 } }, each: { status: 500 } },
      })
      assert.deepEqual([JSON.parse(answer.body), outcome], [{ mine: 1 }, 'partial'])
    })

    test('are shown up to a number', async () => {
      const endpoint = documentOf({ requests: several() })
      const { calls, callsNotShown } = await run({
        endpoint,
        message: { body: Array.from({ length: 300 }, (_, n) => n) },
      })
      assert.deepEqual([calls.length, callsNotShown], [200, 102])
    })
  })

  describe('the document', () => {
    test('with faults is not run, and reports what registering it would', async () => {
      const endpoint: JsonObject = { ...documentOf({ nmae: 'x' }), inputMapping: { 'nowhere.a': 'b' } }
      const refused = await stage.service.fetch('/endpoints', json('POST', endpoint))
      const { ran, lint, ...rest } = await run({ endpoint })
      assert.deepEqual([ran, rest], [false, {}])
      assert.deepEqual(lint.errors, refused.json().details)
      assert.ok(lint.errors.length >= 2)
    })

    test('in which a name stands twice is not run', async () => {
      const text = JSON.stringify({ endpoint: documentOf({}) }).replace('"name":', '"name":"first","name":')
      const reply = await stage.service.fetch('/endpoints/dry-run', { ...json('POST', undefined), body: text })
      assert.deepEqual([reply.status, reply.json<Report>().lint.errors[0]?.path], [200, 'name'])
    })

    test('with warnings is run, and reports them', async () => {
      const inputMapping = { 'requestBody.nr': 'id', 'requestBody.number': 'id' }
      const { ran, lint } = await run({ endpoint: documentOf({ inputMapping }), message: { body: {} } })
      assert.deepEqual([ran, lint.warnings.length], [true, 1])
    })

    test('that clashes is run, and reports with what; the one that it would replace is no clash', async () => {
      const stored = await stage.service.register({ endpoint: { pattern: '/taken' } })
      const { _id: id, createdAt, updatedAt, __v, ...endpoint } = stored
      const clashing = await run({ endpoint, message: { body: {} } })
      assert.deepEqual(
        [clashing.ran, clashing.lint.clashes.map(({ path }) => path)],
        [true, ['name', 'endpoint.pattern']],
      )
      for (const request of [{ endpoint, endpointId: id }, { endpoint: stored }, { endpointId: id }])
        assert.deepEqual((await run(request)).lint.clashes, [])
    })
  })

  describe('the request itself', () => {
    const endpoint = { name: 'x', endpoint: { pattern: '/x' }, transformation: { input: 'JSON', output: 'JSON' } }
    const invalid: readonly (readonly [path: string, request: Json])[] = [
      ['', []],
      ['', { message: {} }],
      ['endpoint', { endpoint: 'x' }],
      ['lookup', { endpoint, lookup: {} }],
      ['message.bdy', { endpoint, message: { bdy: 1 } }],
      ['message.headers.a', { endpoint, message: { headers: { a: 1 } } }],
      ['message.query.a', { endpoint, message: { query: { a: [1] } } }],
      ['message.timestamps.scheduledFor', { endpoint, message: { timestamps: { scheduledFor: 'now' } } }],
      ['message.timestamps', { endpoint, message: { timestamps: { scheduledFor: '2026-01-01T00:00:00Z' } } }],
      ['message.urlParams.a', { endpoint, message: { urlParams: { a: 1 } } }],
      ['message.state', { endpoint, message: { state: 1 } }],
      ['lookups.a', { endpoint, lookups: { a: 'x' } }],
      ['lookups.a[0].status', { endpoint, lookups: { a: [{ status: 99 }] } }],
      ['responses.a.fault', { endpoint, responses: { a: { fault: 'fire' } } }],
      // Answers that no request of the document gets.
      ['lookups.a', { endpoint, lookups: { a: {} } }],
      ['responses.a', { endpoint, responses: { a: {} } }],
      ['live', { endpoint, live: 'yes' }],
      ['endpointId', { endpointId: 1 }],
    ]
    test('is refused with its fault', async () => {
      for (const [path, request] of invalid) {
        const reply = await ask(request)
        assert.deepEqual([reply.status, reply.json().code], [400, 'DRY_RUN_INVALID'], reply.text)
        assert.deepEqual(
          reply.json<{ details: Detail[] }>().details.map((one) => one.path),
          [path],
        )
      }
      assert.equal((await ask({ endpointId: 'x' })).json().code, 'ID_MALFORMED')
      assert.equal((await ask({ endpointId: '0'.repeat(24) })).json().code, 'ENDPOINT_UNKNOWN')
    })

    test('is refused where it is no JSON or comes by another name', async () => {
      const broken = { ...json('POST', undefined), body: '{' }
      assert.equal((await stage.service.fetch('/endpoints/dry-run', broken)).json().code, 'BODY_UNREADABLE')
      const body = JSON.stringify({ endpoint })
      for (const port of [stage.service.url, stage.service.adminUrl]) {
        for (const [host, status] of [
          ['evil.example', 403],
          ['localhost', 200],
        ] as const) {
          const headers = { 'content-type': 'application/json', host }
          assert.equal((await call(port, 'POST', '/endpoints/dry-run', { headers, body })).status, status)
        }
      }
    })
  })

  test('counts as a message under way, and has its deadline', async () => {
    const held = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const slow = await startUpstream(async () => {
      arrived.resolve()
      await held.promise
      return {}
    })
    const small = await startService({ MAX_MESSAGES_IN_FLIGHT: '1', MESSAGE_TIMEOUT_MS: '1500' })
    const endpoint = documentOf({ requests: { lookup: [{ id: 'slow', config: { url: slow.url } }] } })
    const first = run({ endpoint, live: true }, small)
    await arrived.promise
    const second = await ask({ endpoint: documentOf({}) }, small)
    assert.deepEqual([second.status, second.json().code], [503, 'OVERLOADED'])
    assert.equal((await first).failure?.code, 'LOOKUP_TIMED_OUT')
    assert.equal((await ask({ endpoint: documentOf({}) }, small)).status, 200)
    held.resolve()
    await small.stop()
    await slow.stop()
  })

  test('shows the start of a text that is large, and reports a value that is', async () => {
    const large = 'x'.repeat(300_000)
    const copies = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`c${n}`, large]))
    const inputTransforms = { all: `$map([1..5], function($n) { requestBody.text & $string($n) })` }
    const report = await run({
      endpoint: documentOf({ inputTransforms, inputMapping: { 'transforms.all': 'all' } }),
      message: { body: { text: copies.c0 ?? '' } },
    })
    assert.equal(report.outcome, 'done')
    const { transforms } = resultsOf(report)
    const at = '/stages/1/output/transforms'
    assert.deepEqual(transforms, { cut: true, reason: 'It has more than 1048576 characters as JSON.', at })
    assert.deepEqual([report.answer.body.length, report.answer.cut], [1_048_576, true])
  })
})
