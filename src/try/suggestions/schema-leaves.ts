/** The leaves of the values that a JSON Schema describes. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { resolveLocal } from '../../language/json-schema/read-schema.ts'
import type { LeafCollector, LeafPlace, LeafType } from './leaf.ts'

/** Schemas of resources refer to each other in circles; deeper leaves are left out. */
const DEEPEST = 8
/** References from one to the next, for one leaf. */
const MOST_REFERENCES = 16

/** What a subschema says by itself: a leaf may be reached in many ways. */
type Facts = Readonly<{ target: Json | undefined; types: readonly LeafType[] | undefined }>

/**
 * Adds the leaves of `properties` and `items`, also within `allOf`, `anyOf`, `oneOf` and references to places in the same
 * schema. Anything else of a schema does not name a place.
 */
export function addSchema(collector: LeafCollector, schema: JsonObject): void {
  const known = new Map<JsonObject, Facts>()
  const factsOf = (part: JsonObject): Facts => {
    const found = known.get(part)
    if (found !== undefined) return found
    const { $ref: reference } = part
    const target = typeof reference === 'string' ? resolveLocal(schema, reference) : undefined
    const facts = { target, types: typesOf(part) }
    known.set(part, facts)
    return facts
  }
  /** `seen`: the targets of the references that led from one to the next. */
  const visit = (
    part: Json | undefined,
    place: LeafPlace | undefined,
    depth: number,
    seen: readonly JsonObject[],
  ): void => {
    if (!collector.look() || !isObject(part) || depth > DEEPEST || place === undefined) return
    const { target, types } = factsOf(part)
    if (isObject(target) && !seen.includes(target)) {
      if (seen.length === MOST_REFERENCES) collector.markCut()
      else visit(target, place, depth, [...seen, target])
    }
    const { properties, items } = part
    for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
      const parts = part[keyword]
      if (!Array.isArray(parts)) continue
      for (const one of parts) {
        if (collector.isFull) return
        visit(one, place, depth, seen)
      }
    }
    if (isObject(properties)) {
      for (const name in properties) {
        if (collector.isFull) return
        if (name !== '') visit(properties[name], collector.below(place, { kind: 'name', name }), depth + 1, [])
      }
    }
    if (isObject(items)) visit(items, collector.below(place, { kind: 'each' }), depth + 1, seen)
    if (types !== undefined) collector.add(place, types)
  }
  visit(schema, collector.place(), 0, [])
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
