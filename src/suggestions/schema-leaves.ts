/** The leaves of the values that a JSON Schema describes. */
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import type { PathStep } from '../language/paths/path-steps.ts'
import type { LeafCollector, LeafType } from './leaf.ts'

/** Schemas of resources refer to each other in circles; deeper leaves are left out. */
const DEEPEST = 8
/** References from one to the next, for one leaf. */
const MOST_REFERENCES = 16
/** Subschemas that are looked at: a leaf may be reached in many ways. */
const MOST_STEPS = 50_000

/**
 * Adds the leaves of `properties` and `items`, also within `allOf`, `anyOf`, `oneOf` and references to places in the same
 * schema. Anything else of a schema does not name a place.
 */
export function addSchema(collector: LeafCollector, schema: JsonObject): void {
  let left = MOST_STEPS
  let isCut = false
  const visit = (part: Json | undefined, steps: readonly PathStep[], seen: readonly string[]): void => {
    left -= 1
    if (!isObject(part) || left < 0 || steps.length > DEEPEST || collector.isFull) return
    const { $ref: reference, properties, items } = part
    if (typeof reference === 'string' && !seen.includes(reference)) {
      if (seen.length === MOST_REFERENCES) isCut = true
      else visit(targetOf(schema, reference), steps, [...seen, reference])
    }
    for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
      const parts = part[keyword]
      if (Array.isArray(parts)) for (const one of parts) visit(one, steps, seen)
    }
    if (isObject(properties)) {
      for (const [name, member] of Object.entries(properties)) {
        if (name !== '') visit(member, [...steps, { kind: 'name', name }], [])
      }
    }
    if (isObject(items)) visit(items, [...steps, { kind: 'each' }], seen)
    const types = typesOf(part)
    if (types !== undefined) collector.add(steps, types)
  }
  visit(schema, [], [])
  if (left < 0 || isCut) collector.markCut()
}

/** A JSON Pointer within the schema (RFC 6901), as a fragment; undefined if there is nothing. */
function targetOf(schema: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith('#/')) return reference === '#' ? schema : undefined
  let value: Json | undefined = schema
  for (const part of reference.slice(2).split('/')) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  return value
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The types of a scalar; undefined if the schema says nothing of scalars. */
function typesOf({ type, format, enum: allowed, const: only }: JsonObject): readonly LeafType[] | undefined {
  const named = [type ?? []].flat().flatMap((one) => (typeof one === 'string' ? scalarType(one, format) : []))
  if (named.length > 0) return named
  if (type !== undefined) return undefined
  const values = only === undefined ? (Array.isArray(allowed) ? allowed : []) : [only]
  const types = values.flatMap((value: Json) => scalarType(typeof value, undefined))
  return types.length > 0 ? types : undefined
}

function scalarType(type: string, format: Json | undefined): readonly LeafType[] {
  if (type === 'integer' || type === 'number') return ['number']
  if (type === 'boolean') return ['boolean']
  if (type !== 'string') return []
  return [format === 'date' ? 'date' : format === 'date-time' ? 'dateTime' : 'string']
}
