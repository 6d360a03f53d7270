/** Running tests of a document: what they give, what they expect, and what makes them fail. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { checkTestFile } from '../../../src/document-tests/check-test-file.ts'
import type { RunTestsOptions } from '../../../src/document-tests/run-tests.ts'
import type { Mismatch, TestReport } from '../../../src/document-tests/test-report.ts'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { createOfflineTests } from '../../../src/wiring/offline-tests.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import { loggerInto, readTestSettings, startUpstream, type Upstream } from '../../support/service.ts'

const run = createOfflineTests(readTestSettings({}), loggerInto([]))

const document = (changes: JsonObject): JsonObject => ({
  name: 'tested',
  endpoint: { pattern: '/tested', method: 'POST' },
  transformation: { input: 'JSON', output: 'JSON' },
  ...changes,
})

const lookup = (id: string, changes: JsonObject = {}, config: JsonObject = {}): JsonObject => ({
  id,
  config: { method: 'GET', url: `http://${id}.test/v`, ...config },
  ...changes,
})

async function reportOf(on: JsonObject, file: Json, options?: RunTestsOptions): Promise<TestReport> {
  const { file: tests, lints } = checkTestFile(file)
  assert.deepEqual(
    lints.filter(({ severity }) => severity === 'error'),
    [],
  )
  return run(on, tests, options)
}

async function mismatchesOf(on: JsonObject, given: JsonObject, expect: JsonObject): Promise<readonly Mismatch[]> {
  const report = await reportOf(on, { tests: [{ name: 'a', given, expect }] })
  assert.ok(report.ran, JSON.stringify(report.lint))
  const [result] = report.tests
  assert.equal(result?.verdict, result?.mismatches.length === 0 ? 'passed' : 'failed')
  return result?.mismatches ?? []
}

type Case = Readonly<{
  name: string
  document?: JsonObject
  given?: JsonObject
  expect: JsonObject
  /** The places that differ; none if the test passes. */
  at?: readonly string[]
}>

const twoLookups = { requests: { lookup: [lookup('one'), lookup('two')] } }
const answers = { one: { body: { v: 1 } }, two: { body: { v: 2 } } }
const message = { body: { x: 1 } }
const forEach = {
  requests: {
    lookup: [
      lookup(
        'each',
        { forEach: { items: 'requestBody.list' } },
        { url: 'http://each.test/:n', params: { url: { n: { path: 'item' } } } },
      ),
    ],
  },
}
const xml = { transformation: { input: 'JSON', output: 'XML' }, inputMapping: { 'requestBody.x': 'a.b' } }
const sends = (...response: readonly JsonObject[]) => ({ requests: { response } })

