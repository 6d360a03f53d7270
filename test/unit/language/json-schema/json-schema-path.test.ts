/** The document path of the keyword that failed first: it says why messages failed, and never names what a message holds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../../src/domain/json.ts'
import { collectInto, documentPath } from '../../../../src/domain/lint.ts'
import { compileJsonSchema, type SchemaOptions } from '../../../../src/language/json-schema/json-schema.ts'
import { schemas } from '../../../support/fuzz/schemas.ts'

const plain: SchemaOptions = { acceptNull: false, coerceTypes: false }
const $schema = 'https://json-schema.org/draft/2020-12/schema'

/** Undefined for data that is valid. */
function failedAt(schema: JsonObject, data: Json, options = plain): string | undefined {
  const validator = compileJsonSchema(schema, options, collectInto([]))
  assert.ok(validator)
  const verdict = validator(data)
  return verdict.ok ? undefined : verdict.path
}

const person: JsonObject = {
  type: 'object',
  required: ['name', 'code'],
  properties: { name: { type: 'string' }, age: { min: 0, maximum: 150 }, 'a.b': { pattern: '^x' } },
}
const recursive: JsonObject = {
  properties: { first: { $ref: '#/definitions/node' } },
  definitions: {
    node: {
      required: ['value'],
      properties: { value: { type: 'number' }, hidden: false, next: { $ref: '#/definitions/node' } },
    },
  },
}
const named: JsonObject = {
  $schema,
  $id: 'http://schema.invalid/root',
  properties: { a: { $ref: 'part' }, b: { $ref: '#other' } },
  $defs: { part: { $id: 'part', minimum: 3 }, other: { $anchor: 'other', maxLength: 2 } },
}
const either: JsonObject = { anyOf: [{ type: 'string' }, { required: ['b'] }] }
// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
const branches: JsonObject = { if: { type: ['number', 'object'] }, then: { minimum: 2, ...either } }

type Case = Readonly<{ schema: JsonObject; data: Json; path: string; options?: SchemaOptions }>
const nulls: SchemaOptions = { ...plain, acceptNull: true }

const cases: readonly Case[] = [
  { schema: person, data: [], path: 'type' },
  { schema: person, data: { code: 1 }, path: 'required[0]' },
  { schema: person, data: { name: 'a' }, path: 'required[1]' },
  { schema: person, data: { name: 1, code: 1 }, path: 'properties.name.type' },
  { schema: person, data: { name: 'a', code: 1, age: -1 }, path: 'properties.age.min' },
  { schema: person, data: { name: 'a', code: 1, age: 151 }, path: 'properties.age.maximum' },
  { schema: person, data: { name: 'a', code: 1, 'a.b': 'y' }, path: 'properties.a\\.b.pattern' },
  { schema: { required: ['a', ''] }, data: { a: 1 }, path: 'required[1]' },
  { schema: recursive, data: { first: {} }, path: 'definitions.node.required[0]' },
  {
    schema: recursive,
    data: { first: { value: 1, next: { value: 'x' } } },
    path: 'definitions.node.properties.value.type',
  },
  {
    schema: recursive,
    data: { first: { value: 1, next: { value: 2, hidden: 3 } } },
    path: 'definitions.node.properties.hidden',
  },
  { schema: named, data: { a: 2 }, path: '$defs.part.minimum' },
  { schema: named, data: { b: 'abc' }, path: '$defs.other.maxLength' },
  { schema: { properties: { a: false, b: { properties: { a: false } } } }, data: { a: 1 }, path: 'properties.a' },
  {
    schema: { properties: { a: false, b: { properties: { a: false } } } },
    data: { b: { a: 1 } },
    path: 'properties.b.properties.a',
  },
  // Ajv names the false schema from the nearest reference on, so that both are possible.
  {
    schema: { ...recursive, properties: { ...(recursive.properties as JsonObject), hidden: false } },
    data: { first: { value: 1, next: { value: 2, hidden: 3 } } },
    path: '',
  },
  { schema: { properties: { 'a/b %': false } }, data: { 'a/b %': 1 }, path: 'properties.a/b %' },
  { schema: either, data: { a: 1 }, path: 'anyOf' },
  { schema: { oneOf: [{}, {}] }, data: 1, path: 'oneOf' },
  { schema: { not: {} }, data: 1, path: 'not' },
  { schema: { allOf: [{}, { minimum: 2 }] }, data: 1, path: 'allOf[1].minimum' },
  { schema: branches, data: 1, path: 'then.minimum' },
  { schema: branches, data: {}, path: 'then.anyOf' },
  { schema: { if: { type: 'number' }, else: false }, data: 'a', path: 'else' },
  { schema: { items: { enum: ['a'] } }, data: ['a', 'b'], path: 'items.enum' },
  { schema: { items: [{}, { const: 1 }] }, data: [1, 2], path: 'items[1].const' },
  { schema: { items: [{}], additionalItems: false }, data: [1, 2], path: 'additionalItems' },
  { schema: { $schema, prefixItems: [{}], items: false }, data: [1, 2], path: 'items' },
  { schema: { uniqueItems: true }, data: [1, 1], path: 'uniqueItems' },
  { schema: { contains: { type: 'string' } }, data: [1], path: 'contains' },
  { schema: { additionalProperties: false }, data: { secret: 1 }, path: 'additionalProperties' },
  { schema: { additionalProperties: { type: 'string' } }, data: { secret: 1 }, path: 'additionalProperties.type' },
  { schema: { patternProperties: { '^x': { type: 'string' } } }, data: { x1: 1 }, path: 'patternProperties.^x.type' },
  { schema: { propertyNames: { pattern: '^x' } }, data: { secret: 1 }, path: 'propertyNames' },
  { schema: { dependencies: { a: ['b', 'c'] } }, data: { a: 1, b: 1 }, path: 'dependencies.a[1]' },
  { schema: { dependencies: { a: { required: ['c'] } } }, data: { a: 1 }, path: 'dependencies.a.required[0]' },
  { schema: { $schema, dependentRequired: { a: ['b'] } }, data: { a: 1 }, path: 'dependentRequired.a[0]' },
  { schema: { $schema, unevaluatedProperties: false }, data: { secret: 1 }, path: 'unevaluatedProperties' },
  { schema: { required: ['name'], errorMessage: { required: 'Give a name.' } }, data: {}, path: 'required[0]' },
  { schema: { properties: { a: { const: 1 } } }, data: { a: 2 }, path: 'properties.a.const', options: nulls },
  { schema: { oneOf: [{ type: 'string' }, true] }, data: 'a', path: 'oneOf', options: nulls },
]

