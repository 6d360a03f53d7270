import { Failure } from '../../core/failure.ts'
import { takesBody } from '../../core/http.ts'
import { type Awaitable, isObject, type Json, type JsonObject } from '../../core/json.ts'
import { joinPaths, type LintSink } from '../../core/lint.ts'
import type { Enriched } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { compileJsonSchema, type Verdict } from '../../language/json-schema/json-schema.ts'
import { resolveLocal } from '../../language/json-schema/read-schema.ts'
import type { SchemaFault } from '../../language/json-schema/schema-faults.ts'
import type { Step } from '../chain.ts'
import type { SandboxedProgram } from '../sandbox.ts'
import type { PipelineSettings, Services } from '../services.ts'

/** The roots that a schema may name at its top level; a schema that names none describes the body. */
const PARTS = ['requestBody', 'query', 'lookupRequests'] as const

/** Applies the schema. */
type Apply = (data: Json, run: Run) => Awaitable<Verdict>

/**
 * Validates the message by `inputValidation`.
 *
 * In and out: Enriched; the same object unless types are coerced, then one with the coerced `requestBody`, `query` and
 * `lookupRequests`. Lints every fault of the schema. Fails: VALIDATION_FAILED, or LOOKUP_INVALID where all
 * faults are in the data of lookups, at the keyword that failed first, with a JSON Pointer for each fault: from the message
 * (`/requestBody/name`) if the schema names parts of it, else from the body (`/name`).
 */
export function compileValidate(
  { inputValidation: schema, endpoint }: Pick<Endpoint, 'inputValidation'> & Partial<Pick<Endpoint, 'endpoint'>>,
  settings: Pick<PipelineSettings, 'validationAcceptNullValues' | 'validationCoerceTypes'>,
  lint: LintSink,
  { sandboxed, generatesLater }: Pick<Services, 'sandboxed' | 'generatesLater'> = {},
): Step<Enriched, Enriched> {
  const unused = { adds: {} }
  if (schema === undefined) return unused
  const apply = compileApply(schema, settings, lint.at('inputValidation'), sandboxed, generatesLater)
  if (apply === undefined) return unused
  const inParts = namesParts(schema, schema)
  const selectSubject = inParts ? compileParts(endpoint?.method) : ({ requestBody }: Enriched) => requestBody
  const widen = inParts ? withParts : (message: Enriched, requestBody: Json) => ({ ...message, requestBody })
  const bodyAt = inParts ? '/requestBody' : ''
  const finish = (message: Enriched, verdict: Verdict): Enriched => {
    const ofLookups = inParts && !isEmpty(message.lookupRequests)
    const value = accepted(verdict, bodyAt, ofLookups)
    return settings.validationCoerceTypes ? widen(message, value) : message
  }
  return (message, run) => {
    const verdict = apply(selectSubject(message, run), run)
    return verdict instanceof Promise ? verdict.then((later) => finish(message, later)) : finish(message, verdict)
  }
}

/** Compiles the schema here or takes the one of the sandbox. Undefined if it has faults. */
function compileApply(
  schema: JsonObject,
  { validationAcceptNullValues: acceptNull, validationCoerceTypes: coerceTypes }: Parameters<typeof compileValidate>[1],
  lint: LintSink,
  sandboxed: SandboxedProgram | undefined,
  generatesLater: true | undefined,
): Apply | undefined {
  const generation = generatesLater ? 'later' : 'now'
  const compileHere = () => compileJsonSchema(schema, { acceptNull, coerceTypes }, lint, generation)
  if (sandboxed === undefined) {
    const validator = compileHere()
    return validator && ((data) => validator(data))
  }
  const { local } = sandboxed
  const inSandbox: Apply = (data, run) => sandboxed.validate(data, run.deadlineAt)
  if (local === undefined) {
    for (const { path, message, severity } of sandboxed.lints) lint.below(path)[severity](message)
    return inSandbox
  }
  const validator = compileHere()
  if (validator === undefined) return undefined
  return (data, run) => {
    const verdict = local.isQuick() ? local.validate(validator, data) : undefined
    if (verdict instanceof Promise) return verdict.then((later) => later ?? inSandbox(data, run))
    return verdict ?? inSandbox(data, run)
  }
}

/** The parts that a message has, so that `required` finds missing ones. */
function compileParts(method: string | undefined): (message: Enriched, run: Run) => JsonObject {
  const bodiless = method !== undefined && !takesBody(method)
  return ({ requestBody, query, lookupRequests }, run) => {
    const parts: Record<string, Json> = {}
    if (!bodiless || run.door.alwaysHasBody) parts.requestBody = requestBody
    if (!isEmpty(query)) parts.query = query
    if (!isEmpty(lookupRequests)) parts.lookupRequests = lookupRequests
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
  const details = verdict.faults.map(({ pointer, message, custom, issue }) => ({
    path: pointer,
    message,
    isSentence: custom,
    issue,
    inBody: pointer.startsWith(`${bodyAt}/`) ? pointer.slice(bodyAt.length) : undefined,
  }))
  const causes = verdict.faults.filter(({ pointer, ofAlternatives }) => pointer !== '' || !ofAlternatives)
  const isOfLookups =
    hasLookups && causes.length > 0 && causes.every(({ pointer }) => `${pointer}/`.startsWith('/lookupRequests/'))
  const [code, what] = isOfLookups
    ? (['LOOKUP_INVALID', 'Lookup data is not valid'] as const)
    : (['VALIDATION_FAILED', 'Validation failed'] as const)
  throw new Failure(code, `${what}: ${verdict.faults.map(sentence).join('; ')}.`, {
    path: joinPaths('inputValidation', verdict.path),
    details,
    // The sender chooses names of fields too.
    unquoted: `${what}: ${details.length} ${details.length === 1 ? 'fault' : 'faults'}.`,
  })
}

function sentence({ pointer, message, custom }: SchemaFault): string {
  if (custom) return message.replace(/\.$/, '')
  return `${pointer === '' ? 'the message' : pointer} ${message}`
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
