/** Schemas that try to hold, fill or end the service, each with the message that makes it worst. */
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Hostile } from './expressions.ts'

type Message = () => Json
const refused = (name: string, schema: Json, message: Message): Hostile => ({
  name,
  schema,
  message,
  answers: /^400 (?:VALIDATION_FAILED|CONFIGURATION_INVALID)$/,
})
const maybeRefused = (name: string, schema: Json, message: Message): Hostile => ({
  ...refused(name, schema, message),
  answers: /^(?:200|400 VALIDATION_FAILED|400 CONFIGURATION_INVALID)$/,
})

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
  maybeRefused('uniqueItems of 40,000 objects', { uniqueItems: true }, objects(40_000)),
  maybeRefused('uniqueItems of large equal starts', { uniqueItems: true }, () =>
    repeat(400, (at) => `${'x'.repeat(2_000)}${at}`),
  ),
  maybeRefused('uniqueItems at each level', { uniqueItems: true, items: { $ref: '#' } }, () => [
    nested(60),
    ...repeat(50_000, (at) => [at]),
  ]),
  refused('a fault for each value', { items: { allOf: repeat(90, () => ({ type: 'string' })) } }, numbers(40_000)),
  refused('faults with long texts', { items: { type: 'number', errorMessage: 'e'.repeat(100_000) } }, () =>
    repeat(10_000, () => 'x'),
  ),
  refused('references that double', { items: { allOf: twice('#') } }, () => nested(60)),
  maybeRefused(
    'alternatives that double',
    { type: ['array', 'number'], items: { anyOf: twice('#') }, not: { const: 1 } },
    () => nested(60),
  ),
  refused('oneOf that doubles', { items: { oneOf: [{ $ref: '#' }, { $ref: '#' }, { type: 'null' }] } }, () =>
    nested(60),
  ),
  refused(
    'definitions that double by levels',
    {
      $ref: '#/definitions/d0',
      definitions: Object.fromEntries(
        repeat(60, (at) => [`d${at}`, at === 59 ? { type: 'object' } : { allOf: twice(`#/definitions/d${at + 1}`) }]),
      ),
    },
    () => ({}),
  ),
  refused('a reference to itself', { $ref: '#' }, () => ({})),
  refused('not of not of itself', { not: { not: { $ref: '#' } } }, () => ({})),
  maybeRefused(
    '500 patterns on a long text',
    { properties: { text: { allOf: repeat(500, (at) => ({ pattern: `(?:a|b${at})*c` })) } } },
    () => ({ text }),
  ),
  maybeRefused('one pattern, anywhere', { items: { pattern: '^(a+)+$' } }, () =>
    repeat(30, () => `${'a'.repeat(30_000)}!`),
  ),
  maybeRefused(
    'a pattern of many states',
    { properties: { text: { not: { pattern: '(?:a?){500}a{500}b' } } } },
    () => ({ text }),
  ),
  maybeRefused(
    '500 patterns for names',
    { patternProperties: Object.fromEntries(repeat(500, (at) => [`(?:a|b)*${at}x`, { type: 'number' }])) },
    () => named(10_000, (at) => at),
  ),
  maybeRefused(
    '500 checks of each item',
    { items: { allOf: repeat(500, (at) => ({ not: { minimum: 100_000_000 + at } })) } },
    numbers(120_000),
  ),
  maybeRefused(
    '499 checks of each field',
    { additionalProperties: { anyOf: [...repeat(499, (at) => ({ minimum: 1e9 + at })), {}] } },
    () => named(10_000, (at) => at),
  ),
  maybeRefused(
    '10,000 names required of each item',
    {
      items: {
        anyOf: [{ required: repeat(10_000, (at) => `r${at}`).reverse() }, { properties: named(10_000, () => ({})) }],
      },
    },
    objects(50_000),
  ),
  maybeRefused(
    '500 lengths of a long text',
    {
      allOf: repeat(500, (at) => ({ properties: { text: { maxLength: 899_999 - at, minLength: 1 } } })).map((one) => ({
        not: one,
      })),
    },
    () => ({ text }),
  ),
  maybeRefused(
    '500 comparisons with the whole message',
    { allOf: repeat(500, (at) => ({ not: { const: { at } } })) },
    () => ({ list: repeat(50_000, (at) => ({ at })) }),
  ),
  maybeRefused('enum at each level', { not: { enum: [{ a: 1 }] }, items: { $ref: '#' } }, () =>
    repeat(60, () => 0).reduce<Json>((inner) => [inner, repeat(1_000, (n) => n)], 1),
  ),
  maybeRefused('500 checks for double items', { allOf: repeat(500, () => ({ uniqueItems: true })) }, numbers(120_000)),
  maybeRefused(
    'contains, of each in each',
    { allOf: repeat(500, (at) => ({ not: { contains: { const: -1 - at } } })) },
    numbers(120_000),
  ),
  maybeRefused(
    '50 levels of contains',
    repeat(50, () => 0).reduce<JsonObject>((inner) => ({ contains: inner }), { const: 0 }),
    () => nested(40),
  ),
  maybeRefused(
    'unevaluated items',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      anyOf: repeat(500, (at) => ({ prefixItems: [{ const: at }] })),
      unevaluatedItems: false,
    },
    numbers(1_000),
  ),
  maybeRefused(
    'unevaluated properties',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      anyOf: repeat(500, (at) => ({ properties: { [`p${at}`]: true } })),
      unevaluatedProperties: false,
    },
    () => named(10_000, (at) => at),
  ),
  refused(
    'a dynamic reference that doubles',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $dynamicAnchor: 'n',
      items: { allOf: [{ $dynamicRef: '#n' }, { $dynamicRef: '#n' }] },
    },
    () => nested(60),
  ),
  refused('dependencies among all', { dependencies: named(180, () => repeat(180, (at) => `p${at}`)) }, () =>
    named(179, (at) => at),
  ),
  maybeRefused(
    'if within if', // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    { items: { if: { $ref: '#' }, then: { $ref: '#' }, else: { $ref: '#' } } },
    () => nested(60),
  ),
  maybeRefused(
    'formats of long texts',
    {
      items: {
        allOf: 'email uri date-time iri idn-hostname idn-email uri-template regex json-pointer duration'
          .split(' ')
          .map((format) => ({ not: { format } })),
      },
    },
    () => repeat(200, () => `${'a.'.repeat(2_000)}@`),
  ),
  maybeRefused(
    'many formats of one long text',
    { allOf: repeat(500, () => ({ not: { format: 'uri-reference' } })) },
    () => `${'a'.repeat(4_000)}\u0000`,
  ),
  maybeRefused('multiples of little', { items: { multipleOf: 1e-300 } }, () => repeat(100_000, () => 1e300)),
  refused(
    'names of the prototype',
    {
      properties: { constructor: { type: 'string' }, toString: { type: 'number' }, valueOf: { minimum: 1 } },
      required: ['hasOwnProperty'],
      errorMessage: { required: { hasOwnProperty: '${/constructor/prototype}' } },
    },
    () => ({ constructor: 1, valueOf: 0 }),
  ),
  refused(
    'code in names',
    {
      properties: {
        '"];process.exit();//': { type: 'string' },
        '`${process.exit()}`': { const: '*/process.exit()/*' },
      },
      required: ['\u2028process.exit()'],
    },
    () => ({ '"];process.exit();//': 1 }),
  ),
  refused(
    'a message made of the message',
    { properties: { text: { type: 'number', errorMessage: '${0}'.repeat(1_000) } } },
    () => ({ text }),
  ),
  refused('a name in a fault that is huge', { additionalProperties: false }, () => ({ [text]: 1 })),
  refused('a list of allowed values that is huge', { enum: repeat(20_000, (at) => `v${at}`) }, () => 'x'),
]
