/** The answers of messages that pass validation satisfy the published schema of answers. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { registerSchema, unregisterSchema, validate } from '@hyperjump/json-schema/draft-2020-12'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import type { Enriched, Transformed } from '../../../../src/core/message.ts'
import { DOORS, type DoorTraits } from '../../../../src/core/origin.ts'
import type { Run } from '../../../../src/core/run.ts'
import { compileMap } from '../../../../src/pipeline/stages/map.ts'
import { compileValidate } from '../../../../src/pipeline/stages/validate.ts'
import { describeOperation } from '../../../../src/try/openapi/published-operation.ts'
import { outcomeOf } from '../../../support/any-mapping.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { makeTable } from '../../../support/tables/tables.ts'
import { checked, SETTINGS } from '../../../support/try/openapi/documents.ts'

const TEXT = { type: 'string' }
const PERSON: JsonObject = {
  type: 'object',
  properties: {
    name: TEXT,
    age: { type: ['integer', 'null'] },
    tags: { type: 'array', items: TEXT },
    pair: { type: 'array', items: [TEXT, { type: 'number' }] },
    address: {
      type: 'object',
      properties: { city: TEXT, lines: { type: 'array', items: { type: 'object', properties: { text: TEXT } } } },
    },
    loose: { properties: { name: TEXT } },
    again: { $ref: '#/definitions/again' },
  },
  definitions: { again: { type: 'object', properties: { name: TEXT, again: { $ref: '#/definitions/again' } } } },
}

const CONSTANTS = {
  word: 'w',
  list: [1, 'x', null],
  nothing: null,
  object: { a: 1 },
  secret: '${env:CROSSWALK_SECRET_A}',
}

const letters = await makeTable([
  ['code', 'text'],
  ['a', 'A'],
  ['w', ''],
  ['12', 'dozen'],
])
const tables = new Map([['letters', { name: 'letters', version: 1, table: letters }]])

const words = (text: string): readonly string[] => text.trim().split(/\s+/)
const SOURCES = words(`
  name age tags tags[] tags[0] tags.0 pair[1] pair[5] address address.city address.lines.text address.lines[].text
  address.lines[0].text address.lines[] address.lines again pair[] other[] loose.name again.again.name other *
`).map((path) => `requestBody.${path}`)
const OTHERS = words(`
  constants.word constants.list constants.nothing constants.object constants.secret urlParams.id query.q requestHeaders.x-y
  requestBody
`)
const KEYS = words('a b a.b a.c c[0] c[2].d c[].d c[].e c[] f[]+ g? c[].h? i[].j[].k a[].b')
const FUNCTIONS = words(`
  booleanFlip booleanify numberify stringify dateTimeToDate appendArray oneToAllElements passThroughObject
`)

const transform = fc.oneof(
  fc.constantFrom<Json>(...FUNCTIONS),
  fc.constant<Json>({ function: 'mapCodes', parameters: { a: 'A', b: 2, default: 'other' } }),
  fc.constant<Json>({ function: 'mapCodes', parameters: { a: 'A', null: null } }),
  fc
    .constantFrom<Json>('fail', 'keep', 7, null, ['other'])
    .map((missing) => ({ function: 'table', parameters: { table: 'letters', missing } })),
)
const key = fc.constantFrom(...KEYS)
const IN_EACH = words(
  'item item[0] item.text item.name item.tags[] item.city item.lines[] index outer.text constants.list requestBody.name',
)
const nested = fc.record({
  key: fc.constantFrom('c[]', 'i[].d'),
  each: fc.constantFrom({ item: 'a.b', 'outer.text': 'd' }),
})
const target: fc.Arbitrary<Json> = fc.oneof(
  key,
  fc
    .record({
      key,
      transform: fc.option(transform, { nil: undefined }),
      default: fc.option(fc.constantFrom<Json>('-', 7, ['x'], null), { nil: undefined }),
    })
    .map((one) => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as JsonObject),
  fc.array(key, { minLength: 1, maxLength: 2 }),
  fc.record({
    key: fc.constantFrom('c[]', 'c[].d', 'i[].j[].k', 'l[0].m[].n', 'a.b[]'),
    each: fc.dictionary(fc.constantFrom(...IN_EACH), fc.oneof(key, nested), {
      minKeys: 1,
      maxKeys: 4,
      noNullPrototype: true,
    }),
  }),
)
const mapping = fc
  .array(fc.tuple(fc.constantFrom(...SOURCES, ...OTHERS), target), { minLength: 1, maxLength: 6 })
  .map((entries) => Object.fromEntries(entries))

const value = fc.constantFrom<Json>('a', 'b', '2024-02-29', '12', 'true', '')
const again = fc.constantFrom<Json>({}, { name: 'n' }, { again: { name: 'm' } }, { again: { again: {} } })
const line = fc.constantFrom<Json>({ text: 't' }, {}, { text: '2020' })
const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined, freq: 3 })
const message = fc
  .record({
    name: optional(value),
    age: optional(fc.constantFrom<Json>(1, 2.0, null, -3)),
    tags: optional(fc.array(value, { maxLength: 3 })),
    pair: optional(fc.constantFrom<Json>([], ['a'], ['a', 1], ['a', 1, null, {}])),
    address: optional(fc.record({ city: optional(value), lines: optional(fc.array(line, { maxLength: 3 })) })),
    loose: optional(fc.constantFrom<Json>({ name: 'x' }, [{ name: 1 }], 'text', [])),
    again: optional(again),
    other: optional(fc.constantFrom<Json>(1, 'x', [[1]], [['a', 'b'], null], { name: 1 }, null, false)),
  })
  .map((record) => JSON.parse(JSON.stringify(record)) as JsonObject)
const messages = fc.array(message, { minLength: 1, maxLength: 6 })

const answerSchema = ({ responses }: JsonObject): JsonObject =>
  (responses as Record<string, { content: Record<string, { schema: JsonObject }> }>)[200]?.content['application/json']
    ?.schema ?? {}

const endpointWith = (inputMapping: JsonObject) =>
  checked({
    name: 'answers',
    endpoint: { pattern: '/answers/:id', method: 'POST' },
    transformation: { input: 'JSON', output: 'JSON' },
    constants: CONSTANTS,
    inputValidation: PERSON,
    inputMapping,
  })

type Case = Readonly<{ inputMapping: JsonObject; messages: readonly JsonObject[] }>

async function check({ inputMapping, messages }: Case): Promise<void> {
  const endpoint = endpointWith(inputMapping)
  const lints: Lint[] = []
  const map = compileMap(endpoint, collectInto(lints), () => () => true)
  const pass = compileValidate(endpoint, SETTINGS, collectInto(lints))
  assert.ok(typeof pass === 'function')
  if (lints.some(({ severity }) => severity === 'error')) return
  const { operation, components } = describeOperation(endpoint, SETTINGS)
  const schema = answerSchema(operation)
  const uri = 'http://openapi.invalid/answer'
  registerSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema', allOf: [schema], components } as never, uri)
  try {
    const validator = await validate(uri)
    for (const requestBody of messages) {
      const received = {
        constants: { ...CONSTANTS, secret: 'the value' },
        requestHeaders: { 'x-y': 'v' },
        query: { q: ['1', '2'] },
        urlParams: { id: '17' },
        requestBody,
        lookupRequests: {},
      }
      pass(received as unknown as Enriched, { door: DOORS.http as DoorTraits } as Run)
      const run = { tables, trace: {} } as unknown as Run
      const outcome = outcomeOf(() => map(received as unknown as Transformed, run))
      if ('failure' in outcome) continue
      const { responseBody } = (await outcome.gives) as { responseBody: Json }
      assert.ok(
        validator(responseBody as never).valid,
        JSON.stringify({ inputMapping, requestBody, responseBody, schema }),
      )
    }
  } finally {
    unregisterSchema(uri)
  }
}

test('answers satisfy their schema, whatever a mapping does', async () => {
  await fc.assert(
    fc.asyncProperty(mapping, messages, (inputMapping, all) => check({ inputMapping, messages: all })),
    { numRuns: LONG ? 5_000 : 60 },
  )
})

describe('the schema of answers', () => {
  const source = (path: string) => ({ 'x-crosswalk-source': `inputMapping.${path.replaceAll('.', '\\.')}` })
  const inEach = (path: string) => ({
    'x-crosswalk-source': `inputMapping.requestBody\\.address\\.lines[].each.${path.replaceAll('.', '\\.')}`,
  })
  const at = (place: string) => ({ $ref: `#/components/schemas/answers.body/properties/${place}` })
  const cases: readonly Readonly<{
    name: string
    inputMapping: JsonObject
    properties: JsonObject
    required?: readonly string[]
  }>[] = [
    {
      name: 'has constants as they are',
      inputMapping: { 'constants.word': 'resourceType' },
      properties: { resourceType: { const: 'w', ...source('constants.word') } },
      required: ['resourceType'],
    },
    {
      name: 'has the type of a constant that refers to a secret, not the reference',
      inputMapping: { 'constants.secret': 'token' },
      properties: { token: { type: 'string', ...source('constants.secret') } },
    },
    {
      name: 'has the schemas of values that inputValidation describes',
      inputMapping: { 'requestBody.name': 'name', 'requestBody.address.city': 'at.city' },
      properties: {
        name: { ...at('name'), ...source('requestBody.name') },
        at: {
          type: 'object',
          properties: { city: { ...at('address/properties/city'), ...source('requestBody.address.city') } },
        },
      },
    },
    {
      name: 'has the codes that mapCodes gives',
      inputMapping: {
        'requestBody.name': {
          key: 'gender',
          transform: { function: 'mapCodes', parameters: { M: 'male', F: 'female', null: null } },
        },
      },
      properties: { gender: { enum: ['male', 'female'], ...source('requestBody.name') } },
    },
    {
      name: 'has what tables give, also for a constant',
      inputMapping: Object.fromEntries(
        ['constants.word', 'requestBody.name', 'urlParams.id', 'query.q'].map((path, at) => {
          const missing = ['fail', 'keep', 'other', 7][at] ?? null
          return [path, { key: `k${at}`, transform: { function: 'table', parameters: { table: 'letters', missing } } }]
        }),
      ),
      properties: {
        k0: { anyOf: [TEXT, { type: 'array' }], ...source('constants.word') },
        k1: { type: ['string', 'number', 'boolean'], ...source('requestBody.name') },
        k2: { anyOf: [TEXT, { const: 'other' }], ...source('urlParams.id') },
        k3: { anyOf: [{ anyOf: [TEXT, { const: 7 }] }, { type: 'array' }], ...source('query.q') },
      },
    },
    {
      name: 'has the types of functions, and defaults',
      inputMapping: { 'urlParams.id': { key: 'id', transform: 'numberify', default: 0 } },
      properties: { id: { anyOf: [{ type: 'number' }, { const: 0 }], ...source('urlParams.id') } },
      required: ['id'],
    },
    {
      name: 'has lists, whose elements may be null',
      inputMapping: { 'requestBody.name': 'list[1].text' },
      properties: {
        list: {
          type: 'array',
          prefixItems: [
            {},
            { type: ['object', 'null'], properties: { text: { ...at('name'), ...source('requestBody.name') } } },
          ],
        },
      },
    },
    {
      name: 'leaves open a list of whose elements a function fills all',
      inputMapping: { 'requestBody.name': { key: 'all[].d', transform: 'oneToAllElements' } },
      properties: { all: {} },
    },
    {
      name: 'has the elements that an each maps, with the schemas of what they read',
      inputMapping: {
        'requestBody.address.lines[]': {
          key: 'l[].x',
          when: 'index > 0',
          each: { 'item.text': 't', index: 'i', 'constants.word': 'w', 'requestBody.name': 'n', item: 'whole' },
        },
      },
      properties: {
        l: {
          type: 'array',
          items: {
            type: ['object', 'null'],
            properties: {
              x: {
                type: 'object',
                required: ['w'],
                properties: {
                  t: { ...at('address/properties/lines/items/properties/text'), ...inEach('item.text') },
                  i: { type: 'integer', ...inEach('index') },
                  w: { const: 'w', ...inEach('constants.word') },
                  n: { ...at('name'), ...inEach('requestBody.name') },
                  whole: { ...at('address/properties/lines/items'), ...inEach('item') },
                },
                'x-crosswalk-source': 'inputMapping.requestBody\\.address\\.lines[].each',
              },
            },
          },
        },
      },
    },
    {
      name: 'says nothing of what it does not know',
      inputMapping: { 'requestBody.other': 'other', 'requestBody.loose.name': 'loose' },
      properties: { other: source('requestBody.other'), loose: source('requestBody.loose.name') },
    },
  ]
  for (const { name, inputMapping, properties, required } of cases) {
    test(name, () => {
      const { operation } = describeOperation(endpointWith(inputMapping), SETTINGS)
      assert.deepEqual(answerSchema(operation), {
        type: 'object',
        ...(required === undefined ? {} : { required }),
        properties,
        'x-crosswalk-source': 'inputMapping',
      })
    })
  }
})
