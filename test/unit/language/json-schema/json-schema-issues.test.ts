/** The issue type of each fault, by the keyword of the schema. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { DRAFT_2020, sound } from './schema-rig.ts'

function issuesOf(schema: JsonObject, data: Json): readonly (string | undefined)[] {
  const verdict = sound(schema)(data)
  assert.ok(!verdict.ok)
  return verdict.faults.map(({ issue }) => issue)
}

const keywords: readonly (readonly [expect: string, schema: JsonObject, data: Json])[] = [
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
  for (const [expect, schema, data] of keywords) {
    test(`${JSON.stringify(schema)} is "${expect}"`, () => assert.deepEqual(issuesOf(schema, data), [expect]))
  }

  test('with a message of its author is that of the keywords, and "invariant" if these have several', () => {
    const schema = { required: ['a'], minProperties: 1, errorMessage: 'Send a patient.' }
    assert.deepEqual(issuesOf({ ...schema, minProperties: 0 }, {}), ['required'])
    assert.deepEqual(issuesOf(schema, {}), ['invariant'])
  })

  test('about the message as a whole is not known', () => {
    const schema = { items: { type: 'string' } }
    assert.deepEqual(issuesOf(schema, Array(102).fill(1)).slice(-2), ['value', undefined])
  })
})
