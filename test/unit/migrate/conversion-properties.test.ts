/** What holds for every document: nothing changes unreported, it registers, and importing it again changes nothing. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isObject, type JsonObject } from '../../../src/core/json.ts'
import { collectInto } from '../../../src/core/lint.ts'
import { parseExpression } from '../../../src/language/jsonata/expression.ts'
import { compileMapping } from '../../../src/language/mapping/mapping.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { convertOne, endpoint, faultsOf, lookup, unreported } from './conversion-rig.ts'

const RUN = { numRuns: LONG ? 250 : 25 }
const CANARY = 'canary-7f3a'

const text = fc.constantFrom('a', 'b', 'x y', 'naïve', '1', 'data', 'with.dot')
const fieldPath = fc.constantFrom('entry', 'entry[].id', 'data.x', 'x', '[0].y', 'headers.etag', 'deep.er.path')
const root = fc.constantFrom(
  'requestBody',
  'query',
  'constants',
  'urlParams',
  'transforms',
  'state.query',
  'nothing',
  'payload',
  'timestamps',
)
const sourcePath = fc.oneof(
  fc.tuple(root, fieldPath).map(([base, rest]) => join(base, rest)),
  fc.tuple(fc.constantFrom('a', 'b', 'none'), fieldPath).map(([id, rest]) => join(`lookupRequests.${id}`, rest)),
  fc.constantFrom('lookupRequests', 'lookupRequests.a', 'requestBody'),
)
const join = (base: string, rest: string) => (rest.startsWith('[') ? base + rest : `${base}.${rest}`)

const target = fc.oneof(
  fc.constantFrom('out', 'out.deep', 'list[].item', 'list[]+', 'out?'),
  fc.record(
    {
      key: fc.constantFrom('out', 'other[].x', ''),
      default: fc.constantFrom(0, 'D', null, false),
      transform: fc.constantFrom(
        'stringify',
        { function: 'passThroughObject' },
        { function: 'booleanify' },
        { function: 'mapCodes', parameters: { a: 'b', default: 'c' } },
        { function: 'unknown' },
        null,
      ),
      note: fc.constant(1),
    },
    { requiredKeys: [] },
  ),
  fc.constantFrom([], ['one', 'two'], [['short', null, 'D']], 7, null),
)

const expression = fc.oneof(
  fc
    .tuple(fc.constantFrom('$exists(', '$count(', '(', '$string('), sourcePath)
    .map(([call, path]) => `${call}${path})`),
  fc.constantFrom(
    '($x := lookupRequests.a; $x.entry)',
    '$keys($$)',
    '$lookup(lookupRequests, "a")',
    '1 +',
    'lookupRequests.*',
  ),
)

const parameter = fc.record(
  {
    path: fc.oneof(sourcePath, fc.constantFrom('payload', 'query.q', 'payload.[1].x')),
    prefix: fc.constantFrom(null, 'p', 3),
    postfix: fc.constantFrom(null, ''),
  },
  { requiredKeys: ['path'] },
)

const url = fc.constantFrom(
  'http://h.example.org/:id/x',
  ` https://u:${CANARY}@h.example.org/x `,
  `http://h.example.org/x?api_key=${CANARY}&a=b c`,
  'http://localhost:3003/other#top',
  'http://h.example.org/a/../b/%',
)

const request = fc.record(
  {
    id: fc.constantFrom('a', 'b', 3),
    _id: fc.constant('65f000000000000000000002'),
    forwardExistingRequestBody: fc.constantFrom(true, false, 'true'),
    forEach: fc.constantFrom(
      {},
      { items: 'payload.list' },
      { items: 'payload.list', concurrency: '2' },
      { items: 'nothing.at.all' },
    ),
    allowedStatuses: fc.constantFrom([], ['2xx', 404], ['*'], ['nope']),
    primary: fc.constant(true),
    config: fc.record(
      {
        method: fc.constantFrom('get', 'POST'),
        url,
        headers: fc.constantFrom(
          { Authorization: `Basic ${CANARY}` },
          { 'X-Count': 3, host: 'h' },
          { accept: 'a/b', Accept: 'c/d' },
          {},
        ),
        params: fc.oneof(
          fc.constant({}),
          fc.dictionary(fc.constantFrom('q', 'query', 'url'), parameter),
          fc.record(
            { query: fc.dictionary(text, parameter), url: fc.dictionary(fc.constant('id'), parameter) },
            { requiredKeys: [] },
          ),
        ),
        timeout: fc.constantFrom(0, 100),
      },
      { requiredKeys: ['url', 'method'] },
    ),
  },
  { requiredKeys: ['id', 'config'] },
)

/** `tag`: before version 3, `headers` is a field of the answer, and no later import can know that. */
const documentWith = (tag: string): fc.Arbitrary<JsonObject> =>
  fc
    .record(
      {
        _id: fc.constant('65f000000000000000000001'),
        description: fc.constantFrom(null, 'text'),
        constants: fc.dictionary(text, fc.constantFrom(1, 'c', null)),
        inputMapping: fc.dictionary(sourcePath, target),
        inputTransforms: fc.dictionary(fc.constantFrom('a', 'b', 'entry'), expression),
        inputValidation: fc.constantFrom(
          {},
          {
            required: ['requestBody'],
            properties: { requestBody: { properties: { x: { type: 'string', pattern: '(?=x)' } } } },
          },
          {
            properties: {
              lookupRequests: {
                required: ['a'],
                properties: { a: { required: ['entry'], properties: { entry: {} } } },
              },
            },
          },
          { $schema: 'http://json-schema.org/draft-04/schema#', required: ['x'] },
        ),
        requests: fc.record({
          lookup: fc.array(request, { maxLength: 3 }),
          response: fc.oneof(fc.array(request, { maxLength: 3 }), request),
        }),
        state: fc.constantFrom(
          {},
          { extract: { query: { page: 'page' }, lookupRequests: { a: { x: 'uuid', tag }, none: { y: 'y' } } } },
          { config: { includeStatuses: ['2xx', 300] } },
        ),
        kafkaConsumerTopic: fc.constant('intake'),
        colour: fc.constant('red'),
      },
      { requiredKeys: [] },
    )
    .map((fields) => endpoint(fields as JsonObject))

