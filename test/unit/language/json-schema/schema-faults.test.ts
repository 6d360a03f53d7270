/** What is said of a value that fails: the issue type of each fault, and the path of the keyword that failed first. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, documentPath, type Lint } from '../../../../src/core/lint.ts'
import { compileJsonSchema, type SchemaOptions } from '../../../../src/language/json-schema/json-schema.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { schemas } from '../../../support/fuzz/schemas.ts'
import { DRAFT_2020, plain, sound } from './schema-rig.ts'

function issuesOf(schema: JsonObject, data: Json): readonly (string | undefined)[] {
  const verdict = sound(schema)(data)
  assert.ok(!verdict.ok)
  return verdict.faults.map(({ issue }) => issue)
}

const issues: readonly (readonly [expect: string, schema: JsonObject, data: Json])[] = [
  ['required', { required: ['a'] }, {}],
  ['value', { type: 'string' }, 1],
  ['value', { enum: [1] }, 2],
  ['value', { const: 1 }, 2],
  ['value', { minimum: 1 }, 0],
  ['value', { maximum: 1 }, 2],
  ['value', { exclusiveMinimum: 1 }, 1],
  ['value', { exclusiveMaximum: 1 }, 1],
  ['value', { min: 1 }, 0],
  ['value', { max: 1 }, 2],
  ['value', { multipleOf: 2 }, 1],
  ['value', { minLength: 2 }, 'a'],
  ['value', { maxLength: 1 }, 'aa'],
  ['value', { pattern: '^b' }, 'a'],
  ['value', { format: 'date' }, 'a'],
  ['value', { minItems: 1 }, []],
  ['value', { maxItems: 1 }, [1, 2]],
  ['value', { minProperties: 1 }, {}],
  ['value', { maxProperties: 0 }, { a: 1 }],
  ['value', { if: false, else: { type: 'string' } }, 1],
  ['invariant', { uniqueItems: true }, [1, 1]],
  ['invariant', { additionalProperties: false }, { a: 1 }],
  ['invariant', { properties: { a: false } }, { a: 1 }],
  ['invariant', { items: [true], additionalItems: false }, [1, 2]],
  ['invariant', { contains: { const: 1 } }, [1, 2].slice(2)],
  ['invariant', { dependencies: { a: ['b'] } }, { a: 1 }],
  ['invariant', { $schema: DRAFT_2020, dependentRequired: { a: ['b'] } }, { a: 1 }],
  ['invariant', { $schema: DRAFT_2020, unevaluatedProperties: false }, { a: 1 }],
  ['invariant', { not: {} }, 1],
  ['invariant', { oneOf: [true, true] }, 1],
]

describe('the issue of a fault', () => {
  for (const [expect, schema, data] of issues) {
    test(`${JSON.stringify(schema)} is "${expect}"`, () => assert.deepEqual(issuesOf(schema, data), [expect]))
  }

  test('with a message of its author is that of the issues, and "invariant" if these have several', () => {
    const schema = { required: ['a'], minProperties: 1, errorMessage: 'Send a patient.' }
    assert.deepEqual(issuesOf({ ...schema, minProperties: 0 }, {}), ['required'])
    assert.deepEqual(issuesOf(schema, {}), ['invariant'])
  })

  test('about the message as a whole is not known', () => {
    const schema = { items: { type: 'string' } }
    assert.deepEqual(issuesOf(schema, Array(102).fill(1)).slice(-2), ['value', undefined])
  })
})

const RUNS = LONG ? 400 : 100

/** Undefined for data that is valid. */
function failedAt(schema: JsonObject, data: Json, options = plain): string | undefined {
  const verdict = sound(schema, options)(data)
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
  $schema: DRAFT_2020,
  $id: 'http://schema.invalid/root',
  properties: { a: { $ref: 'part' }, b: { $ref: '#other' } },
  $defs: { part: { $id: 'part', minimum: 3 }, other: { $anchor: 'other', maxLength: 2 } },
}
const either: JsonObject = { anyOf: [{ type: 'string' }, { required: ['b'] }] }
// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
const branches: JsonObject = { if: { type: ['number', 'object'] }, then: { minimum: 2, ...either } }

type Case = readonly [schema: JsonObject, data: Json, path: string, options?: SchemaOptions]
const nulls: SchemaOptions = { ...plain, acceptNull: true }

