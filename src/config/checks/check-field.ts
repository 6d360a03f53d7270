/**
 * Checks a value against its part of the schema and keeps what is sound of it. A validator of the shelf would tell
 * faults only; here the rest of the document must stay usable, so that one answer can tell the faults of every stage.
 */
import { isObject, type Json, type JsonObject, REFUSED_NAMES, typeName } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { nearest } from '../../domain/nearest.ts'
import type { Field } from '../schema/schema-fields.ts'
import { belongsElsewhere } from './misplaced-field.ts'
import { hasNoEffect } from './no-effect.ts'

/** JSON objects list such names first and by size, whatever the order they were written in. */
const INTEGER_LIKE = /^(?:0|[1-9][0-9]{0,9})$/

/**
 * Checks `raw` by `field`, normalised and with defaults filled in. A field of no type takes any value.
 *
 * Out: the value; at a fault, what stands in for it; undefined where nothing needs to.
 * Lints: every fault in it, with its place.
 */
export function checkField(field: Field, raw: Json, lint: LintSink): Json | undefined {
  if (field.anyOf) return checkAnyOf(field, field.anyOf, raw, lint)
  if (field.enum) return checkEnum(field, field.enum, raw, lint)
  if (field.type === 'object') return isObject(raw) ? checkObject(field, raw, lint) : mismatch(field, raw, lint)
  if (field.type === 'array') return checkArray(field, raw, lint)
  return field.type === undefined || accepts(field, raw) ? raw : mismatch(field, raw, lint)
}

/**
 * What takes the place of a missing or faulty value, for the checks that follow.
 *
 * Out: its `salvage`, else its default, else an object of what stands in for its required fields; undefined where the
 * value can simply be left out.
 */
export function standIn(field: Field): Json | undefined {
  if (field.salvage !== undefined) return field.salvage
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
    const name = Object.hasOwn(properties, written) ? written : reportUnknown(written, properties, lint)
    const property = properties[name]
    // A misspelt field is checked as the one that was meant, unless that is there too.
    if (property === undefined || (name !== written && seen.has(name))) continue
    seen.add(name)
    const checked = checkField(property, value, lint.at(written))
    // Null is a value where any is taken.
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

/** Reports an unknown field and gives the name that was meant, or '' where there is none near. */
function reportUnknown(written: string, properties: Readonly<Record<string, Field>>, lint: LintSink): string {
  const meant = nearest(written, Object.keys(properties))
  const advice = meant === undefined ? belongsElsewhere(written, lint.path) : `; did you mean "${meant}"?`
  lint.at(written).error(`Unknown field "${written}"${advice}`)
  return meant ?? ''
}

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
          `The name "${name}" looks like an integer and cannot keep its place in the order; begin it with a letter.`,
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
  return sound.length < (field.minItems ?? 0) ? field.salvage : sound
}

const keep = (items: readonly (Json | undefined)[]): Json[] => items.filter((item) => item !== undefined)

function checkAnyOf(field: Field, options: readonly Field[], raw: Json, lint: LintSink): Json | undefined {
  return options.some((option) => accepts(option, raw)) ? raw : mismatch(field, raw, lint)
}

function checkEnum(field: Field, values: readonly string[], raw: Json, lint: LintSink): Json | undefined {
  const value = field.anyCase && typeof raw === 'string' ? raw.toUpperCase() : raw
  if (typeof value === 'string' && values.includes(value)) return value
  const meant = typeof raw === 'string' ? nearest(raw, values) : undefined
  lint.error(`${mustBe(field, raw, lint)}${meant === undefined ? '.' : `; did you mean "${meant}"?`}`)
  return field.salvage
}

/** Whether a string, an integer or a boolean is what the field takes. */
function accepts(field: Field, raw: Json): boolean {
  if (field.type === 'boolean') return typeof raw === 'boolean'
  if (field.type === 'string') {
    return typeof raw === 'string' && (field.pattern === undefined || new RegExp(field.pattern).test(raw))
  }
  if (typeof raw !== 'number' || !Number.isSafeInteger(raw)) return false
  return raw >= (field.minimum ?? raw) && raw <= (field.maximum ?? raw)
}

function mismatch(field: Field, raw: Json, lint: LintSink): Json | undefined {
  lint.error(`${mustBe(field, raw, lint)}.`)
  return field.salvage
}

const mustBe = (field: Field, raw: Json, lint: LintSink): string =>
  `${lint.path === '' ? 'The document' : `"${lint.path}"`} must be ${expectation(field)}${butIs(field, raw)}`

/** What a field takes, as it follows "must be" and as the user's guide lists it. */
export function expectation(field: Field): string {
  if (field.expects !== undefined) return field.expects
  if (field.enum) return `one of ${field.enum.map((value) => `"${value}"`).join(', ')}`
  if (field.type === 'array') return field.single ? 'an array of objects, or one object' : 'an array'
  if (field.type === 'boolean') return 'true or false'
  if (field.type !== 'integer') return `${field.type === 'object' ? 'an' : 'a'} ${field.type}`
  return `a whole number from ${field.minimum} to ${field.maximum}`
}

/** The value at fault where it helps to see it, else its type where that is wrong: free text may be a secret. */
function butIs(field: Field, raw: Json): string {
  if (typeof raw === 'number' && (field.type === 'integer' || field.anyOf)) return `, not ${raw}`
  if (typeof raw === 'string' && (field.enum || field.anyOf)) {
    return `, not ${raw.length > 40 ? `${JSON.stringify(raw.slice(0, 40))}…` : JSON.stringify(raw)}`
  }
  const type = typeName(raw)
  if (type === field.type) return ''
  return type === 'null' ? ', not null' : `, not ${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
