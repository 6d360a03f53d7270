import { takesBody } from '../../core/http.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Enriched } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { Verdict } from '../../language/json-schema/json-schema.ts'
import { resolveLocal } from '../../language/json-schema/read-schema.ts'
import type { Step } from '../chain.ts'
import { compileSchema, invalid } from '../schemas.ts'
import type { PipelineSettings, Services } from '../services.ts'

/** The roots that a schema may name at its top level; a schema that names none describes the body. */
const PARTS = ['requestBody', 'query', 'lookupRequests'] as const

/**
 * Validates the message by `inputValidation`.
 *
 * In and out: Enriched; the same object unless types are coerced, then one with the coerced `requestBody`, `query` and
 * `lookupRequests`. Lints every fault of the schema. Fails: VALIDATION_FAILED, or LOOKUP_INVALID where all
 * faults are in the data of lookups, at the keyword that failed first, with a JSON Pointer for each fault: from the message
 * (`/requestBody/name`) if the schema names parts of it, else from the body (`/name`).
 */
export function compileValidate(
  {
    inputValidation: schema,
    endpoint,
    requests,
  }: Pick<Endpoint, 'inputValidation'> & Partial<Pick<Endpoint, 'endpoint' | 'requests'>>,
  settings: Pick<PipelineSettings, 'validationAcceptNullValues' | 'validationCoerceTypes'>,
  lint: LintSink,
  services: Pick<Services, 'sandboxed' | 'generatesLater'> = {},
): Step<Enriched, Enriched> {
  const unused = { adds: {} }
  if (schema === undefined) return unused
  const apply = compileSchema(schema, settings, services, lint.at('inputValidation'))
  if (apply === undefined) return unused
  const inParts = namesParts(schema, schema)
  // Even if `when` of all of them prevents every lookup: the sender cannot add the part.
  const hasLookups = (requests?.lookup.length ?? 0) > 0
  const selectSubject = inParts
    ? compileParts(endpoint?.method, hasLookups)
    : ({ requestBody }: Enriched) => requestBody
  const widen = inParts ? withParts : (message: Enriched, requestBody: Json) => ({ ...message, requestBody })
  const bodyAt = inParts ? '/requestBody' : ''
  const finish = (message: Enriched, verdict: Verdict): Enriched => {
    const value = accepted(verdict, bodyAt, inParts && hasLookups)
    return settings.validationCoerceTypes ? widen(message, value) : message
  }
  return (message, run) => {
    const verdict = apply(selectSubject(message, run), run)
    return verdict instanceof Promise ? verdict.then((later) => finish(message, later)) : finish(message, verdict)
  }
}

/** The parts that a message has, so that `required` finds missing ones. */
function compileParts(method: string | undefined, hasLookups: boolean): (message: Enriched, run: Run) => JsonObject {
  const bodiless = method !== undefined && !takesBody(method)
  return ({ requestBody, query, lookupRequests }, run) => {
    const parts: Record<string, Json> = {}
    if (run.door.alwaysHasBody || !(bodiless || run.door.neverHasBody)) parts.requestBody = requestBody
    if (!isEmpty(query)) parts.query = query
    if (hasLookups) parts.lookupRequests = lookupRequests
    return parts
  }
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false
  return true
}

/** True if the schema, or a schema that it applies to the same data, names one of PARTS at its top level. */
export function namesParts(schema: Json | undefined, root: JsonObject, seen = new Set<Json>()): boolean {
  if (!isObject(schema) || seen.has(schema)) return false
  seen.add(schema)
  const { required, properties, $ref, allOf, anyOf, oneOf } = schema
  const names = [...(Array.isArray(required) ? required : []), ...(isObject(properties) ? Object.keys(properties) : [])]
  if (PARTS.some((part) => names.includes(part))) return true
  if (typeof $ref === 'string' && namesParts(resolveLocal(root, $ref), root, seen)) return true
  return [allOf, anyOf, oneOf].some(
    (list) => Array.isArray(list) && list.some((part: Json) => namesParts(part, root, seen)),
  )
}

/**
 * The value of a verdict. `bodyAt`: JSON Pointer to the body in what was validated. `hasLookups`: data of lookups was validated
 * too. Throws VALIDATION_FAILED; LOOKUP_INVALID if the sender is not to blame.
 */
function accepted(verdict: Verdict, bodyAt: string, hasLookups: boolean): Json {
  if (verdict.ok) return verdict.value
  const causes = verdict.faults.filter(({ pointer, ofAlternatives }) => pointer !== '' || !ofAlternatives)
  const isOfLookups =
    hasLookups && causes.length > 0 && causes.every(({ pointer }) => `${pointer}/`.startsWith('/lookupRequests/'))
  throw invalid(isOfLookups ? 'LOOKUP_INVALID' : 'VALIDATION_FAILED', verdict, 'inputValidation', bodyAt)
}

/** Coercion changes values, never names or objects. */
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