describe('the path of a verdict', () => {
  for (const { schema, data, path, options } of cases) {
    test(`is "${path}" for ${JSON.stringify(data)} by ${JSON.stringify(schema).slice(0, 80)}`, () => {
      assert.equal(failedAt(schema, data, options), path)
    })
  }

  test('ends above a name that makes it longer than 1000 characters', () => {
    const long = 'n'.repeat(990)
    const schema = { properties: { a: { properties: { [long]: { type: 'string' } } } } }
    assert.equal(failedAt(schema, { a: { [long]: 1 } }), 'properties.a.properties')
  })

  test('of a validation that takes too long is that of the schema', () => {
    const items = { $ref: '#/definitions/a' }
    const schema = { definitions: { a: { allOf: [{ items }, { items }] } }, $ref: '#/definitions/a' }
    assert.equal(failedAt(schema, JSON.parse(`${'['.repeat(40)}1${']'.repeat(40)}`)), '')
  })

  test('is a place that the schema has, whatever the schema and the message', () => {
    const names = fc.constantFrom('a', 'b', 'name', 'requestBody', 'secret', 'x.y', '', 'toString')
    const data = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>(null, true, 0, -7, 'aaa', ''),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).value
    const options = fc.record({ acceptNull: fc.boolean(), coerceTypes: fc.boolean() })
    let failed = 0
    fc.assert(
      fc.property(schemas, options, fc.array(data, { minLength: 1, maxLength: 8 }), (schema, given, messages) => {
        if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return
        const validator = compileJsonSchema(schema as JsonObject, given, collectInto([]))
        if (validator === undefined) return
        const known = pathsIn(schema)
        for (const message of messages) {
          const verdict = validator(message)
          if (verdict.ok) continue
          failed += 1
          assert.ok(known.has(verdict.path), `${verdict.path} of ${JSON.stringify(schema)}`)
        }
      }),
      { numRuns: 400 },
    )
    assert.ok(failed > 150, `only ${failed} messages failed`)
  })
})

/** The paths of a value and all its parts. */
function pathsIn(value: Json, path = '', known = new Set<string>()): ReadonlySet<string> {
  known.add(path)
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries()) pathsIn(item, documentPath(path, index), known)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) pathsIn(item, documentPath(path, name), known)
  }
  return known
}