const CASES: Readonly<Record<string, readonly Case[]>> = {
  'an answer': [
    {
      name: 'all of it',
      expect: {
        outcome: 'done',
        answer: { status: 200, headers: { 'Content-Type': 'application/json' }, body: { x: 1 } },
      },
    },
    { name: 'another status', expect: { answer: { status: 201 } }, at: ['/expect/answer/status'] },
    { name: 'a status that matches', expect: { answer: { status: { $oneOf: [200, 201] } } } },
    {
      name: 'another header',
      expect: { answer: { headers: { 'content-type': { $matches: 'xml' } } } },
      at: ['/expect/answer/headers/content-type'],
    },
    { name: 'no header', expect: { answer: { headers: { 'x-crosswalk-status': { $absent: true } } } } },
    {
      name: 'another body',
      expect: { answer: { body: { x: 2, y: 3 } } },
      at: ['/expect/answer/body/x', '/expect/answer/body/y'],
    },
    { name: 'the text of a body', expect: { answer: { body: { $text: '{"x":1}' } } } },
    { name: 'no body', given: { message: {} }, expect: { answer: { body: {} } } },
    { name: 'XML by its value', document: xml, expect: { answer: { body: { b: '1' } } } },
    { name: 'XML by its text', document: xml, expect: { answer: { body: { $text: { $contains: '<b>1</b>' } } } } },
    { name: 'another outcome', expect: { outcome: 'failed' }, at: ['/expect/outcome'] },
    { name: 'nothing', expect: {} },
  ],
  'what a message is given': [
    {
      name: 'its parts',
      document: {
        endpoint: { pattern: '/tested/:id', method: 'POST' },
        state: { extract: { requestBody: { n: 'a' } } },
        inputMapping: {
          'query.q': 'q',
          'urlParams.id': 'id',
          'requestHeaders.x-h': 'h',
          'state.requestBody.n': 'n',
          'requestBody.a': 'a',
        },
      },
      given: {
        message: {
          body: '{"a":1}',
          contentType: 'application/json',
          query: { q: ['1', '2'] },
          urlParams: { id: '7' },
          headers: { 'X-H': 'h' },
        },
        state: { requestBody: { n: 5 } },
      },
      expect: { mapped: { q: ['1', '2'], id: '7', h: 'h', n: 5, a: 1 } },
    },
    {
      name: 'the default time',
      document: {
        inputTransforms: { t: '$now()', m: '$millis()' },
        inputMapping: { 'transforms.t': 't', 'timestamps.endpointStart': 's' },
      },
      expect: {
        mapped: { t: '2026-01-01T00:00:00.000Z', s: '2026-01-01T00:00:00.000Z' },
        transforms: { m: 1767225600000 },
      },
    },
    {
      name: 'a time',
      document: { inputTransforms: { t: '$now()' } },
      given: { message, now: '2020-02-03T04:05:06+02:00' },
      expect: { transforms: { t: '2020-02-03T02:05:06.000Z' } },
    },
    {
      name: 'durations of nothing',
      document: { ...twoLookups, inputMapping: { 'timestamps.lookupRequests.one': 'one' } },
      given: { message, lookups: answers },
      expect: {
        mapped: {
          one: {
            requestStart: '2026-01-01T00:00:00.000Z',
            requestEnd: '2026-01-01T00:00:00.000Z',
            requestDuration: { milliseconds: 0 },
          },
        },
      },
    },
    {
      name: 'secrets',
      document: {
        constants: { key: `\${env:KEY}`, other: `\${env:OTHER_KEY}` },
        inputMapping: { 'constants.key': 'key', 'constants.other': 'other' },
      },
      given: { message, secrets: { KEY: 'k' } },
      expect: { mapped: { key: 'k', other: 'other-key' } },
    },
    {
      name: 'a secret by its reference',
      document: { constants: { key: `\${env:KEY}` }, inputMapping: { 'constants.key': 'key' } },
      given: { message, secrets: { KEY: 'secret value' } },
      expect: { mapped: { key: `\${env:KEY}` } },
    },
    {
      name: 'a constant id',
      given: { message: { body: '{' } },
      expect: { answer: { body: { $contains: { messageId: '000000000000000000000000' } } } },
    },
  ],
  calls: [
    {
      name: 'all of them',
      document: twoLookups,
      given: { message, lookups: answers },
      expect: {
        calls: [
          { id: 'one' },
          { id: 'two', method: 'GET', url: 'http://two.test/v', headers: { Accept: { $contains: 'json' } } },
        ],
      },
    },
    {
      name: 'in any order of requests',
      document: twoLookups,
      given: { message, lookups: answers },
      expect: { calls: [{ id: 'two' }, { id: 'one' }] },
    },
    {
      name: 'one too few',
      document: twoLookups,
      given: { message, lookups: answers },
      expect: { calls: [{ id: 'one' }] },
      at: ['/expect/calls'],
    },
    {
      name: 'one too many',
      document: twoLookups,
      given: { message, lookups: answers },
      expect: { calls: [{ id: 'one' }, { id: 'two' }, { id: 'two' }] },
      at: ['/expect/calls/2'],
    },
    {
      name: 'another URL',
      document: twoLookups,
      given: { message, lookups: answers },
      expect: { calls: [{ id: 'one', url: 'http://two.test/v' }, { id: 'two' }] },
      at: ['/expect/calls/0/url'],
    },
    {
      name: 'some of them',
      document: twoLookups,
      given: { message, lookups: answers },
      expect: { calls: { $contains: [{ id: 'two', method: 'GET' }] } },
    },
    {
      name: 'any',
      document: twoLookups,
      given: { message, lookups: answers },
      expect: { calls: { $items: { $contains: { kind: 'lookup' } } } },
    },
    { name: 'none', expect: { calls: [] } },
    {
      name: 'of each item',
      document: forEach,
      given: { message: { body: { list: [7, 8] } }, lookups: { each: [{ body: {} }, { body: {} }] } },
      expect: {
        calls: [
          { id: 'each', item: 0, url: 'http://each.test/7' },
          { id: 'each', url: 'http://each.test/8' },
        ],
      },
    },
    {
      name: 'of each item in another order',
      document: forEach,
      given: { message: { body: { list: [7, 8] } }, lookups: { each: { body: {} } } },
      expect: {
        calls: [
          { id: 'each', url: 'http://each.test/8' },
          { id: 'each', url: 'http://each.test/7' },
        ],
      },
      at: ['/expect/calls/0/url', '/expect/calls/1/url'],
    },
    {
      name: 'with a body in XML',
      document: { ...xml, ...sends(lookup('to', {}, { method: 'POST' })) },
      given: { message, responses: { to: { status: 204 } } },
      expect: { calls: [{ id: 'to', method: 'POST', body: { b: '1' } }] },
    },
    {
      name: 'to a topic',
      document: sends({ id: 'to', kafkaProducerTopic: 'orders', key: { path: 'requestBody.x' } }),
      expect: {
        calls: [
          {
            id: 'to',
            topic: 'orders',
            key: '1',
            body: { x: 1 },
            headers: { 'crosswalk.message-id': '000000000000000000000000' },
          },
        ],
      },
    },
    {
      name: 'with a secret by its value',
      document: {
        requests: {
          lookup: [lookup('one', {}, { headers: { authorization: `Bearer \${env:KEY}` }, url: `\${env:BASE}/v` })],
        },
      },
      given: { message, lookups: { one: {} }, secrets: { KEY: 'abc', BASE: 'http://base.test' } },
      expect: { calls: [{ id: 'one', url: `\${env:BASE}/v`, headers: { Authorization: 'Bearer abc' } }] },
    },
  ],
  failures: [
    {
      name: 'its parts',
      document: twoLookups,
      given: { message, lookups: { ...answers, one: { status: 404 } } },
      expect: {
        outcome: 'refused',
        answer: { status: 404 },
        failure: { code: 'LOOKUP_REFUSED', stage: 'lookup', path: 'requests.lookup[0]', status: 404 },
      },
    },
    {
      name: 'a fault',
      document: twoLookups,
      given: { message, lookups: { ...answers, one: { fault: 'timeout' } } },
      expect: { failure: { code: 'LOOKUP_TIMED_OUT' } },
    },
    {
      name: 'another code',
      document: twoLookups,
      given: { message, lookups: { ...answers, one: { status: 404 } } },
      expect: { failure: { code: 'LOOKUP_UNREACHABLE' } },
      at: ['/expect/failure/code'],
    },
    { name: 'none', expect: { failure: { $absent: true } } },
    {
      name: 'one that is not expected',
      given: { message: { body: '{' } },
      expect: { outcome: 'done' },
      at: ['/expect/outcome', '/expect/failure'],
    },
    { name: 'one that did not happen', expect: { failure: { code: 'LOOKUP_REFUSED' } }, at: ['/expect/failure'] },
  ],
  'answers of other systems': [
    {
      name: 'one that is missing',
      document: twoLookups,
      given: { message, lookups: { one: {} } },
      expect: { outcome: 'done' },
      at: ['/given/lookups/two'],
    },
    {
      name: 'all that are missing',
      document: twoLookups,
      given: { message },
      expect: {},
      at: ['/given/lookups/one', '/given/lookups/two'],
    },
    {
      name: 'of an item that is missing',
      document: forEach,
      given: { message: { body: { list: [7, 8] } }, lookups: { each: [{}] } },
      expect: {},
      at: ['/given/lookups/each/1'],
    },
    {
      name: 'one that is missing for an optional lookup',
      document: { requests: { lookup: [lookup('one', { optional: true })] } },
      expect: {},
      at: ['/given/lookups/one'],
    },
    {
      name: 'of a lookup that does not exist',
      document: twoLookups,
      given: { message, lookups: { ...answers, tow: {} } },
      expect: {},
      at: ['/given/lookups/tow'],
    },
    {
      name: 'that nothing asks for',
      document: forEach,
      given: { message: { body: { list: [7] } }, lookups: { each: [{}, {}] } },
      expect: {},
      at: ['/given/lookups/each/1'],
    },
    {
      name: 'of no item',
      document: forEach,
      given: { message: { body: { list: [] } }, lookups: { each: {} } },
      expect: {},
      at: ['/given/lookups/each'],
    },
    {
      name: 'of a response that is not reached',
      document: { ...twoLookups, ...{ requests: { lookup: [lookup('one')], response: [lookup('to')] } } },
      given: { message, lookups: { one: { status: 500 } }, responses: { to: {} } },
      expect: { outcome: 'failed', failure: { code: 'LOOKUP_REFUSED' } },
      at: ['/given/responses/to'],
    },
    {
      name: 'of responses are assumed',
      document: sends(lookup('to', {}, { method: 'POST' })),
      expect: { outcome: 'done', calls: [{ kind: 'response', id: 'to' }] },
    },
  ],
  'what is left': [
    {
      name: 'state',
      document: { state: { extract: { requestBody: { last: 'x' } } } },
      expect: { state: { requestBody: { last: 1 } } },
    },
    {
      name: 'another state',
      document: { state: { extract: { requestBody: { last: 'x' } } } },
      expect: { state: { requestBody: { last: 2 } } },
      at: ['/expect/state/requestBody/last'],
    },
    {
      name: 'a transform',
      document: { inputTransforms: { a: 'requestBody.x + 1', b: '"b"' } },
      expect: { transforms: { a: 2 } },
    },
    {
      name: 'another transform',
      document: { inputTransforms: { a: 'requestBody.x + 1' } },
      expect: { transforms: { a: 3, c: { $absent: true } } },
      at: ['/expect/transforms/a'],
    },
    { name: 'the mapped output', document: { inputMapping: { 'requestBody.x': 'y' } }, expect: { mapped: { y: 1 } } },
  ],
}

