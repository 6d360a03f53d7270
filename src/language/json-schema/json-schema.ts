/** JSON Schema for messages, compiled when an endpoint is registered. No schema or message can stop the process. */
import type { AnySchemaObject, ValidateFunction } from 'ajv'
import addErrors from 'ajv-errors'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { collectInto, isError, type Lint, type LintSink } from '../../core/lint.ts'
import { OutOfTime, openAjv, TooMuchWork, Work } from './bounded-ajv.ts'
import { detectDraft, endless, readSchema } from './read-schema.ts'
import { createFindPath, type SchemaFault, toSchemaFaults } from './schema-faults.ts'

export type SchemaOptions = Readonly<{
  /** Null matches every `type`, `enum` and `const`. */
  acceptNull: boolean
  /** Converts values to the type in the schema, in a copy. */
  coerceTypes: boolean
}>

/**
 * `value`: the data itself, or its coerced copy. `path`: of the keyword that failed first, in the schema, as document paths
 * are written; '' if the validation was stopped. `isStopped`: it took longer than its caller let it, and has no verdict.
 */
export type Verdict =
  | Readonly<{ ok: true; value: Json }>
  | Readonly<{ ok: false; path: string; faults: readonly SchemaFault[]; isStopped?: true }>

/** When code is generated: `later` is with the first message, and is for a schema that was compiled `now` once. */
type CodeGeneration = 'now' | 'later'

/**
 * Throws nothing, whatever the data. `limitMs`: a validation that takes longer is stopped; by default only its work is
 * bounded.
 */
export type Validator = (data: Json, limitMs?: number) => Verdict

/** Ajv optimises the code of a schema with at most this many schemas in it, in about a tenth of a second. */
const OPTIMISED_SCHEMAS = 300

/** Values of the message × schemas: above this, only the first fault is listed, to save memory. */
const LISTING_LIMIT = 4_000_000

/**
 * Compiles a JSON Schema of draft-07, or of 2020-12 where `$schema` names it.
 *
 * Supports all formats, `errorMessage` (ajv-errors), `nullable`, and `min` / `max` for `minimum` / `maximum`. Patterns run
 * in linear time; references to other documents are never fetched. Lints every fault at its path. Out: undefined if the
 * lint has an error. Source: https://json-schema.org/draft-07, https://json-schema.org/draft/2020-12.
 */
