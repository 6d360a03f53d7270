/** `POST /endpoints/suggest`: which entries are suggested, and that they do what they say. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { checkParsed } from '../../../../src/api/check-call.ts'
import { Failure } from '../../../../src/core/failure.ts'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { parsePath } from '../../../../src/language/paths/path.ts'
import { createFhirShapes } from '../../../../src/try/fhir-shapes.ts'
import { readGiven } from '../../../../src/try/suggestions/examples.ts'
import { createSuggest } from '../../../../src/try/suggestions/suggest.ts'
import type { Suggested } from '../../../../src/try/suggestions/suggest-answer.ts'
import {
  lintSuggestRequest,
  SUGGESTION_INVALID,
  SuggestRequest,
} from '../../../../src/try/suggestions/suggest-request.ts'
import { bearer, startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { names } from '../../../support/fuzz/arbitraries.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { json, type Service, startService } from '../../../support/service.ts'

const settings = { parserXmlTrim: true, parserXmlExplicitRoot: true, parserXmlExplicitArray: false }
const run = createSuggest({
  settings,
  readDocument: () => Promise.reject(new Error('no document is stored')),
  readRecorded: () => Promise.reject(new Error('no message is recorded')),
  readExamples: async (request) => readGiven(request),
  runPairs: () => Promise.reject(new Error('no document runs')),
  readShape: createFhirShapes(new URL('../../../../dist/fhir-r4.json', import.meta.url)).leaves,
})
const check = { ...SUGGESTION_INVALID, also: lintSuggestRequest }
const suggest = async (request: JsonObject): Promise<Suggested> => {
  const { body } = checkParsed({ raw: request, faults: [] }, SuggestRequest, check)
  return run(body as SuggestRequest, () => undefined)
}

/** What comes, what is to be made of it, and the entries that are suggested. */
type Case = readonly [name: string, source: JsonObject, target: JsonObject, entries: Readonly<Record<string, unknown>>]

