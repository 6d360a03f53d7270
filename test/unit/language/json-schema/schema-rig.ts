/** Compiled schemas for the tests of validation, and what they say. */
import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import {
  compileJsonSchema,
  type SchemaOptions,
  type Validator,
} from '../../../../src/language/json-schema/json-schema.ts'

export const plain: SchemaOptions = { acceptNull: false, coerceTypes: false }
export const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema'

export function compile(schema: JsonObject, options = plain): { validator: Validator | undefined; lints: Lint[] } {
  const lints: Lint[] = []
  return { validator: compileJsonSchema(schema, options, collectInto(lints, 'inputValidation')), lints }
}

export function sound(schema: JsonObject, options = plain): Validator {
  const { validator, lints } = compile(schema, options)
  assert.deepEqual(lints, [])
  assert.ok(validator)
  return validator
}

/** What is wrong, as `pointer message`. */
export function faults(validator: Validator, data: Json): string[] {
  const verdict = validator(data)
  return verdict.ok ? [] : verdict.faults.map(({ pointer, message }) => `${pointer} ${message}`.trim())
}

export const nested = (levels: number, name = 'a'): Json =>
  JSON.parse(`{"${name}":`.repeat(levels) + 1 + '}'.repeat(levels))