for (const [group, cases] of Object.entries(CASES)) {
  describe(group, () => {
    for (const { name, document: changes = {}, given = { message }, expect, at = [] } of cases) {
      test(name, async () => {
        const mismatches = await mismatchesOf(document(changes), given, expect)
        assert.deepEqual(
          mismatches.map(({ path }) => path),
          at,
          JSON.stringify(mismatches),
        )
      })
    }
  })
}

describe('a test', () => {
  test('that is skipped does not run', async () => {
    const report = await reportOf(document({}), {
      tests: [{ name: 'a', skip: 'later', expect: { answer: { status: 1 } } }],
    })
    assert.deepEqual(report.tests, [{ name: 'a', verdict: 'skipped', ms: 0, mismatches: [], reason: 'later' }])
    assert.equal(report.skipped, 1)
  })

  test('that is to be written fails and shows what the message did', async () => {
    const [mismatch] = await mismatchesOf(document({}), { message }, { todo: true })
    assert.equal(mismatch?.path, '/expect/todo')
    assert.match(JSON.stringify(mismatch?.actual), /"outcome":"done"/)
  })

  test('ignores places of the body', async () => {
    const tests = [
      {
        name: 'a',
        given: { message: { body: { x: 1, meta: { at: 2 } } } },
        expect: { answer: { body: { x: 1, meta: {} } } },
      },
    ]
    assert.equal((await reportOf(document({}), { tests })).failed, 1)
    assert.equal((await reportOf(document({}), { ignore: ['/meta/at'], tests })).passed, 1)
  })

  test('with steps gives each the state that the one before left', async () => {
    const kept = document({
      inputMapping: { 'requestBody.x': 'now', 'state.requestBody.last': 'before' },
      state: { extract: { requestBody: { last: 'x' } } },
    })
    const step = (x: number, mapped: JsonObject, state?: JsonObject) => ({
      given: { message: { body: { x } }, ...(state === undefined ? {} : { state }) },
      expect: { mapped },
    })
    const steps = [
      step(1, { now: 1 }),
      step(2, { now: 2, before: 1 }),
      step(3, { now: 3, before: 9 }, { requestBody: { last: 9 } }),
      step(4, { now: 4, before: 2 }),
    ]
    const [result] = (await reportOf(kept, { tests: [{ name: 'a', steps }] })).tests
    assert.deepEqual(
      result?.mismatches.map(({ path }) => path),
      ['/steps/3/expect/mapped/before'],
    )
  })

  test('with steps skips states that state.config skips', async () => {
    const polling = document({
      requests: { lookup: [lookup('one')] },
      inputMapping: { 'state.requestBody.last': 'before' },
      state: { extract: { requestBody: { last: 'x' } }, config: { includeStatuses: ['2xx'] } },
    })
    const step = (x: number, status: number, expect: JsonObject) => ({
      given: { message: { body: { x } }, lookups: { one: { status } } },
      expect,
    })
    const steps = [
      step(1, 200, { mapped: {} }),
      step(2, 503, { outcome: 'failed' }),
      step(3, 200, { mapped: { before: 1 } }),
    ]
    const [result] = (await reportOf(polling, { tests: [{ name: 'a', steps }] })).tests
    assert.deepEqual(result?.mismatches, [])
  })

  test('draws by its name, the same at every run and beside others', async () => {
    const drawing = document({
      inputTransforms: { r: '$random()', s: '$shuffle([1..9])' },
      inputMapping: { 'transforms.r': 'r', 'transforms.s': 's' },
    })
    const taken: JsonObject[] = []
    const tests = ['a', 'b', 'c'].map((name) => ({ name, given: { message }, expect: { snapshot: true } }))
    const runs = Array.from({ length: 4 }, () =>
      reportOf(drawing, { tests }, { onSnapshot: (_test, _step, one) => void taken.push(one) }),
    )
    await Promise.all(runs)
    assert.equal(new Set(taken.map((one) => JSON.stringify(one))).size, 3)
  })

  test('compares with its snapshot, and fails without one', async () => {
    const file = {
      ignore: ['/x'],
      tests: [{ name: 'a', given: { message: { body: { x: 1, y: 2 } } }, expect: { snapshot: true } }],
    }
    const snapshots: Record<string, JsonObject> = {}
    const first = await reportOf(document({}), file, {
      onSnapshot: ({ name }, _step, one) => void Object.assign(snapshots, { [name]: one }),
    })
    assert.match(first.tests[0]?.mismatches[0]?.message ?? '', /no snapshot yet/)
    assert.deepEqual(snapshots.a, {
      outcome: 'done',
      answer: { status: 200, headers: { 'content-type': 'application/json' }, body: { y: 2 } },
    })
    assert.equal((await reportOf(document({}), file, { snapshots })).passed, 1)
    const changed = await reportOf(document({ inputMapping: { 'requestBody.y': 'z' } }), file, { snapshots })
    assert.deepEqual(
      changed.tests[0]?.mismatches.map(({ path }) => path),
      ['/expect/snapshot/answer/body/y', '/expect/snapshot/answer/body/z'],
    )
  })

  test('shows no credentials in mismatches and snapshots', async () => {
    const calling = document({
      requests: { lookup: [lookup('one', {}, { headers: { authorization: 'Basic Y2FuYXJ5' } })] },
    })
    const taken: JsonObject[] = []
    const given = { message, lookups: { one: {} } }
    const report = await reportOf(
      calling,
      {
        tests: [
          { name: 'a', given, expect: { snapshot: true, calls: [{ id: 'one', headers: { authorization: 'x' } }] } },
          { name: 'b', given, expect: { calls: [] } },
          { name: 'c', given, expect: { calls: { $contains: [{ id: 'other' }] } } },
          { name: 'd', given, expect: { calls: { $absent: true } } },
          { name: 'e', given, expect: { calls: { $items: { $literal: {} } } } },
        ],
      },
      { onSnapshot: (_test, _step, one) => void taken.push(one) },
    )
    assert.equal(report.failed, 5)
    assert.ok(!JSON.stringify([report, taken]).includes('Y2FuYXJ5'), JSON.stringify([report, taken]))
    assert.match(JSON.stringify(taken), /\[redacted\] [0-9a-f]{8}/)
  })

  test('has at most fifty mismatches and a last one that counts the others', async () => {
    const many = Array.from({ length: 80 }, (_, n) => n)
    const mismatches = await mismatchesOf(
      document({}),
      { message: { body: many } },
      { answer: { body: many.map((n) => n + 1) } },
    )
    assert.equal(mismatches.length, 51)
    assert.match(mismatches.at(-1)?.message ?? '', /30 more/)
  })
})

