/** JSON Schemas as documents hold them, and messages for them. */

import { isObject, type Json, type JsonObject } from '../../../../src/core/json.ts'
import fc from '../../fast-check.ts'

const NAMES = ['a', 'b', 'c', 'd e', 'x/y', '50%']
const name = fc.constantFrom(...NAMES)
const text = fc.constantFrom('', 'a', 'ab', 'abc', '2024-02-29', '2024-13-01', '12', 'M', 'F', '😀')
const number = fc.oneof(fc.integer({ min: -5, max: 12 }), fc.constantFrom(0.5, 1.5, 2.0))
const scalar: fc.Arbitrary<Json> = fc.oneof(text, number, fc.boolean(), fc.constant(null))

export const anyMessage: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5 }),
  ),
})).value

type Draft = 'draft-07' | '2020-12'

const some = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 4 })
const short = <T>(arbitrary: fc.Arbitrary<T>, minLength = 1) => fc.array(arbitrary, { minLength, maxLength: 3 })
const isGiven = (value: unknown): boolean => value !== undefined

/** Of a schema that refuses something: Ajv generates code that fails for some that never do, beside `unevaluatedItems`. */
const isTyped = (schema: Json): boolean => isObject(schema) && schema.type !== undefined

/** An object with some of the members. */
const partial = (members: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> =>
  fc
    .record(Object.fromEntries(Object.entries(members).map(([key, value]) => [key, some(value)])))
    .map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => isGiven(value))) as JsonObject)

const type = fc.constantFrom<Json>('string', 'number', 'integer', 'boolean', 'object', 'array', 'null')
const count = fc.integer({ min: 0, max: 4 })

const forText = partial({
  type: fc.constantFrom<Json>('string', ['string', 'null']),
  minLength: count,
  maxLength: count,
  pattern: fc.constantFrom('^a', 'b$', '^[0-9]+$', 'a|c'),
  format: fc.constantFrom('date', 'date-time', 'email', 'unknown-format'),
  enum: short(text),
  nullable: fc.boolean(),
})

const forNumber = partial({
  type: fc.constantFrom<Json>('number', 'integer', ['integer', 'string']),
  minimum: number,
  max: number,
  exclusiveMinimum: number,
  multipleOf: fc.constantFrom(1, 2, 0.5),
  const: number,
  nullable: fc.boolean(),
})

const notes = partial({
  title: fc.constantFrom<Json>('A title', 7),
  description: text,
  default: scalar,
  examples: fc.constantFrom<Json>(['a'], 'no list'),
  $comment: text,
  errorMessage: fc.constant('wrong'),
  'x-own': scalar,
  deprecated: fc.boolean(),
})

/** Keywords of objects and arrays, with those that only one draft has. */
function containers(draft: Draft, inner: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  const map = fc.dictionary(name, inner, { maxKeys: 3 })
  const patterns = fc.dictionary(fc.constantFrom('^a', '^[bc]$', 'y'), inner, { maxKeys: 2 })
  const names = short(name)
  const ofObjects = {
    properties: map,
    patternProperties: patterns,
    additionalProperties: inner,
    propertyNames: partial({ maxLength: count, enum: short(name, 2) }),
    required: names,
    minProperties: fc.integer({ min: 0, max: 2 }),
    maxProperties: count,
    dependencies: fc.dictionary(name, fc.oneof<fc.Arbitrary<Json>[]>(inner, names), { maxKeys: 3 }),
    ...(draft === '2020-12'
      ? {
          dependentSchemas: map,
          dependentRequired: fc.dictionary(name, names, { maxKeys: 2 }),
          unevaluatedProperties: inner,
        }
      : {}),
  }
  const ofArrays = {
    minItems: fc.integer({ min: 0, max: 2 }),
    maxItems: count,
    uniqueItems: fc.boolean(),
    // Ajv does not count the elements that match a schema of anything as evaluated.
    contains: inner.filter(isTyped),
    ...(draft === '2020-12'
      ? {
          prefixItems: short(inner),
          items: inner,
          minContains: fc.integer({ min: 0, max: 2 }),
          unevaluatedItems: inner,
        }
      : { items: fc.oneof<fc.Arbitrary<Json>[]>(inner, short(inner)), additionalItems: inner }),
  }
  return fc.oneof(
    partial({ type: fc.constantFrom<Json>('object', ['object', 'null']), ...ofObjects }),
    partial({ type: fc.constantFrom<Json>('array', ['array', 'string']), ...ofArrays }),
    partial({ ...ofObjects, ...ofArrays }),
  )
}

