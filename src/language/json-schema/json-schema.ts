/** JSON Schema for messages: compiled when an endpoint is registered, and never able to stop the process. */
import { Ajv, type AnySchemaObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addErrors from 'ajv-errors'
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { compilePattern } from '../re2-pattern.ts'
import { addEquality } from './json-schema-equality.ts'
import { faultsOf, type SchemaFault } from './json-schema-faults.ts'
import { addAllFormats } from './json-schema-formats.ts'
import type { Draft } from './json-schema-keywords.ts'
import { addLengths } from './json-schema-lengths.ts'
import { endless, targetsOf } from './json-schema-refs.ts'
import { type Reading, rewriteSchema } from './json-schema-rewrite.ts'
import {
  counting,
  METER,
  shortJson,
  spend,
  TooMuchWork,
  UNIT_LIMIT,
  type Work,
  type WorkMeter,
} from './json-schema-work.ts'

export type SchemaOptions = Readonly<{
  /** Null passes any type, `enum` and `const`. */
  acceptNull: boolean
  /** Values are converted to the type that the schema names, in a copy. */
  coerceTypes: boolean
}>

/** `value` is the data itself, or the coerced copy of it. */
export type Verdict = Readonly<{ ok: true; value: Json }> | Readonly<{ ok: false; faults: readonly SchemaFault[] }>

/** Throws nothing, whatever the data. */
export type Validator = (data: Json) => Verdict

const DRAFTS: Readonly<Record<string, Draft>> = {
  'json-schema.org/draft-07/schema': 'draft-07',
  'json-schema.org/draft/2020-12/schema': '2020-12',
}

/** References followed for one message: a schema may have two at each level, and messages sixty levels. */
const STEP_LIMIT = 200_000

/** Schemas within a schema up to which the code is made as short as it can be: a tenth of a second or so. */
const OPTIMISED_SCHEMAS = 300

/** Values of a message × schemas up to which every fault is listed; above it the first alone, for memory's sake. */
const LISTING_LIMIT = 4_000_000

/**
 * Compiles a JSON Schema of draft-07, or of 2020-12 where `$schema` names it.
 *
 * Knows all formats, `errorMessage` (ajv-errors), `nullable`, and `min` / `max` for `minimum` / `maximum`. Patterns run in
 * linear time; references to other documents are never fetched. Lints every fault with its place; undefined where one is
 * an error. Source: https://json-schema.org/draft-07, https://json-schema.org/draft/2020-12.
 */
export function compileJsonSchema(schema: JsonObject, options: SchemaOptions, lint: LintSink): Validator | undefined {
  let sound = true
  const sink = noticing(lint, () => {
    sound = false
  })
  const draft = draftOf(schema, sink)
  const work: Work = { steps: STEP_LIMIT, units: UNIT_LIMIT }
  const common: Options = { verbose: true, coerceTypes: options.coerceTypes, ownProperties: namesInherited(schema) }
  const quick = openAjv(draft, { ...common, allErrors: false }, work)
  const whole = openAjv(draft, { ...common, allErrors: true }, work)
  addErrors.default(whole)
  const formats = Object.keys(quick.formats)
  const reading: Reading = { draft, root: schema, targets: targetsOf(schema), formats, references: [], count: 0 }
  const written = rewriteSchema(schema, reading, sink, options.acceptNull)
  const loops = new Set(
    endless(
      reading.references.map((reference) => reference.schema),
      schema,
    ),
  )
  for (const { schema: from, lint: at } of reading.references) {
    if (loops.has(from))
      at.at('$ref').error('refers back to itself without end; put a keyword such as "properties" between.')
  }
  if (!sound || !isObject(written)) return undefined
  // Making the code shorter takes a time by the square of its length.
  if (reading.count > OPTIMISED_SCHEMAS) for (const { opts } of [quick, whole]) opts.code.optimize = 0
  try {
    const validators = {
      quick: quick.compile(written as AnySchemaObject),
      whole: whole.compile(written as AnySchemaObject),
    }
    return (data) => validate(data, validators, reading.count, options.coerceTypes, work)
  } catch (thrown) {
    const text = thrown instanceof RangeError || !(thrown instanceof Error) ? 'it is nested too deeply' : thrown.message
    lint.error(`The schema does not compile: ${text}.`)
    return undefined
  }
}

/**
 * Whether the schema may speak of a field that every object inherits: only then must each field be asked whether it is
 * the message's own, which takes a third of the time of validating.
 */
function namesInherited(schema: JsonObject): boolean {
  const text = JSON.stringify(schema)
  return Object.getOwnPropertyNames(Object.prototype).some((name) => text.includes(JSON.stringify(name)))
}

function draftOf(schema: JsonObject, lint: LintSink): Draft {
  const { $schema } = schema
  if ($schema === undefined) return 'draft-07'
  const draft = typeof $schema === 'string' ? DRAFTS[$schema.replace(/^https?:\/\//, '').replace(/#$/, '')] : undefined
  if (draft === undefined) {
    lint
      .at('$schema')
      .error(
        '"$schema" must be "http://json-schema.org/draft-07/schema#" or "https://json-schema.org/draft/2020-12/schema".',
      )
  }
  return draft ?? 'draft-07'
}

/** The sink, calling `onError` for each error. */
function noticing(lint: LintSink, onError: () => void): LintSink {
  return {
    path: lint.path,
    warning: (message) => lint.warning(message),
    error: (message) => {
      onError()
      lint.error(message)
    },
    at: (...segments) => noticing(lint.at(...segments), onError),
    below: (written) => noticing(lint.below(written), onError),
  }
}

/** An instance of its own for each compiled schema: instances keep every schema that they ever saw. */
function openAjv(draft: Draft, options: Options, work: Work): Ajv {
  const common: Options = {
    ...options,
    strict: false,
    // The schema was checked while it was rewritten, with better sentences.
    validateSchema: false,
    logger: false,
    code: {
      regExp: Object.assign(linearRegExp(work), { code: 'linearRegExp' }),
      lines: true,
      // Faults are listed for few messages; what it costs to count there is no matter.
      process: (code) => counting(code, options.allErrors === true),
    },
  }
  const ajv = draft === '2020-12' ? new Ajv2020(common) : new Ajv(common)
  Object.assign(ajv, { [METER]: meterOf(work) })
  addAllFormats(ajv, work)
  addLengths(ajv, work)
  addEquality(ajv, work)
  return ajv
}

const meterOf = (work: Work): WorkMeter => ({
  spend: (units) => spend(work, units),
  step: () => {
    if (--work.steps < 0) throw new TooMuchWork()
  },
  giveUp: () => {
    throw new TooMuchWork()
  },
  JSON: { stringify: (value: unknown) => shortJson(value, work) },
})

const linearRegExp = (work: Work) => (source: string) => {
  const pattern = compilePattern(source)
  if (!pattern.ok) throw new TypeError(pattern.message)
  const { test, unitsPerCharacter } = pattern.value
  return {
    test: (text: string) => {
      spend(work, text.length * unitsPerCharacter)
      return test(text)
    },
    toString: () => source,
  }
}

type Validators = Readonly<{ quick: ValidateFunction; whole: ValidateFunction }>

function validate(
  data: Json,
  { quick, whole }: Validators,
  schemas: number,
  coerceTypes: boolean,
  work: Work,
): Verdict {
  try {
    const quickly = run(quick, data, coerceTypes, work)
    if (quickly.errors === undefined) return { ok: true, value: quickly.value }
    const first = faultsOf(quickly.errors)
    if (countValues(data, LISTING_LIMIT / schemas) * schemas >= LISTING_LIMIT) {
      return { ok: false, faults: [...first, only('the message is too large to list further faults')] }
    }
    const all = listAll(whole, data, coerceTypes, work)
    if (all === undefined)
      return { ok: false, faults: [...first, only('there are too many further faults to list them')] }
    const faults = faultsOf(all)
    return { ok: false, faults: faults.length > 0 ? faults : first }
  } catch (thrown) {
    if (!isTooMuch(thrown)) throw thrown
    return { ok: false, faults: [only('the message is nested too deeply, or takes too many steps, for this schema')] }
  }
}

const isTooMuch = (thrown: unknown): boolean => thrown instanceof TooMuchWork || thrown instanceof RangeError

/**
 * ajv-errors looks fields up in plain objects, and so fails at a field of the message that is called `toString` where it
 * has messages for fields: none are listed then. Undefined where there are too many to gather.
 */
function listAll(whole: ValidateFunction, data: Json, coerceTypes: boolean, work: Work) {
  try {
    return run(whole, data, coerceTypes, work).errors ?? []
  } catch (thrown) {
    if (thrown instanceof TypeError) return []
    if (isTooMuch(thrown)) return undefined
    throw thrown
  }
}

function run(validator: ValidateFunction, data: Json, coerceTypes: boolean, work: Work) {
  const holder = { value: coerceTypes ? structuredClone(data) : data }
  work.steps = STEP_LIMIT
  work.units = UNIT_LIMIT
  // The place lets the validator replace the value as a whole where it coerces that.
  const place = {
    instancePath: '',
    parentData: holder,
    parentDataProperty: 'value',
    rootData: holder.value,
    dynamicAnchors: {},
  }
  const passed = validator(holder.value, place as Parameters<ValidateFunction>[1])
  const errors = passed ? undefined : (validator.errors ?? [])
  // They hold parts of the message, and the validator lives as long as the endpoint.
  validator.errors = null
  return { value: holder.value, errors }
}

const only = (message: string): SchemaFault => ({ pointer: '', message, custom: true })

/** How many values the data has, counted up to `limit`. */
function countValues(data: Json, limit: number): number {
  let count = 0
  const pending: Json[] = [data]
  for (let value = pending.pop(); value !== undefined && count < limit; value = pending.pop()) {
    count++
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) pending.push(inner)
  }
  return count
}