describe('all tests', () => {
  let upstream: Upstream
  before(async () => {
    upstream = await startUpstream(() => ({}))
  })
  after(() => upstream.stop())

  test('make no connection, and 200 of them take less than five seconds of processor time', async () => {
    const url = `${upstream.url}/v`
    const calling = document({
      inputTransforms: { sum: '$sum(requestBody.list)', text: '$join($map([1..20], $string), ",")' },
      inputValidation: { required: ['list'], properties: { list: { type: 'array', items: { type: 'number' } } } },
      inputMapping: { 'transforms.sum': 'sum', 'lookupRequests.one.data.v': 'v' },
      requests: {
        lookup: [{ id: 'one', config: { method: 'GET', url } }],
        response: [{ id: 'to', config: { method: 'POST', url } }],
      },
    })
    const tests = Array.from({ length: 200 }, (_, n) => ({
      name: `test ${n}`,
      given: { message: { body: { list: [n, 1] } }, ...(n % 3 === 0 ? {} : { lookups: { one: { body: { v: n } } } }) },
      expect: {
        outcome: 'done',
        calls: [
          { id: 'one', url },
          { id: 'to', body: { sum: n + 1, v: n } },
        ],
      },
    }))
    const cpuMs = startCpuTime()
    const report = await reportOf(calling, { tests })
    const takenMs = cpuMs()
    assert.equal(report.passed, 133)
    assert.equal(report.failed, 67)
    assert.ok(takenMs < 5_000, `${takenMs} ms`)
    assert.equal(upstream.received.length, 0)
  })

  test('do not run on a document with errors', async () => {
    const report = await reportOf(document({ inputTransforms: { a: '$(' } }), {
      tests: [{ name: 'a', expect: { outcome: 'done' } }],
    })
    assert.equal(report.ran, false)
    assert.deepEqual(report.tests, [])
    assert.equal(report.lint.errors[0]?.path, 'inputTransforms.a')
  })

  test('that have not started in time fail', async () => {
    const tests = [{ name: 'a', given: { message }, expect: { outcome: 'done' } }]
    const [result] = (await reportOf(document({}), { tests }, { limitMs: -1 })).tests
    assert.equal(result?.verdict, 'failed')
    assert.match(result?.mismatches[0]?.message ?? '', /did not run/)
  })
})
