/** Running tests of a document: what they give, what they expect, and what makes them fail. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createOfflineTests } from '../../../../src/app/offline.ts'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { checkTestFile } from '../../../../src/try/tests/check-test-file.ts'
import type { RunTestsOptions } from '../../../../src/try/tests/run-tests.ts'
import type { Mismatch, TestReport } from '../../../../src/try/tests/test-file.ts'
import { loggerInto, readTestSettings, startUpstream, type Upstream } from '../../../support/service.ts'
import { makeTable } from '../../../support/tables/tables.ts'

const sexes = await makeTable([
  ['code', 'fhir'],
  ['M', 'male'],
  ['F', 'female'],
])
const tables = new Map([['sex', { name: 'sex', version: 3, table: sexes }]])
const run = createOfflineTests(readTestSettings({}), loggerInto([]), tables)

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

/** At which places it differs; none if the test passes. `document`, `given` and `lookups` in place of those of the group. */
type Case = readonly [
  name: string,
  expect: JsonObject,
  at?: readonly string[],
  own?: Readonly<{ document?: JsonObject; given?: JsonObject; lookups?: JsonObject }>,
]
type Group = Readonly<{ document?: JsonObject; given?: JsonObject; cases: readonly Case[] }>

const message = { body: { x: 1 } }
const answers = { one: { body: { v: 1 } }, two: { body: { v: 2 } } }
const twoLookups = {
  document: { requests: { lookup: [lookup('one'), lookup('two')] } },
  given: { message, lookups: answers },
}
const each = { url: 'http://each.test/:n', params: { url: { n: { path: 'item' } } } }
const forEach = { requests: { lookup: [lookup('each', { forEach: { items: 'requestBody.list' } }, each)] } }
const kept = {
  id: 'kept',
  config: {
    url: `\${env:BASE}/v`,
    headers: { 'X-A': { path: 'requestBody.x' } },
    params: { query: { q: { path: 'requestBody.x' } } },
  },
  delivery: { key: 'requestBody.x' },
}
const xml = { transformation: { input: 'JSON', output: 'XML' }, inputMapping: { 'requestBody.x': 'a.b' } }
const DUE = { timestamps: { scheduledFor: '2026-03-01T01:30:00+01:00' } }
const scheduled = (endpoint: JsonObject = {}): JsonObject => ({
  endpoint,
  schedule: { every: '1d' },
  inputMapping: { 'timestamps.scheduledFor': 'due', requestBody: 'body' },
})
const sends = (...response: readonly JsonObject[]) => ({ requests: { response } })
const keeps = { state: { extract: { requestBody: { last: 'x' } } } }
const items = (list: readonly number[], answer: Json) => ({
  document: forEach,
  given: { message: { body: { list } }, lookups: { each: answer } },
})
const BROKEN = { message: { body: '{' } }
const SECRET = { document: { constants: { key: `\${env:KEY}` }, inputMapping: { 'constants.key': 'key' } } }