const cases: readonly Case[] = [
  ['of the same name', { body: { id: 'a' } }, { sample: { id: 'b' } }, { 'requestBody.id': 'id' }],
  [
    'in other letters and with underscores',
    { body: { birth_date: '1980-01-02', FamilyName: 'x' } },
    { sample: { birthDate: '2000-01-01', 'family-name': 'y' } },
    { 'requestBody.birth_date': 'birthDate', 'requestBody.FamilyName': 'family-name' },
  ],
  [
    'of a similar name only if the rest fits',
    { body: { patient: { familyName: 'x' }, zip: 'y' } },
    { sample: { patient: { family: 'x' }, colour: 'y' } },
    { 'requestBody.patient.familyName': 'patient.family' },
  ],
  [
    'in the place that is more alike',
    { body: { patient: { name: 'x' }, doctor: { name: 'y' } } },
    { sample: { doctor: { name: 'x' }, patient: { name: 'y' } } },
    { 'requestBody.patient.name': 'patient.name', 'requestBody.doctor.name': 'doctor.name' },
  ],
  [
    'converted to the type of the target',
    { body: { nr: 1, count: '12', active: 'true', when: '2024-01-02T03:04:05Z', flag: false } },
    { sample: { nr: 'x', count: 1, active: true, when: '2024-01-02', flag: true } },
    {
      'requestBody.nr': { key: 'nr', transform: 'stringify' },
      'requestBody.count': { key: 'count', transform: 'numberify' },
      'requestBody.active': { key: 'active', transform: 'booleanify' },
      'requestBody.when': { key: 'when', transform: 'dateTimeToDate' },
      'requestBody.flag': 'flag',
    },
  ],
  [
    'not of types that do not fit',
    { body: { nr: 'abc', active: 'maybe', code: ['a'] } },
    { sample: { nr: 1, active: true, code: 'a' } },
    {},
  ],
  [
    'in lists, element by element',
    { body: { lines: [{ sku: 'a', amount: 1 }] } },
    { sample: { lines: [{ sku: 'a', amount: 2 }] } },
    { 'requestBody.lines[].sku': 'lines[].sku', 'requestBody.lines[].amount': 'lines[].amount' },
  ],
  [
    'that are lists themselves',
    { body: { tags: ['a', 'b'], mark: 'x' } },
    { sample: { tags: ['c'], mark: ['d'] } },
    { 'requestBody.tags': 'tags', 'requestBody.mark': 'mark[]' },
  ],
  [
    'not from lists within lists, which are joined when they are read',
    { body: { a: [{ b: [{ code: 'x' }], tags: ['t'] }] } },
    { sample: { a: [{ b: [{ code: 'x' }], tags: ['t'] }] } },
    {},
  ],
  [
    'of other parts of a message',
    {
      body: { x: 1 },
      query: { page: '1' },
      urlParams: { id: 'a' },
      lookups: { patient: { body: { gender: 'f' } }, each: [{ body: { price: 1 } }] },
    },
    { sample: { page: '2', id: 'b', gender: 'm', items: [{ price: 2 }] } },
    {
      'query.page': 'page',
      'urlParams.id': 'id',
      'lookupRequests.patient.data.gender': 'gender',
      'lookupRequests.each[].data.price': 'items[].price',
    },
  ],
  [
    'of XML',
    { body: '<order><number>7</number></order>', contentType: 'application/xml' },
    { sample: '{"number":"8"}' },
    { 'requestBody.order.number': 'number' },
  ],
  [
    'of a JSON Schema',
    { body: { patient: { birthDate: '1980-01-02', gender: 'f' }, total: 1 } },
    {
      schema: {
        $defs: {
          person: { properties: { birthDate: { type: 'string', format: 'date' }, gender: { enum: ['f', 'm'] } } },
        },
        properties: { patient: { $ref: '#/$defs/person' } },
        allOf: [{ properties: { total: { type: ['integer', 'null'] } } }],
      },
    },
    {
      'requestBody.patient.birthDate': 'patient.birthDate',
      'requestBody.patient.gender': 'patient.gender',
      'requestBody.total': 'total',
    },
  ],
  [
    'of a schema that refers to itself',
    { body: { name: 'x', child: { name: 'y' } } },
    { schema: { properties: { name: { type: 'string' }, child: { $ref: '#' } } } },
    { 'requestBody.name': 'name', 'requestBody.child.name': 'child.name' },
  ],
  [
    'whose names have characters of paths',
    { body: { 'a.b': 1, 'c[]': 'x', 'really?': 'y', '*': 'z' } },
    { sample: { 'a.b': 2, 'c[]': 'x', 'really?': 'y', constructor: 'z' } },
    { 'requestBody.a\\.b': 'a\\.b', 'requestBody.c\\[\\]': 'c\\[\\]', 'requestBody.really?': 'really\\?' },
  ],
]

describe('hostile samples cost no more than others', () => {
  const children = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, index]))
  const below = (name: string) => ({ [name]: children })
  const filler = 'x'.repeat(100_000)
  const schemaOf = (reference: string, length: number) => ({
    definitions: { one: { $ref: reference } },
    allOf: Array.from({ length }, () => ({ $ref: '#/definitions/one' })),
    description: filler,
  })
  const sides = (source: JsonObject, sample: JsonObject) => ({ source: { body: source }, target: { sample } })
  const hostile: readonly Readonly<{ name: string; request: JsonObject; usual: JsonObject; cut: boolean }>[] = [
    {
      name: 'a name of many characters above many fields',
      request: sides(below('n'.repeat(100_000)), below('n'.repeat(100_000))),
      usual: sides({ ...below('n'), filler }, { ...below('n'), filler }),
      cut: true,
    },
    {
      name: 'many levels of long names',
      request: sides(nestedIn('n'.repeat(2_000), 40, children), nestedIn('n'.repeat(2_000), 40, children)),
      usual: sides({ ...below('n'), filler }, { ...below('n'), filler }),
      cut: true,
    },
    {
      name: 'many references to a pointer of many names',
      request: { source: { body: { a: 1 } }, target: { schema: schemaOf(`#${'/'.repeat(100_000)}`, 300) } },
      usual: { source: { body: { a: 1 } }, target: { schema: schemaOf('#/definitions/none', 300) } },
      cut: false,
    },
    {
      name: 'a name of many characters above many faults',
      request: { source: { lookups: below('n'.repeat(100_000)) }, target: { sample: 1 } },
      usual: { source: { lookups: below('n') }, target: { sample: 1 }, filler },
      cut: false,
    },
  ]
  for (const { name, request, usual, cut } of hostile) {
    test(name, async () => {
      const settled = (one: JsonObject) => suggest(one).catch((thrown: Failure) => thrown)
      const ratio = await timesAsCostly(
        () => settled(request),
        () => settled(usual),
      )
      assert.ok(ratio < 15, `${ratio.toFixed(1)} times the processor time`)
      const result = await settled(request)
      if (result instanceof Failure) {
        assert.ok(result.options.details?.every(({ path }) => path !== undefined && path.length <= 1_001))
      } else assert.equal(result.cut, cut)
    })
  }
})

