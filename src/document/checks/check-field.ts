/**
 * Checks a value against its part of the schema and keeps its valid parts. A ready-made validator reports faults only; here
 * the rest of the document must stay usable, so that one answer lists the faults of every stage.
 */
import type { TSchema } from 'typebox'
import { isObject, type Json, type JsonObject, REFUSED_NAMES, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { Field } from '../schema/schema-fields.ts'
import { hasNoEffect, reportUnknown } from './unknown-fields.ts'

/** Objects of JavaScript list such names first and by size, in whatever order the document has them. */
const INTEGER_LIKE = /^(?:0|[1-9][0-9]{0,9})$/

/**
 * Checks `raw` by `field`. A field without a type takes any value.
 *
 * Out: the value, normalised and with defaults; for a faulty value its stand-in, or undefined if it needs none.
 * Lints: every fault, with its path.
 */
export function checkField(field: Field, raw: Json, lint: LintSink): Json | undefined {
  if (field.numberAsText && typeof raw === 'number') return checkField(field, String(raw), lint)
  if (field.allOf) return checkField(joined(field.allOf), raw, lint)
  if (field.anyOf) return checkAlternatives(field, field.anyOf, raw, lint)
  const values = listValues(field)
  if (values) return checkEnum(field, values, raw, lint)
  if (field.type === 'object') return isObject(raw) ? checkObject(field, raw, lint) : mismatch(field, raw, lint)
  if (field.type === 'array') return checkArray(field, raw, lint)
  return field.type === undefined || accepts(field, raw) ? raw : mismatch(field, raw, lint)
}

/** Lints the faults of a value of a call, by the schema that OpenAPI shows. */
export const checkSchema = (schema: TSchema, raw: Json, lint: LintSink): void => {
  checkField(schema as Field, raw, lint)
}

/** The object that has the properties of each. */
const joined = (parts: readonly Field[]): Field => ({
  type: 'object',
  required: parts.flatMap(({ required = [] }) => required),
  properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
})

/** Those that a field of texts is limited to. */
const listValues = (field: Field): readonly string[] | undefined =>
  field.enum ?? (field.const === undefined ? undefined : [field.const])

/**
 * The stand-in of a missing or faulty value, for the checks that follow.
 *
 * Out: its `fallback`, else its default, else an object with the stand-ins of its required fields; undefined if the value can
 * be left out.
 */
export function standIn(field: Field): Json | undefined {
  if (field.fallback !== undefined) return field.fallback
  if (field.default !== undefined) return field.default
  if (field.properties === undefined) return undefined
  return Object.fromEntries(
    (field.required ?? []).flatMap((name) => {
      const value = field.properties?.[name] && standIn(field.properties[name])
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function checkObject(field: Field, raw: JsonObject, lint: LintSink): JsonObject {
  if (field.properties) return checkProperties(field, field.properties, raw, lint)
  return typeof field.additionalProperties === 'object' ? checkNamed(field, field.additionalProperties, raw, lint) : raw
}

function checkProperties(
  field: Field,
  properties: Readonly<Record<string, Field>>,
  raw: JsonObject,
  lint: LintSink,
): JsonObject {
  const sound = new Map<string, Json>()
  const present = Object.entries(raw).filter(([name, value]) => !hasNoEffect(field, properties, name, value, lint))
  const seen = new Set(present.map(([name]) => name))
  for (const [written, value] of present) {
    const elsewhere = Object.hasOwn(field.misplaced ?? {}, written) ? field.misplaced?.[written] : undefined
    if (elsewhere !== undefined) {
      lint.at(written).error(elsewhere)
      continue
    }
    const name = Object.hasOwn(properties, written) ? written : reportUnknown(written, properties, lint)
    const property = properties[name]
    // A misspelt field is checked as the one that was meant, unless the object has that one too.
    if (property === undefined || (name !== written && seen.has(name))) continue
    seen.add(name)
    const checked = checkField(property, value, lint.at(written))
    // `checked` may be null, which is a value of a field that takes any.
    const kept = checked === undefined ? standInWhereNeeded(field, name, property) : checked
    if (kept !== undefined) sound.set(name, kept)
  }
  for (const [name, property] of Object.entries(properties)) {
    if (seen.has(name)) continue
    const missing = property.default === undefined && field.required?.includes(name)
    if (missing) lint.at(name).error(`"${lint.at(name).path}" is required: ${property.description ?? ''}`)
    const value = property.default ?? standInWhereNeeded(field, name, property)
    if (value !== undefined) sound.set(name, value)
  }
  return Object.fromEntries(sound)
}

const standInWhereNeeded = (field: Field, name: string, property: Field): Json | undefined =>
  field.required?.includes(name) ? standIn(property) : undefined

function checkNamed(field: Field, value: Field, raw: JsonObject, lint: LintSink): JsonObject {
  return Object.fromEntries(
    Object.entries(raw).flatMap(([name, item]): [string, Json][] => {
      const sink = lint.at(name)
      if (field.namesInMessage && REFUSED_NAMES.has(name)) {
        sink.error(`The name "${name}" is reserved; choose another one.`)
        return []
      }
      if (field.namesInOrder && INTEGER_LIKE.test(name)) {
        sink.error(
          `The name "${name}" looks like an integer and cannot keep its place in the order; start it with a letter.`,
        )
      }
      const checked = checkField(value, item, sink) ?? standIn(value)
      return checked === undefined ? [] : [[name, checked]]
    }),
  )
}

function checkArray(field: Field, raw: Json, lint: LintSink): Json | undefined {
  const items = field.items ?? {}
  if (field.single && isObject(raw)) return keep([checkField(items, raw, lint)])
  if (!Array.isArray(raw) || raw.length < (field.minItems ?? 0)) return mismatch(field, raw, lint)
  const sound = keep(raw.map((item, index) => checkField(items, item, lint.at(index)) ?? standIn(items)))
  return sound.length < (field.minItems ?? 0) ? field.fallback : sound
}

const keep = (items: readonly (Json | undefined)[]): Json[] => items.filter((item) => item !== undefined)

function checkAlternatives(field: Field, options: readonly Field[], raw: Json, lint: LintSink): Json | undefined {
  const mayHaveParts = options.some(({ type }) => type === 'object' || type === 'array')
  const ofType = options.find(({ type }) => type === typeName(raw)) ?? options[0]
  // The fault is that of the form which the value has.
  if (mayHaveParts && ofType !== undefined) return checkField(ofType, raw, lint)
  return options.some((option) => accepts(option, raw)) ? raw : mismatch(field, raw, lint)
}

function checkEnum(field: Field, values: readonly string[], raw: Json, lint: LintSink): Json | undefined {
  const value = field.anyCase && typeof raw === 'string' ? raw.toUpperCase() : raw
  if (typeof value === 'string' && values.includes(value)) return value
  lint.error(`${mustBe(field, raw, lint)}${didYouMean(typeof raw === 'string' ? raw : '', values)}`)
  return field.fallback
}

/** Whether the field takes this string, integer or boolean. */
function accepts(field: Field, raw: Json): boolean {
  if (field.const !== undefined) return raw === field.const
  if (field.type === 'boolean') return typeof raw === 'boolean'
  if (field.type === 'string') {
    if (typeof raw !== 'string') return false
    return field.is?.(raw) ?? (field.pattern === undefined || new RegExp(field.pattern).test(raw))
  }
  if (typeof raw !== 'number' || !Number.isSafeInteger(raw)) return false
  return raw >= (field.minimum ?? raw) && raw <= (field.maximum ?? raw)
}

function mismatch(field: Field, raw: Json, lint: LintSink): Json | undefined {
  // `{ "$file": … }` may be in place of a text.
  const [name = '', ...others] = field.type === 'string' && isObject(raw) ? Object.keys(raw) : []
  const hint = others.length === 0 ? didYouMean(name, ['$file']) : '.'
  lint.error(field.fault ?? `${mustBe(field, raw, lint)}${hint}`)
  return field.fallback
}

const mustBe = (field: Field, raw: Json, lint: LintSink): string =>
  `${lint.path === '' ? 'The document' : `"${lint.path}"`} must be ${expectation(field)}${butIs(field, raw)}`

/** The values that a field takes, as they follow "must be" and as the user's guide lists them. */
export function expectation(field: Field): string {
  if (field.expects !== undefined) return field.expects
  const values = listValues(field)
  if (values) return `one of ${values.map((value) => `"${value}"`).join(', ')}`
  if (field.type === 'array') return field.single ? 'an array of objects, or one object' : 'an array'
  if (field.type === 'boolean') return 'true or false'
  if (field.type !== 'integer') return `${field.type === 'object' ? 'an' : 'a'} ${field.type}`
  return `a whole number from ${field.minimum} to ${field.maximum}`
}

/** The faulty value if it helps the author, else its type if that is wrong. Free text is not quoted: it may be a secret. */
function butIs(field: Field, raw: Json): string {
  if (typeof raw === 'number' && (field.type === 'integer' || field.anyOf)) return `, not ${raw}`
  if (typeof raw === 'string' && (listValues(field) || field.anyOf)) {
    return `, not ${raw.length > 40 ? `${JSON.stringify(raw.slice(0, 40))}…` : JSON.stringify(raw)}`
  }
  const type = typeName(raw)
  if (type === field.type) return ''
  return type === 'null' ? ', not null' : `, not ${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
