/** Schemas that try to hold, fill or end the service, each with the message that makes it worst. */
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import type { Hostile } from './expressions.ts'

const REFUSED = /^400 (?:VALIDATION_FAILED|CONFIGURATION_INVALID)$/
const ANY = /^(?:200|400 VALIDATION_FAILED|400 CONFIGURATION_INVALID)$/

const repeat = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const named = <T>(count: number, make: (index: number) => T): Record<string, T> =>
  Object.fromEntries(repeat(count, (at) => [`p${at}`, make(at)]))

/** Arrays within arrays, `depth` of them. */
const nested = (depth: number): Json => repeat(depth, () => 0).reduce<Json>((inner) => [inner], 1)
const text = 'a'.repeat(900_000)
const objects =
  (count: number): (() => Json) =>
  () =>
    repeat(count, (at) => ({ a: at, b: 'x' }))
const numbers =
  (count: number): (() => Json) =>
  () =>
    repeat(count, (at) => at)

/** Of each level, two references to the next: doubles with every level of the message. */
const twice = (reference: string): Json[] => [{ $ref: reference }, { $ref: reference }]

export const SCHEMAS: readonly Hostile[] = [
  { name: 'uniqueItems of 40,000 objects', schema: { uniqueItems: true }, message: objects(40_000), answers: ANY },
  {
    name: 'uniqueItems of large equal starts',
    schema: { uniqueItems: true },
    message: () => repeat(400, (at) => `${'x'.repeat(2_000)}${at}`),
    answers: ANY,
  },
  {
    name: 'uniqueItems at each level',
    schema: { uniqueItems: true, items: { $ref: '#' } },
    message: () => [nested(60), ...repeat(50_000, (at) => [at])],
    answers: ANY,
  },
  {
    name: 'a fault for each value',
    schema: { items: { allOf: repeat(90, () => ({ type: 'string' })) } },
    message: numbers(40_000),
    answers: REFUSED,
  },
  {
    name: 'faults with long texts',
    schema: { items: { type: 'number', errorMessage: 'e'.repeat(100_000) } },
    message: () => repeat(10_000, () => 'x'),
    answers: REFUSED,
  },
  {
    name: 'references that double',
    schema: { items: { allOf: twice('#') } },
    message: () => nested(60),
    answers: REFUSED,
  },
  {
    name: 'alternatives that double',
    schema: { type: ['array', 'number'], items: { anyOf: twice('#') }, not: { const: 1 } },
    message: () => nested(60),
    answers: ANY,
  },
  {
    name: 'oneOf that doubles',
    schema: { items: { oneOf: [{ $ref: '#' }, { $ref: '#' }, { type: 'null' }] } },
    message: () => nested(60),
    answers: REFUSED,
  },
  {
    name: 'definitions that double by levels',
    schema: {
      $ref: '#/definitions/d0',
      definitions: Object.fromEntries(
        repeat(60, (at) => [`d${at}`, at === 59 ? { type: 'object' } : { allOf: twice(`#/definitions/d${at + 1}`) }]),
      ),
    },
    message: () => ({}),
    answers: REFUSED,
  },
  { name: 'a reference to itself', schema: { $ref: '#' }, message: () => ({}), answers: REFUSED },
  { name: 'not of not of itself', schema: { not: { not: { $ref: '#' } } }, message: () => ({}), answers: REFUSED },
  {
    name: '500 patterns on a long text',
    schema: { properties: { text: { allOf: repeat(500, (at) => ({ pattern: `(?:a|b${at})*c` })) } } },
    message: () => ({ text }),
    answers: ANY,
  },
  {
    name: 'one pattern, anywhere',
    schema: { items: { pattern: '^(a+)+$' } },
    message: () => repeat(30, () => `${'a'.repeat(30_000)}!`),
    answers: ANY,
  },
  {
    name: 'a pattern of many states',
    schema: { properties: { text: { not: { pattern: '(?:a?){500}a{500}b' } } } },
    message: () => ({ text }),
    answers: ANY,
  },
  {
    name: '500 patterns for names',
    schema: { patternProperties: Object.fromEntries(repeat(500, (at) => [`(?:a|b)*${at}x`, { type: 'number' }])) },
    message: () => named(10_000, (at) => at),
    answers: ANY,
  },
  {
    name: '500 checks of each item',
    schema: { items: { allOf: repeat(500, (at) => ({ not: { minimum: 100_000_000 + at } })) } },
    message: numbers(120_000),
    answers: ANY,
  },
  {
    name: '499 checks of each field',
    schema: { additionalProperties: { anyOf: [...repeat(499, (at) => ({ minimum: 1e9 + at })), {}] } },
    message: () => named(10_000, (at) => at),
    answers: ANY,
  },
  {
    name: '10,000 names required of each item',
    schema: {
      items: {
        anyOf: [{ required: repeat(10_000, (at) => `r${at}`).reverse() }, { properties: named(10_000, () => ({})) }],
      },
    },
    message: objects(50_000),
    answers: ANY,
  },
  {
    name: '500 lengths of a long text',
    schema: {
      allOf: repeat(500, (at) => ({ properties: { text: { maxLength: 899_999 - at, minLength: 1 } } })).map((one) => ({
        not: one,
      })),
    },
    message: () => ({ text }),
    answers: ANY,
  },
  {
    name: '500 comparisons with the whole message',
    schema: { allOf: repeat(500, (at) => ({ not: { const: { at } } })) },
    message: () => ({ list: repeat(50_000, (at) => ({ at })) }),
    answers: ANY,
  },
  {
    name: 'enum at each level',
    schema: { not: { enum: [{ a: 1 }] }, items: { $ref: '#' } },
    message: () => repeat(60, () => 0).reduce<Json>((inner) => [inner, repeat(1_000, (n) => n)], 1),
    answers: ANY,
  },
  {
    name: '500 checks for double items',
    schema: { allOf: repeat(500, () => ({ uniqueItems: true })) },
    message: numbers(120_000),
    answers: ANY,
  },
  {
    name: 'contains, of each in each',
    schema: { allOf: repeat(500, (at) => ({ not: { contains: { const: -1 - at } } })) },
    message: numbers(120_000),
    answers: ANY,
  },
  {
    name: '50 levels of contains',
    schema: repeat(50, () => 0).reduce<JsonObject>((inner) => ({ contains: inner }), { const: 0 }),
    message: () => nested(40),
    answers: ANY,
  },
  {
    name: 'unevaluated items',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      anyOf: repeat(500, (at) => ({ prefixItems: [{ const: at }] })),
      unevaluatedItems: false,
    },
    message: numbers(1_000),
    answers: ANY,
  },
  {
    name: 'unevaluated properties',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      anyOf: repeat(500, (at) => ({ properties: { [`p${at}`]: true } })),
      unevaluatedProperties: false,
    },
    message: () => named(10_000, (at) => at),
    answers: ANY,
  },
  {
    name: 'a dynamic reference that doubles',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $dynamicAnchor: 'n',
      items: { allOf: [{ $dynamicRef: '#n' }, { $dynamicRef: '#n' }] },
    },
    message: () => nested(60),
    answers: REFUSED,
  },
  {
    name: 'dependencies among all',
    schema: { dependencies: named(180, () => repeat(180, (at) => `p${at}`)) },
    message: () => named(179, (at) => at),
    answers: REFUSED,
  },
  {
    name: 'if within if',
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    schema: { items: { if: { $ref: '#' }, then: { $ref: '#' }, else: { $ref: '#' } } },
    message: () => nested(60),
    answers: ANY,
  },
  {
    name: 'formats of long texts',
    schema: {
      items: {
        allOf: 'email uri date-time iri idn-hostname idn-email uri-template regex json-pointer duration'
          .split(' ')
          .map((format) => ({ not: { format } })),
      },
    },
    message: () => repeat(200, () => `${'a.'.repeat(2_000)}@`),
    answers: ANY,
  },
  {
    name: 'many formats of one long text',
    schema: { allOf: repeat(500, () => ({ not: { format: 'uri-reference' } })) },
    message: () => `${'a'.repeat(4_000)}\u0000`,
    answers: ANY,
  },
  {
    name: 'multiples of little',
    schema: { items: { multipleOf: 1e-300 } },
    message: () => repeat(100_000, () => 1e300),
    answers: ANY,
  },
  {
    name: 'names of the prototype',
    schema: {
      properties: { constructor: { type: 'string' }, toString: { type: 'number' }, valueOf: { minimum: 1 } },
      required: ['hasOwnProperty'],
      errorMessage: { required: { hasOwnProperty: '${/constructor/prototype}' } },
    },
    message: () => ({ constructor: 1, valueOf: 0 }),
    answers: REFUSED,
  },
  {
    name: 'code in names',
    schema: {
      properties: {
        '"];process.exit();//': { type: 'string' },
        '`${process.exit()}`': { const: '*/process.exit()/*' },
      },
      required: ['\u2028process.exit()'],
    },
    message: () => ({ '"];process.exit();//': 1 }),
    answers: REFUSED,
  },
  {
    name: 'a message made of the message',
    schema: { properties: { text: { type: 'number', errorMessage: '${0}'.repeat(1_000) } } },
    message: () => ({ text }),
    answers: REFUSED,
  },
  {
    name: 'a name in a fault that is huge',
    schema: { additionalProperties: false },
    message: () => ({ [text]: 1 }),
    answers: REFUSED,
  },
  {
    name: 'a list of allowed values that is huge',
    schema: { enum: repeat(20_000, (at) => `v${at}`) },
    message: () => 'x',
    answers: REFUSED,
  },
]