function nestedIn(name: string, levels: number, inner: JsonObject): JsonObject {
  return levels === 0 ? inner : { [name]: nestedIn(name, levels - 1, inner) }
}

describe('suggested are fields', () => {
  for (const [name, source, target, entries] of cases) {
    test(name, async () => {
      const { suggestions, cut } = await suggest({ source, target })
      assert.deepEqual(Object.fromEntries(suggestions.map((one) => [one.source, one.to])), entries)
      assert.equal(cut, false)
      for (const { score, reason } of suggestions) {
        assert.ok(score >= 0.5 && score <= 1)
        assert.match(reason, /^(the same|a similar) name/)
      }
    })
  }

  test('from the pages of a lookup, as one list', async () => {
    const page = { next: 'page.data.next', max: 9 }
    const { suggestions } = await suggest({
      source: { lookups: { search: [{ body: { total: 1 } }, { body: { total: 2 } }] } },
      target: { sample: { pages: [{ total: 1 }] } },
      endpoint: { requests: { lookup: [{ id: 'search', config: { url: 'http://x.example/' }, page }] } },
    })
    assert.deepEqual(
      suggestions.map(({ source, to }) => [source, to]),
      [['lookupRequests.search.data[].total', 'pages[].total']],
    )
  })

  test('best first, with the reason', async () => {
    const { suggestions } = await suggest({
      source: { body: { a: { code: 'x' }, number: 1 } },
      target: { sample: { number: '1', a: { code: 'y' } } },
    })
    assert.deepEqual(suggestions, [
      {
        source: 'requestBody.a.code',
        target: 'a.code',
        to: 'a.code',
        score: 1,
        reason: 'the same name, in the same place, the same type (string)',
      },
      {
        source: 'requestBody.number',
        target: 'number',
        to: { key: 'number', transform: 'stringify' },
        score: 0.93,
        reason: 'the same name, in the same place, converted to a string',
      },
    ])
  })

  test('that a document does not map already, its constants among them', async () => {
    const endpoint = {
      inputMapping: { 'requestBody.id': ['nr', { key: 'code' }] },
      constants: { system: 'x' },
      inputTransforms: { total: '1' },
    }
    const { suggestions } = await suggest({
      source: { body: { id: 'a', code: 'b', name: 'c' } },
      target: { sample: { id: 'a', code: 'b', name: 'c', system: 'd', total: 5 } },
      endpoint,
    })
    assert.deepEqual(suggestions.map(({ source, target }) => `${source} ${target}`).toSorted(), [
      'constants.system system',
      'requestBody.name name',
      'transforms.total total',
    ])
  })

  test('for targets of a document whose sources are gone', async () => {
    const { suggestions } = await suggest({
      source: { body: { person: { birthDate: 'x', name: 'y' }, list: [{ nr: 1 }], id: 1, code: 'z' } },
      endpoint: {
        constants: { template: {} },
        inputMapping: {
          'requestBody.dob': 'birthDate',
          'requestBody.id': 'id',
          'requestBody.person': 'name',
          'requestBody.list[].nr': 'person',
          'constants.template': 'code',
        },
      },
    })
    const shown = suggestions.map(({ source, to }) => [source, to])
    assert.deepEqual(shown, [['requestBody.person.birthDate', 'birthDate']])
  })
})