describe('every conversion', () => {
  for (const [peerVersion, tag] of [
    ['2.4.0', 'etag'],
    ['3.3.0', 'headers.etag'],
  ] as const) {
    test(`of version ${peerVersion} reports each change, hides credentials, registers, and is repeatable`, async () => {
      await fc.assert(
        fc.asyncProperty(documentWith(tag), async (found) => {
          const { document: converted, changes, secrets } = convertOne(found, { peerVersion })
          assert.deepEqual(unreported(found, converted, changes), [])
          assert.doesNotMatch(JSON.stringify([converted, changes]), new RegExp(CANARY))
          for (const { name } of secrets) assert.match(JSON.stringify(converted), new RegExp(`\\{env:${name}\\}`))
          assert.deepEqual(await faultsOf([{ document: converted }]), [[]])
          const again = convertOne(converted, { peerVersion: '3.3.0' })
          assert.deepEqual(again.document, converted)
          assert.deepEqual(
            again.changes.filter(({ level }) => level === 'changed' || level === 'lost'),
            [],
          )
        }),
        RUN,
      )
    })
  }
})

const value = fc.letrec((tie) => ({
  leaf: fc.constantFrom(1, 'x', true, null, 'entry'),
  tree: fc.oneof(
    { depthSize: 'small' },
    tie('leaf'),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('entry', 'x', 'id', 'data'), tie('tree'), { maxKeys: 3 }),
  ),
})).tree as fc.Arbitrary<JsonObject>

const LOOKUPS = [lookup('a'), lookup('my id')]
const PATHS = [
  'a',
  'a.entry',
  'a.entry[].id',
  'a.entry.id',
  'a[0].x',
  'a[].x',
  'a.*',
  'my id.data',
  'my id.data.x',
  'a.0.x',
]
const EXPRESSIONS = [
  'lookupRequests.a',
  'lookupRequests.a.entry',
  '($x := lookupRequests.a; $x.entry.id)',
  '($all := lookupRequests; $all.a.x)',
  '$keys(lookupRequests)',
  '$lookup(lookupRequests, "a")',
  'lookupRequests.(a.entry)',
  'lookupRequests.*.x',
  'lookupRequests.a[x = 1].entry',
  'lookupRequests.a[0]',
  '$$.lookupRequests.`my id`.data',
  'requestBody.list.($$.lookupRequests.a.x & "!")',
  '$map(lookupRequests.a.entry, function($v) { $v.id })',
  'lookupRequests.a ~> $string',
  'lookupRequests.a@$v.{ "x": $v.x }',
]
const LIMITS = { timeoutMs: 1000, maxDepth: 500, maxSequence: 100_000 }

describe('lookups before version 3', () => {
  const message = fc.record({ a: value, 'my id': value })
  const bare = (data: JsonObject) => ({ requestBody: { list: [1, 2] }, lookupRequests: data })
  const wrapped = (data: JsonObject) =>
    bare(Object.fromEntries(Object.entries(data).map(([id, one]) => [id, { data: one, headers: { entry: 'no' } }])))

  test('a converted mapping gives the same', () => {
    const inputMapping = Object.fromEntries(PATHS.map((path, index) => [`lookupRequests.${path}`, `out${index}`]))
    const { document: converted } = convertOne(endpoint({ requests: { lookup: LOOKUPS }, inputMapping }), {
      peerVersion: '2.0.0',
    })
    const before = compileMapping(inputMapping, collectInto([]))
    const after = compileMapping(converted.inputMapping as JsonObject, collectInto([]))
    fc.assert(
      fc.property(message, (data) => {
        assert.deepEqual(after.apply(wrapped(data as JsonObject)), before.apply(bare(data as JsonObject)))
      }),
      RUN,
    )
  })

  test('converted expressions give the same', async () => {
    const inputTransforms = Object.fromEntries(EXPRESSIONS.map((one, index) => [`t${index}`, one]))
    const { document: converted } = convertOne(endpoint({ requests: { lookup: LOOKUPS }, inputTransforms }), {
      peerVersion: '2.0.0',
    })
    assert.ok(isObject(converted.inputTransforms))
    const pairs = Object.entries(inputTransforms).map(([name, one]) => {
      const before = parseExpression(one, LIMITS)
      const after = parseExpression(String((converted.inputTransforms as JsonObject)[name]), LIMITS)
      assert.ok(before.ok && after.ok)
      return { one, before: before.value, after: after.value }
    })
    await fc.assert(
      fc.asyncProperty(message, async (data) => {
        for (const { one, before, after } of pairs) {
          const expected = await outcome(() => before.evaluate(bare(data as JsonObject)))
          assert.deepEqual(await outcome(() => after.evaluate(wrapped(data as JsonObject))), expected, one)
        }
      }),
      RUN,
    )
  })
})

async function outcome(evaluate: () => unknown): Promise<unknown> {
  try {
    return { value: await evaluate() }
  } catch {
    return 'fails'
  }
}