const combined = (inner: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> =>
  partial({
    allOf: short(inner),
    anyOf: short(inner),
    oneOf: short(inner),
    not: inner.filter(isTyped),
    if: inner,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: inner,
    else: inner,
    type,
  })

const REFERENCES = {
  'draft-07': ['#/definitions/one', '#/definitions/two%20words', '#two', '#/$defs/three', '#/definitions/yes'],
  '2020-12': ['#/$defs/one', '#/$defs/two%20words', '#two', '#/definitions/three', '#/$defs/yes'],
} as const

/** With definitions that have anchors, and references to them, some beside other keywords. */
export function schemaOf(draft: Draft): fc.Arbitrary<JsonObject> {
  const reference = fc.constantFrom(...REFERENCES[draft])
  const leaf = fc.oneof<fc.Arbitrary<Json>[]>(forText, forNumber, partial({ type }), fc.constantFrom(true, true, false))
  const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'xsmall', maxDepth: 3, withCrossShrink: true },
      leaf,
      containers(draft, tie('schema')),
      combined(tie('schema')),
      fc.tuple(leaf, reference).map(([beside, $ref]) => ({ ...(isObject(beside) ? beside : {}), $ref }) as Json),
      fc.tuple(notes, tie('schema')).map(([own, one]) => (isObject(one) ? { ...own, ...one } : one)),
    ),
  }))
  const anchor = draft === 'draft-07' ? { $id: '#two' } : { $anchor: 'two' }
  const [defs, otherDefs] = draft === 'draft-07' ? ['definitions', '$defs'] : ['$defs', 'definitions']
  const root = fc.oneof(containers(draft, schema), combined(schema)).map((one) => one as JsonObject)
  return fc
    .tuple(root, leaf, forText, containers(draft, leaf))
    .map(([own, one, two, three]) => ({
      ...(draft === '2020-12' ? { $schema: 'https://json-schema.org/draft/2020-12/schema' } : {}),
      ...own,
      [defs]: { one, 'two words': { ...two, ...anchor }, yes: true },
      [otherDefs]: { three },
    }))
    .filter(isExact)
}

/** Ajv counts every element as evaluated if one matches `contains`; docs/validation.md says so. */
function isExact(schema: JsonObject): boolean {
  const text = JSON.stringify(schema)
  return !(text.includes('"contains"') && text.includes('"unevaluatedItems"'))
}

/** A message that the schema often accepts: made from its keywords, as far as they say something of one value. */
export function messageFor(schema: Json, random: () => number, depth = 0): Json {
  if (!isObject(schema) || depth > 6) return pick<Json>(['a', 1, null, {}], random)
  const { enum: values, const: only, allOf, anyOf, oneOf, properties, required, items, prefixItems } = schema
  if (only !== undefined) return only
  if (Array.isArray(values)) return pick(values, random)
  for (const list of [anyOf, oneOf, allOf]) {
    if (Array.isArray(list) && random() < 0.7) return messageFor(pick<Json>(list, random), random, depth + 1)
  }
  const kind = pick<Json>([schema.type ?? (properties || required ? 'object' : items ? 'array' : 'any')].flat(), random)
  if (kind === 'string') return pick(['a', 'ab', '12', '2024-02-29', ''], random)
  if (kind === 'number' || kind === 'integer') return pick([0, 1, 2, 4, 10, 0.5], random)
  if (kind === 'boolean') return random() < 0.5
  if (kind === 'null') return null
  if (kind === 'array') {
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    const rest = Array.isArray(items) ? schema.additionalItems : items
    return Array.from({ length: Math.floor(random() * 4) }, (_, index) =>
      messageFor((first[index] ?? rest ?? true) as Json, random, depth + 1),
    )
  }
  const members = isObject(properties) ? properties : {}
  const names = [...Object.keys(members), ...(Array.isArray(required) ? required : []), pick(NAMES, random)]
  return Object.fromEntries(
    names
      .filter(() => random() < 0.8)
      .map((one) => [String(one), messageFor(members[String(one)] ?? true, random, depth + 1)]),
  )
}

function pick<T>(all: readonly T[], random: () => number): T {
  return all[Math.floor(random() * all.length)] as T
}

/** The message with one value in it changed. */
export function mutated(message: Json, random: () => number): Json {
  if (typeof message !== 'object' || message === null || random() < 0.3)
    return pick<Json>(['zz', -3, null, [], {}, true], random)
  if (Array.isArray(message)) {
    const at = Math.floor(random() * (message.length + 1))
    return message.toSpliced(at, 1, mutated((message[at] ?? 'a') as Json, random))
  }
  const keys = Object.keys(message)
  const key = pick(keys.length === 0 || random() < 0.2 ? NAMES : keys, random)
  if (random() < 0.3) return Object.fromEntries(Object.entries(message).filter(([one]) => one !== key))
  return { ...message, [key]: mutated((message as JsonObject)[key] ?? 'a', random) }
}