describe('the output of the message is the target', () => {
  const born = '1980-02-03T04:05:06Z'
  const withValues: readonly (readonly [name: string, body: Json, sample: Json, entries: Json])[] = [
    ['another name', { nid: '4711-22' }, { identifier: '4711-22' }, { 'requestBody.nid': 'identifier' }],
    [
      'a name that is right elsewhere',
      { id: 'row-1', patient: 'Ann Smith' },
      { id: 'Ann Smith', row: 'row-1' },
      { 'requestBody.id': 'row', 'requestBody.patient': 'id' },
    ],
    [
      'converted',
      { nr: 471_122, total: '1250.75', dob: born },
      { identifier: '471122', amount: 1250.75, birth: '1980-02-03' },
      {
        'requestBody.nr': { key: 'identifier', transform: 'stringify' },
        'requestBody.total': { key: 'amount', transform: 'numberify' },
        'requestBody.dob': { key: 'birth', transform: 'dateTimeToDate' },
      },
    ],
    [
      'in lists',
      { rows: [{ sku: 'A-100' }, { sku: 'B-200' }], tags: ['red', 'blue'] },
      { items: [{ code: 'A-100' }, { code: 'B-200' }], colours: ['red', 'blue'] },
      { 'requestBody.rows[].sku': 'items[].code', 'requestBody.tags': 'colours' },
    ],
    ['short values are equal by accident', { a: 'yes', b: true, c: 7 }, { x: 'yes', y: true, z: 7 }, {}],
    [
      'of many equal ones the names decide',
      Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field${at}`, 'the same text'])),
      { field7: 'the same text', other: 'the same text' },
      { 'requestBody.field7': 'field7' },
    ],
  ]
  for (const [name, body, sample, entries] of withValues) {
    test(name, async () => {
      const { suggestions, cut } = await suggest({ source: { body }, target: { sample } })
      assert.deepEqual(Object.fromEntries(suggestions.map(({ source, to }) => [source, to])), entries)
      assert.equal(cut, false)
      assert.ok(suggestions.every(({ score }) => score >= 0.5 && score <= 1))
    })
  }

  test('is the reason that is given', async () => {
    const { suggestions } = await suggest({
      source: { body: { nid: '4711-22', name: 'Ann Smith' } },
      target: { sample: { identifier: '4711-22', name: 'Ann Smith' } },
    })
    const place = 'in the same place, the same value, the same type (string)'
    assert.deepEqual(
      suggestions.map(({ target, score, reason }) => [target, score, reason]),
      [
        ['name', 1, `the same name, ${place}`],
        ['identifier', 0.69, place],
      ],
    )
  })
})

test('the fields of a target are listed if asked for', async () => {
  const sample = { id: 'x', tags: [1], 'a.b': null, list: [{ on: true }] }
  const { fields } = await suggest({ source: {}, target: { sample }, fields: true })
  assert.deepEqual(fields, [
    { path: 'id', types: ['string'] },
    { path: 'tags[]', types: ['number'] },
    { path: 'a\\.b', types: [] },
    { path: 'list[].on', types: ['boolean'] },
  ])
  assert.equal((await suggest({ source: {}, target: { sample } })).fields, undefined)
})

test('the fields of a schema that it requires, and those that are required by all around them, are marked', async () => {
  const text = { type: 'string' }
  const name = { required: ['family'], properties: { family: text, given: text } }
  const schema = {
    definitions: { name },
    required: ['id', 'name', 'lines', 'kind'],
    properties: {
      id: text,
      name: { $ref: '#/definitions/name' },
      formerName: { $ref: '#/definitions/name' },
      lines: { type: 'array', items: { required: ['code'], properties: { code: text, text } } },
      note: text,
    },
    allOf: [{ properties: { kind: text, status: text, note: text } }, { required: ['status'] }],
    anyOf: [{ required: ['phone'], properties: { phone: text } }],
  }
  const { fields = [] } = await suggest({ source: {}, target: { schema }, fields: true })
  const required = fields.filter((field) => field.required === true).map(({ path }) => path)
  assert.deepEqual(required.toSorted(), ['id', 'kind', 'lines[].code', 'name.family', 'status'])
  assert.equal(fields.length, 11)
})

describe('a request', () => {
  const target = { sample: {} }
  const refused: readonly (readonly [request: Json, ...paths: string[]])[] = [
    [[], ''],
    [{}, '', ''],
    [{ source: {}, messageId: 'x', target }, ''],
    [{ source: {}, endpoint: {}, endpointId: 'x' }, ''],
    [{ source: {}, target: {} }, 'target'],
    [{ source: { bdy: 1 }, target }, 'source.bdy'],
    [{ source: { body: 'abc' }, target: { sample: 'x' } }, 'source.body', 'target.sample'],
    [{ source: { body: '{', contentType: 'application/json' }, target }, 'source.body'],
    [{ source: { lookups: { a: 7, b: [{ x: 1 }] } }, target }, 'source.lookups.a', 'source.lookups.b[0].x'],
  ]
  for (const [request, ...paths] of refused) {
    test(`${JSON.stringify(request)} is refused with every fault`, async () => {
      const thrown = await suggest(request as JsonObject).catch((failure: Failure) => failure)
      assert.ok(thrown instanceof Failure && thrown.code === 'SUGGESTION_INVALID')
      const places = thrown.options.details?.map(({ path }) => path)
      assert.deepEqual(places, paths)
    })
  }

  test('of any size says what was left out', async () => {
    const wide = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`${prefix}${n}`, { code_value_text: n, value: 1 }]))
    const { suggestions, cut } = await suggest({ source: { body: wide('a') }, target: { sample: wide('b') } })
    assert.equal(cut, true)
    assert.ok(suggestions.length <= 5_000)
  })
})

test('every suggestion is an entry that a mapping takes, and that writes the value it reads', async () => {
  const scalar = fc.oneof(fc.integer(), fc.boolean(), fc.constantFrom('text', '12', '2024-01-02', '2024-01-02T03:04Z'))
  const field = fc.oneof(names, fc.constantFrom('a.b', 'x?', '[]', '*', 'q+', '\\', 'given name', 'givenName'))
  const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.dictionary(field, tie('tree'), { maxKeys: 5 }),
      fc.array(tie('tree'), { maxLength: 2 }),
    ),
  }))
  let suggested = 0
  await fc.assert(
    fc.asyncProperty(tree, tree, async (body, sample) => {
      const { suggestions } = await suggest({ source: { body: { top: body } }, target: { sample: { top: sample } } })
      for (const { source, to } of suggestions) {
        suggested += 1
        const lints: Lint[] = []
        const mapping = compileMapping({ [source]: to }, collectInto(lints))
        assert.deepEqual(lints, [], `${source} ${JSON.stringify(to)}`)
        const message = { requestBody: { top: body } }
        const path = parsePath(source)
        assert.ok(path.ok)
        const found = path.value.read(message)
        if (found === undefined || found === null) continue
        assert.notDeepEqual(mapping.apply(message), {}, `${source} finds ${JSON.stringify(found)}`)
      }
    }),
    { numRuns: LONG ? 500 : 150 },
  )
  assert.ok(suggested > 15, `${suggested} suggestions`)
})

test('any schema is followed without an end', async () => {
  const keyword = fc.constantFrom(...'properties items allOf anyOf $ref type enum const $defs a'.split(' '))
  const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom('#', '#/properties/a', '#/$defs/a', '#/%zz', 'string', 'integer', 7, null, true),
      fc.dictionary(keyword, tie('schema'), { maxKeys: 4 }),
      fc.array(tie('schema'), { maxLength: 3 }),
    ),
  }))
  await fc.assert(
    fc.asyncProperty(fc.dictionary(keyword, schema), async (target) => {
      const { suggestions } = await suggest({ source: { body: { a: 1, items: 'x' } }, target: { schema: target } })
      assert.ok(suggestions.every(({ score }) => score <= 1))
    }),
    { numRuns: LONG ? 300 : 100 },
  )
})

test('a chain of references is followed for a part of its length only', async () => {
  const chain = (length: number): JsonObject => ({
    ...Object.fromEntries(Array.from({ length }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }])),
    [`d${length}`]: { type: 'string' },
  })
  const suggestFor = ($defs: JsonObject) =>
    suggest({
      source: { body: { a: 'x', b: 'y' } },
      target: { schema: { $defs, properties: { a: { $ref: '#/$defs/d0' }, b: { type: 'string' } } } },
    })
  const short = await suggestFor(chain(10))
  assert.deepEqual([short.suggestions.map(({ target }) => target).toSorted(), short.cut], [['a', 'b'], false])
  const long = await suggestFor(chain(20_000))
  assert.deepEqual([long.suggestions.map(({ target }) => target), long.cut], [['b'], true])
})

describe('over HTTP', () => {
  let service: Service
  before(async () => {
    service = await startService({ MESSAGE_LOG: 'all' })
  })
  after(() => service.stop())

  test('a recorded message of a stored endpoint is the source', async () => {
    const { _id } = await service.register({
      name: 'recorded',
      endpoint: { pattern: '/recorded/:ward' },
      inputMapping: { 'requestBody.id': 'id' },
    })
    const sent = await service.fetch('/recorded/7?page=1', json('POST', { id: 1, patient: { name: 'Jane-Secret' } }))
    const messageId = sent.headers.get('x-crosswalk-message-id') ?? ''
    const request = {
      messageId,
      endpointId: _id,
      target: { sample: { patient: { name: '' }, ward: '', page: '', id: 1 } },
    }
    const reply = await call(service.adminUrl, 'POST', '/endpoints/suggest', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    const { suggestions, ...rest } = reply.json<Suggested>()
    assert.deepEqual(suggestions.map(({ source, target }) => `${source} ${target}`).toSorted(), [
      'query.page page',
      'requestBody.patient.name patient.name',
      'urlParams.ward ward',
    ])
    assert.deepEqual(rest, { cut: false, notRead: [] })
    assert.doesNotMatch(reply.text, /Secret/)
    const unknown = await service.fetch('/endpoints/suggest', json('POST', { ...request, messageId: '0'.repeat(24) }))
    assert.deepEqual([unknown.status, unknown.json().code], [404, 'MESSAGE_UNKNOWN'])
  })

  test('a message without a kept body says so', async () => {
    const { _id } = await service.register({ endpoint: { pattern: '/unkept' }, messageLog: 'metadata' })
    const sent = await service.fetch('/unkept', json('POST', { id: 1 }))
    const messageId = sent.headers.get('x-crosswalk-message-id') ?? ''
    const request = { messageId, endpointId: _id, target: { sample: { id: 1 } } }
    const { suggestions, notRead } = (
      await service.fetch('/endpoints/suggest', json('POST', request))
    ).json<Suggested>()
    assert.deepEqual([suggestions, notRead?.map(({ part }) => part)], [[], ['incoming']])
  })
})

test('recorded messages are for operators', async () => {
  const { service, keys, baseUrl } = await startServiceWithKeys()
  const body = JSON.stringify({ messageId: '0'.repeat(24), target: { sample: { id: 1 } } })
  const statuses = []
  for (const role of ['viewer', 'author', 'operator'] as const) {
    const headers = { 'content-type': 'application/json', ...bearer(keys[role]) }
    statuses.push((await call(baseUrl('admin'), 'POST', '/endpoints/suggest', { headers, body })).status)
  }
  assert.deepEqual(statuses, [403, 403, 404])
  await service.stop()
})