const GROUPS: Readonly<Record<string, Group>> = {
  'an answer': {
    cases: [
      [
        'all of it',
        { outcome: 'done', answer: { status: 200, headers: { 'Content-Type': 'application/json' }, body: { x: 1 } } },
      ],
      ['another status', { answer: { status: 201 } }, ['/expect/answer/status']],
      ['a status that matches', { answer: { status: { $oneOf: [200, 201] } } }],
      [
        'another header',
        { answer: { headers: { 'content-type': { $matches: 'xml' } } } },
        ['/expect/answer/headers/content-type'],
      ],
      ['no header', { answer: { headers: { 'x-crosswalk-status': { $absent: true } } } }],
      ['another body', { answer: { body: { x: 2, y: 3 } } }, ['/expect/answer/body/x', '/expect/answer/body/y']],
      ['the text of a body', { answer: { body: { $text: '{"x":1}' } } }],
      ['no body', { answer: { body: {} } }, [], { given: { message: {} } }],
      ['XML by its value', { answer: { body: { b: '1' } } }, [], { document: xml }],
      ['XML by its text', { answer: { body: { $text: { $contains: '<b>1</b>' } } } }, [], { document: xml }],
      ['another outcome', { outcome: 'failed' }, ['/expect/outcome']],
      ['nothing', {}],
    ],
  },
  'what a message is given': {
    cases: [
      [
        'its parts',
        { mapped: { q: ['1', '2'], id: '7', h: 'h', n: 5, a: 1 } },
        [],
        {
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
        },
      ],
      [
        'the default time',
        { mapped: { t: '2026-01-01T00:00:00.000Z', s: '2026-01-01T00:00:00.000Z' }, transforms: { m: 1767225600000 } },
        [],
        {
          document: {
            inputTransforms: { t: '$now()', m: '$millis()' },
            inputMapping: { 'transforms.t': 't', 'timestamps.endpointStart': 's' },
          },
        },
      ],
      [
        'a time',
        { transforms: { t: '2020-02-03T02:05:06.000Z' } },
        [],
        { document: { inputTransforms: { t: '$now()' } }, given: { message, now: '2020-02-03T04:05:06+02:00' } },
      ],
      [
        'durations of nothing',
        {
          mapped: {
            one: {
              requestStart: '2026-01-01T00:00:00.000Z',
              requestEnd: '2026-01-01T00:00:00.000Z',
              requestDuration: { milliseconds: 0 },
            },
          },
        },
        [],
        {
          ...twoLookups,
          document: { ...twoLookups.document, inputMapping: { 'timestamps.lookupRequests.one': 'one' } },
        },
      ],
      ['secrets', { mapped: { key: 'k' } }, [], { ...SECRET, given: { message, secrets: { KEY: 'k' } } }],
      ['a secret that is not given', { mapped: { key: 'key' } }, [], SECRET],
      [
        'a secret by its reference',
        { mapped: { key: `\${env:KEY}` } },
        [],
        { ...SECRET, given: { message, secrets: { KEY: 'secret value' } } },
      ],
      ['a constant id', { answer: { body: { $contains: { messageId: '0'.repeat(24) } } } }, [], { given: BROKEN }],
    ],
  },
  calls: {
    ...twoLookups,
    cases: [
      [
        'all of them',
        {
          calls: [
            { id: 'one' },
            { id: 'two', method: 'GET', url: 'http://two.test/v', headers: { Accept: { $contains: 'json' } } },
          ],
        },
      ],
      ['in any order of requests', { calls: [{ id: 'two' }, { id: 'one' }] }],
      ['one too few', { calls: [{ id: 'one' }] }, ['/expect/calls']],
      ['one too many', { calls: [{ id: 'one' }, { id: 'two' }, { id: 'two' }] }, ['/expect/calls/2']],
      ['another URL', { calls: [{ id: 'one', url: 'http://two.test/v' }, { id: 'two' }] }, ['/expect/calls/0/url']],
      ['some of them', { calls: { $contains: [{ id: 'two', method: 'GET' }] } }],
      ['any', { calls: { $items: { $contains: { kind: 'lookup' } } } }],
      ['none', { calls: [] }, [], { document: {}, given: { message } }],
      [
        'of each item',
        {
          calls: [
            { id: 'each', item: 0, url: 'http://each.test/7' },
            { id: 'each', url: 'http://each.test/8' },
          ],
        },
        [],
        items([7, 8], [{ body: {} }, { body: {} }]),
      ],
      [
        'of each item in another order',
        {
          calls: [
            { id: 'each', url: 'http://each.test/8' },
            { id: 'each', url: 'http://each.test/7' },
          ],
        },
        ['/expect/calls/0/url', '/expect/calls/1/url'],
        items([7, 8], { body: {} }),
      ],
      [
        'with a body in XML',
        { calls: [{ id: 'to', method: 'POST', body: { b: '1' } }] },
        [],
        {
          document: { ...xml, ...sends(lookup('to', {}, { method: 'POST' })) },
          given: { message, responses: { to: { status: 204 } } },
        },
      ],
      [
        'to a topic',
        {
          calls: [
            {
              id: 'to',
              topic: 'orders',
              key: '1',
              body: { x: 1 },
              headers: { 'crosswalk.message-id': '0'.repeat(24) },
            },
          ],
        },
        [],
        {
          document: sends({ id: 'to', kafkaProducerTopic: 'orders', key: { path: 'requestBody.x' } }),
          given: { message },
        },
      ],
      [
        'with a secret by its value',
        { calls: [{ id: 'one', url: `\${env:BASE}/v`, headers: { Authorization: 'Bearer abc' } }] },
        [],
        {
          document: {
            requests: {
              lookup: [lookup('one', {}, { headers: { authorization: `Bearer \${env:KEY}` }, url: `\${env:BASE}/v` })],
            },
          },
          given: { message, lookups: { one: {} }, secrets: { KEY: 'abc', BASE: 'http://base.test' } },
        },
      ],
    ],
  },
  deliveries: {
    document: { requests: { response: [kept, lookup('to', {}, { method: 'POST' })] } },
    given: { message },
    cases: [
      [
        'all of them, which are no calls',
        {
          answer: { body: { $contains: { kept: { state: 'pending', delivery: '0'.repeat(24) } } } },
          calls: [{ kind: 'response', id: 'to' }],
          deliveries: [
            {
              id: 'kept',
              method: 'POST',
              url: `\${env:BASE}/v?q=1`,
              orderKey: '1',
              headers: { 'Content-Type': 'application/json', 'X-A': '1' },
              body: { x: 1 },
            },
          ],
        },
      ],
      ['another key', { deliveries: [{ id: 'kept', orderKey: '2' }] }, ['/expect/deliveries/0/orderKey']],
      ['another body', { deliveries: [{ id: 'kept', body: { x: 2 } }] }, ['/expect/deliveries/0/body/x']],
      ['one too few', { deliveries: [] }, ['/expect/deliveries']],
      ['one too many', { deliveries: [{ id: 'kept' }, { id: 'to' }] }, ['/expect/deliveries/1']],
      ['some of them', { deliveries: { $contains: [{ id: 'kept', method: 'POST' }] } }],
      [
        'of each item',
        {
          answer: { status: 202 },
          deliveries: [
            { id: 'kept', item: 0, body: 7 },
            { id: 'kept', item: 1, body: 8 },
          ],
        },
        [],
        {
          document: sends({ ...kept, forEach: { items: 'requestBody.list' }, delivery: {} }),
          given: { message: { body: { x: 1, list: [7, 8] } } },
        },
      ],
    ],
  },
  failures: {
    ...twoLookups,
    cases: [
      [
        'its parts',
        {
          outcome: 'refused',
          answer: { status: 404 },
          failure: { code: 'LOOKUP_REFUSED', stage: 'lookup', path: 'requests.lookup[0]', status: 404 },
        },
        [],
        { lookups: { one: { status: 404 } } },
      ],
      ['a fault', { failure: { code: 'LOOKUP_TIMED_OUT' } }, [], { lookups: { one: { fault: 'timeout' } } }],
      ['another code', { failure: { code: 'X' } }, ['/expect/failure/code'], { lookups: { one: { status: 404 } } }],
      ['none', { failure: { $absent: true } }],
      [
        'one that is not expected',
        { outcome: 'done' },
        ['/expect/failure', '/expect/outcome'],
        { document: {}, given: BROKEN },
      ],
      ['one that did not happen', { failure: { code: 'LOOKUP_REFUSED' } }, ['/expect/failure']],
    ],
  },
  'answers of other systems': {
    ...twoLookups,
    cases: [
      [
        'one that is missing',
        { outcome: 'done' },
        ['/given/lookups/two'],
        { given: { message, lookups: { one: {} } } },
      ],
      ['all that are missing', {}, ['/given/lookups/one', '/given/lookups/two'], { given: { message } }],
      ['of an item that is missing', {}, ['/given/lookups/each/1'], items([7, 8], [{}])],
      [
        'one that is missing for an optional lookup',
        {},
        ['/given/lookups/one'],
        { document: { requests: { lookup: [lookup('one', { optional: true })] } }, given: { message } },
      ],
      ['of a lookup that does not exist', {}, ['/given/lookups/tow'], { lookups: { tow: {} } }],
      ['that nothing asks for', {}, ['/given/lookups/each/1'], items([7], [{}, {}])],
      ['of no item', {}, ['/given/lookups/each'], items([], {})],
      [
        'of a response that is not reached',
        { outcome: 'failed', failure: { code: 'LOOKUP_REFUSED' } },
        ['/given/responses/to'],
        {
          document: { requests: { lookup: [lookup('one')], response: [lookup('to')] } },
          given: { message, lookups: { one: { status: 500 } }, responses: { to: {} } },
        },
      ],
      [
        'of responses are assumed',
        { outcome: 'done', calls: [{ kind: 'response', id: 'to' }] },
        [],
        { document: sends(lookup('to', {}, { method: 'POST' })), given: { message } },
      ],
    ],
  },
  'a run of a schedule': {
    document: scheduled(),
    given: {},
    cases: [
      ['is due now, and has no body', { answer: { body: { due: '2026-01-01T00:00:00.000Z', body: {} } } }],
      [
        'is due at the time that it gives',
        { answer: { body: { due: '2026-03-01T00:30:00.000Z', body: {} } } },
        [],
        { given: { message: DUE } },
      ],
      [
        'is a request beside a route',
        { mapped: { due: { $absent: true }, body: { x: 1 } } },
        [],
        { document: scheduled({ pattern: '/both' }), given: { message } },
      ],
      [
        'beside a route says when it was due',
        { answer: { body: { due: '2026-03-01T00:30:00.000Z', body: {} } } },
        [],
        { document: scheduled({ pattern: '/both' }), given: { message: DUE } },
      ],
      [
        'fails if one of its requests fails',
        { outcome: 'failed' },
        [],
        {
          document: { ...scheduled(), ...sends(lookup('to'), lookup('other')) },
          given: { responses: { to: { status: 500 } } },
        },
      ],
      [
        'of an endpoint without a schedule',
        {},
        ['/given/message/timestamps'],
        { document: {}, given: { message: DUE } },
      ],
    ],
  },
  'what is left': {
    cases: [
      ['state', { state: { requestBody: { last: 1 } } }, [], { document: keeps }],
      [
        'another state',
        { state: { requestBody: { last: 2 } } },
        ['/expect/state/requestBody/last'],
        { document: keeps },
      ],
      [
        'a transform, and another one',
        { transforms: { a: 2, b: 'c', c: { $absent: true } } },
        ['/expect/transforms/b'],
        { document: { inputTransforms: { a: 'requestBody.x + 1', b: '"b"' } } },
      ],
      ['the mapped output', { mapped: { y: 1 } }, [], { document: { inputMapping: { 'requestBody.x': 'y' } } }],
    ],
  },
}

