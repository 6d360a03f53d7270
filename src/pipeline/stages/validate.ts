/** Checks what came in, before anything is made of it: the stage of `inputValidation`. */
import type { Endpoint } from '../../config/schema.ts'
import { Failure } from '../../domain/failure.ts'
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import type { Enriched } from '../../domain/message.ts'
import { compileJsonSchema, type Verdict } from '../../language/json-schema.ts'
import type { SchemaFault } from '../../language/json-schema-faults.ts'
import { resolveLocal } from '../../language/json-schema-refs.ts'
import type { Step } from '../chain.ts'
import type { SandboxedProgram } from '../sandbox.ts'
import type { PipelineSettings } from '../services.ts'

/** The roots that a schema may speak of; one that speaks of none describes the message itself. */
const PARTS = ['requestBody', 'query', 'lookupRequests'] as const

/**
 * Validates the message by `inputValidation`.
 *
 * In and out: Enriched; the same object unless types are coerced, then one with the coerced `requestBody`, `query` and
 * `lookupRequests`. Lints every fault of the schema. Fails: VALIDATION_FAILED, with a JSON Pointer for each fault: from
 * the message's parts (`/requestBody/name`) where the schema speaks of them, from the body (`/name`) where it does not.
 */
export function compileValidate(
  { inputValidation: schema }: Pick<Endpoint, 'inputValidation'>,
  settings: Pick<PipelineSettings, 'validationAcceptNullValues' | 'validationCoerceTypes'>,
  lint: LintSink,
  sandboxed?: SandboxedProgram,
): Step<Enriched, Enriched> {
  const unused = { adds: {} }
  if (schema === undefined) return unused
  const coerceTypes = settings.validationCoerceTypes
  if (sandboxed !== undefined) return validateSandboxed(schema, coerceTypes, sandboxed, lint.at('inputValidation'))
  const options = { acceptNull: settings.validationAcceptNullValues, coerceTypes }
  const validator = compileJsonSchema(schema, options, lint.at('inputValidation'))
  if (validator === undefined) return unused
  if (!speaksOfParts(schema, schema)) {
    return (message) => {
      const requestBody = accepted(validator(message.requestBody))
      return coerceTypes ? { ...message, requestBody } : message
    }
  }
  return (message) => {
    const { requestBody, query, lookupRequests } = message
    const value = accepted(validator({ requestBody, query, lookupRequests }))
    return coerceTypes ? withParts(message, value) : message
  }
}

/** Whether the schema names one of PARTS at its top level, also by way of what is applied to the same data. */
function speaksOfParts(schema: Json | undefined, root: JsonObject, seen = new Set<Json>()): boolean {
  if (!isObject(schema) || seen.has(schema)) return false
  seen.add(schema)
  const { required, properties, $ref, allOf, anyOf, oneOf } = schema
  const names = [...(Array.isArray(required) ? required : []), ...(isObject(properties) ? Object.keys(properties) : [])]
  if (PARTS.some((part) => names.includes(part))) return true
  if (typeof $ref === 'string' && speaksOfParts(resolveLocal(root, $ref), root, seen)) return true
  return [allOf, anyOf, oneOf].some(
    (list) => Array.isArray(list) && list.some((part: Json) => speaksOfParts(part, root, seen)),
  )
}

/** The same where the schema is applied outside of this process; its lints come from there. */
function validateSandboxed(
  schema: JsonObject,
  coerceTypes: boolean,
  { lints, validate }: SandboxedProgram,
  lint: LintSink,
): Step<Enriched, Enriched> {
  for (const { path, message, severity } of lints) lint.below(path)[severity](message)
  if (!speaksOfParts(schema, schema)) {
    return async (message, run) => {
      const requestBody = accepted(await validate(message.requestBody, run.deadlineAt))
      return coerceTypes ? { ...message, requestBody } : message
    }
  }
  return async (message, run) => {
    const { requestBody, query, lookupRequests } = message
    const value = accepted(await validate({ requestBody, query, lookupRequests }, run.deadlineAt))
    return coerceTypes ? withParts(message, value) : message
  }
}

/** The value of a verdict; throws VALIDATION_FAILED where there is none. */
function accepted(verdict: Verdict): Json {
  if (verdict.ok) return verdict.value
  const details = verdict.faults.map(({ pointer, message }) => ({ path: pointer, message }))
  throw new Failure('VALIDATION_FAILED', `Validation failed: ${verdict.faults.map(sentence).join('; ')}.`, {
    path: 'inputValidation',
    details,
    // Names of fields are the sender's too.
    unquoted: `Validation failed: ${details.length} ${details.length === 1 ? 'fault' : 'faults'}.`,
  })
}

function sentence({ pointer, message, custom }: SchemaFault): string {
  if (custom) return message.replace(/\.$/, '')
  return `${pointer === '' ? 'the message' : pointer} ${message}`
}

/** Coercing changes values, never their names: what was an object still is one. */
function withParts(message: Enriched, value: Json): Enriched {
  const parts = isObject(value) ? value : {}
  const { requestBody = message.requestBody, query, lookupRequests } = parts
  return {
    ...message,
    requestBody,
    query: isObject(query) ? query : message.query,
    lookupRequests: isObject(lookupRequests) ? lookupRequests : message.lookupRequests,
  }
}