export function compileJsonSchema(
  schema: JsonObject,
  options: SchemaOptions,
  lint: LintSink,
  generation: CodeGeneration = 'now',
): Validator | undefined {
  const lints: Lint[] = []
  const sink = collectInto(lints)
  const draft = detectDraft(schema, sink)
  const { written, ...reading } = readSchema(schema, draft, options.acceptNull, sink)
  const loops = endless(reading.references, schema)
  for (const { lint: at } of loops) {
    at.at('$ref').error('refers back to itself without end; put a keyword such as "properties" between.')
  }
  for (const { path, severity, message } of lints) lint.below(path)[severity](message)
  if (lints.some(isError) || !isObject(written)) return undefined
  const work = new Work()
  const generate = (allErrors: boolean): ValidateFunction => {
    const { coerceTypes } = options
    const ajv = openAjv(draft, { verbose: true, coerceTypes, ownProperties: namesInherited(schema), allErrors }, work)
    if (allErrors) addErrors.default(ajv)
    // Ajv optimises code in quadratic time.
    if (reading.count > OPTIMISED_SCHEMAS) ajv.opts.code.optimize = 0
    return ajv.compile(written as AnySchemaObject)
  }
  const quick = once(() => generate(false))
  const whole = once(() => generate(true))
  const findPath = createFindPath(schema, written)
  const compiled = { quick, whole, findPath, schemas: reading.count, coerceTypes: options.coerceTypes, work }
  try {
    if (generation === 'now') for (const part of [quick, whole]) part()
    return (data, limitMs) => validate(data, compiled, limitMs)
  } catch (thrown) {
    const text = thrown instanceof RangeError || !(thrown instanceof Error) ? 'it is nested too deeply' : thrown.message
    lint.error(`The schema does not compile: ${text}.`)
    return undefined
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/**
 * True if the schema may name a field that every object inherits. Only then does Ajv check that a field is the message's
 * own, which takes a third of the time of a validation.
 */
function namesInherited(schema: JsonObject): boolean {
  const text = JSON.stringify(schema)
  return Object.getOwnPropertyNames(Object.prototype).some((name) => text.includes(JSON.stringify(name)))
}

type Compiled = Readonly<{
  /** Stops at the first fault. */
  quick: () => ValidateFunction
  /** Lists all faults. */
  whole: () => ValidateFunction
  /** Of the errors of `quick`. */
  findPath: ReturnType<typeof createFindPath>
  /** The number of schemas in the schema. */
  schemas: number
  coerceTypes: boolean
  work: Work
}>

function validate(data: Json, compiled: Compiled, limitMs: number | undefined): Verdict {
  const { findPath, schemas, work } = compiled
  const quick = compiled.quick()
  work.stopAfter(limitMs === undefined ? 0 : Date.now() + limitMs)
  try {
    const quickly = run(quick, data, compiled)
    if (quickly.errors === undefined) return { ok: true, value: quickly.value }
    const first = toSchemaFaults(quickly.errors)
    const path = findPath(quickly.errors)
    if (countValues(data, LISTING_LIMIT / schemas) * schemas >= LISTING_LIMIT) {
      return { ok: false, path, faults: [...first, only('the message is too large to list further faults')] }
    }
    const all = listAll(data, compiled)
    if (all === undefined) {
      return { ok: false, path, faults: [...first, only('there are too many further faults to list them')] }
    }
    const faults = toSchemaFaults(all)
    return { ok: false, path, faults: faults.length > 0 ? faults : first }
  } catch (thrown) {
    if (!isTooMuch(thrown)) throw thrown
    const fault = only('the message is nested too deeply, or takes too many steps, for this schema')
    return { ok: false, path: '', faults: [fault], ...(thrown instanceof OutOfTime ? { isStopped: true } : {}) }
  }
}

const isTooMuch = (thrown: unknown): boolean => thrown instanceof TooMuchWork || thrown instanceof RangeError

/**
 * Gives none if there are too many errors to gather. Empty if ajv-errors fails: it looks fields up in plain objects, which
 * inherit `toString`, so that it fails at a field of the message with this name.
 */
function listAll(data: Json, compiled: Compiled) {
  try {
    return run(compiled.whole(), data, compiled).errors ?? []
  } catch (thrown) {
    if (thrown instanceof TypeError) return []
    if (isTooMuch(thrown) && !(thrown instanceof OutOfTime)) return undefined
    throw thrown
  }
}

function run(validator: ValidateFunction, data: Json, { coerceTypes, work }: Compiled) {
  const holder = { value: coerceTypes ? structuredClone(data) : data }
  work.startRun()
  // Coercing the whole value replaces it in its parent.
  const context = {
    instancePath: '',
    parentData: holder,
    parentDataProperty: 'value',
    rootData: holder.value,
    dynamicAnchors: {},
  }
  const passed = validator(holder.value, context as Parameters<ValidateFunction>[1])
  const errors = passed ? undefined : (validator.errors ?? [])
  // The errors hold parts of the message, and the validator lives as long as the endpoint.
  validator.errors = null
  return { value: holder.value, errors }
}

const only = (message: string): SchemaFault => ({ pointer: '', message, custom: true })

/** The number of values in the data, counted up to `limit`. */
function countValues(data: Json, limit: number): number {
  let count = 0
  const pending: Json[] = [data]
  for (let value = pending.pop(); value !== undefined && count < limit; value = pending.pop()) {
    count++
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) pending.push(inner)
  }
  return count
}