const cases: readonly Case[] = [
  [person, [], 'type'],
  [person, { code: 1 }, 'required[0]'],
  [person, { name: 'a' }, 'required[1]'],
  [person, { name: 1, code: 1 }, 'properties.name.type'],
  [person, { name: 'a', code: 1, age: -1 }, 'properties.age.min'],
  [person, { name: 'a', code: 1, age: 151 }, 'properties.age.maximum'],
  [person, { name: 'a', code: 1, 'a.b': 'y' }, 'properties.a\\.b.pattern'],
  [{ required: ['a', ''] }, { a: 1 }, 'required[1]'],
  [recursive, { first: {} }, 'definitions.node.required[0]'],
  [recursive, { first: { value: 1, next: { value: 'x' } } }, 'definitions.node.properties.value.type'],
  [recursive, { first: { value: 1, next: { value: 2, hidden: 3 } } }, 'definitions.node.properties.hidden'],
  [named, { a: 2 }, '$defs.part.minimum'],
  [named, { b: 'abc' }, '$defs.other.maxLength'],
  [{ properties: { a: false, b: { properties: { a: false } } } }, { a: 1 }, 'properties.a'],
  [{ properties: { a: false, b: { properties: { a: false } } } }, { b: { a: 1 } }, 'properties.b.properties.a'],
  // Ajv names the false schema from the nearest reference on, so that both are possible.
  [
    { ...recursive, properties: { ...(recursive.properties as JsonObject), hidden: false } },
    { first: { value: 1, next: { value: 2, hidden: 3 } } },
    '',
  ],
  [{ properties: { 'a/b %': false } }, { 'a/b %': 1 }, 'properties.a/b %'],
  [either, { a: 1 }, 'anyOf'],
  [{ oneOf: [{}, {}] }, 1, 'oneOf'],
  [{ not: {} }, 1, 'not'],
  [{ allOf: [{}, { minimum: 2 }] }, 1, 'allOf[1].minimum'],
  [branches, 1, 'then.minimum'],
  [branches, {}, 'then.anyOf'],
  [{ if: { type: 'number' }, else: false }, 'a', 'else'],
  [{ items: { enum: ['a'] } }, ['a', 'b'], 'items.enum'],
  [{ items: [{}, { const: 1 }] }, [1, 2], 'items[1].const'],
  [{ items: [{}], additionalItems: false }, [1, 2], 'additionalItems'],
  [{ $schema: DRAFT_2020, prefixItems: [{}], items: false }, [1, 2], 'items'],
  [{ uniqueItems: true }, [1, 1], 'uniqueItems'],
  [{ contains: { type: 'string' } }, [1], 'contains'],
  [{ additionalProperties: false }, { secret: 1 }, 'additionalProperties'],
  [{ additionalProperties: { type: 'string' } }, { secret: 1 }, 'additionalProperties.type'],
  [{ patternProperties: { '^x': { type: 'string' } } }, { x1: 1 }, 'patternProperties.^x.type'],
  [{ propertyNames: { pattern: '^x' } }, { secret: 1 }, 'propertyNames'],
  [{ dependencies: { a: ['b', 'c'] } }, { a: 1, b: 1 }, 'dependencies.a[1]'],
  [{ dependencies: { a: { required: ['c'] } } }, { a: 1 }, 'dependencies.a.required[0]'],
  [{ $schema: DRAFT_2020, dependentRequired: { a: ['b'] } }, { a: 1 }, 'dependentRequired.a[0]'],
  [{ $schema: DRAFT_2020, unevaluatedProperties: false }, { secret: 1 }, 'unevaluatedProperties'],
  [{ required: ['name'], errorMessage: { required: 'Give a name.' } }, {}, 'required[0]'],
  [{ properties: { a: { const: 1 } } }, { a: 2 }, 'properties.a.const', nulls],
  [{ oneOf: [{ type: 'string' }, true] }, 'a', 'oneOf', nulls],
]

describe('the path of a verdict', () => {
  for (const [schema, data, path, options] of cases) {
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

  test('is a place that the schema has, whatever the schema and the message, and both stay as they are', () => {
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
        const lints: Lint[] = []
        const before = JSON.stringify([schema, messages])
        const validator = compileJsonSchema(schema as JsonObject, given, collectInto(lints))
        assert.equal(
          validator === undefined,
          lints.some(({ severity }) => severity === 'error'),
        )
        const known = pathsIn(schema)
        for (const message of messages) {
          const verdict = validator?.(message)
          assert.equal(JSON.stringify([schema, messages]), before)
          if (verdict === undefined || verdict.ok) continue
          failed += 1
          assert.ok(verdict.faults.length > 0)
          assert.ok(known.has(verdict.path), `${verdict.path} of ${JSON.stringify(schema)}`)
        }
      }),
      { numRuns: RUNS },
    )
    assert.ok(failed > RUNS / 8, `only ${failed} messages failed`)
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