for (const [group, { document: common = {}, given: usual = { message }, cases }] of Object.entries(GROUPS)) {
  describe(group, () => {
    for (const [name, expect, at = [], own = {}] of cases) {
      test(name, async () => {
        const { document: changes = common, given = usual, lookups } = own
        const all = lookups === undefined ? given : { ...given, lookups: { ...answers, ...lookups } }
        const mismatches = await mismatchesOf(document(changes), all, expect)
        const paths = mismatches.map(({ path }) => path)
        assert.deepEqual(paths, at, JSON.stringify(mismatches))
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
    const paths = result?.mismatches.map(({ path }) => path)
    assert.deepEqual(paths, ['/steps/3/expect/mapped/before'])
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

  test('reads the tables that it gives, and those of the project', async () => {
    const parameters = { table: 'unit', missing: '?' }
    const reads = document({
      inputTransforms: { sex: '$table("sex", requestBody.sex)' },
      inputMapping: {
        'transforms.sex': 'sex',
        'requestBody.unit': { key: 'unit', transform: { function: 'table', parameters } },
      },
    })
    const message = { body: { sex: 'M', unit: 'MG' } }
    const step = (given: JsonObject, sex: string, unit: string): JsonObject => ({
      given: { message, tables: given },
      expect: { answer: { body: { sex, unit } } },
    })
    const unit = 'code,ucum\nMG,mg\n'
    const steps = [
      step({ unit }, 'male', 'mg'),
      step({ unit: [{ code: 'MG', ucum: 'Mg' }], sex: { columns: ['code', 'fhir'], rows: [['M', 'm']] } }, 'm', 'Mg'),
      step({ unit: { columns: ['code', 'ucum'], rows: [] } }, 'male', '?'),
      step({ unit: [{ code: 'KG', ucum: 'kg' }], sex: 'code,fhir\nX,x\nM,n\n' }, 'n', '?'),
      step({ unit: 'code\nMG' }, '', ''),
      { given: { message }, expect: { failure: { code: 'TABLE_MISSING' } } },
    ]
    const report = await reportOf(reads, { tests: [{ name: 'a', steps }] }, { coverage: true })
    const mismatches = report.tests[0]?.mismatches.map(({ path, message }) => [path, message.slice(0, 44)])
    assert.deepEqual(mismatches, [['/steps/4/given/tables/unit', 'line 1: The table needs at least two columns']])
    assert.deepEqual(report.coverage?.tables, [
      { table: 'sex', rows: 2, used: 1 },
      { table: 'unit', rows: 2, used: 1 },
    ])
    const own = step({ unit, sex: 'code,fhir\nQ,q\nM,m\n' }, 'q', 'mg') as { given: JsonObject }
    const given = { ...own.given, message: { body: { sex: 'Q', unit: 'MG' } } }
    const steps2 = [{ ...own, given }, step({ unit }, 'male', 'mg')]
    const mixed = await reportOf(reads, { tests: [{ name: 'a', steps: steps2 }] }, { coverage: true })
    const unread = step({ unit, sax: 'code,fhir\nM,m\n' }, 'male', 'mg')
    const { tests: judged } = await reportOf(reads, { tests: [{ name: 'a', steps: [unread] }] })
    const sentence = 'The message reads no table "sax"; did you mean "sex"?'
    assert.deepEqual(judged[0]?.mismatches, [{ path: '/steps/0/given/tables/sax', message: sentence }])
    // A name that an expression computes is not known before.
    const computes = document({
      inputTransforms: { sex: '$table(requestBody.name, "M")' },
      inputMapping: { 'transforms.sex': 'sex' },
    })
    const computed = { message: { body: { name: 'any' } }, tables: { any: 'code,fhir\nM,m\n' } }
    assert.deepEqual(await mismatchesOf(computes, computed, { answer: { body: { sex: 'm' } } }), [])
    // Rows of a test are none of the project's table.
    assert.deepEqual(mixed.coverage?.tables, [
      { table: 'unit', rows: 1, used: 1 },
      { table: 'sex', rows: 2, used: 1 },
    ])
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
    const paths = changed.tests[0]?.mismatches.map(({ path }) => path)
    assert.deepEqual(paths, ['/expect/snapshot/answer/body/y', '/expect/snapshot/answer/body/z'])
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

  test('make no connection', async () => {
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
    const report = await reportOf(calling, { tests })
    assert.deepEqual([report.passed, report.failed], [133, 67])
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
