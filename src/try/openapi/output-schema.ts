/** The schema of what `inputMapping` writes. */
import type { JsonObject } from '../../core/json.ts'
import { collectInto, documentPath } from '../../core/lint.ts'
import { convertEach } from '../../language/mapping/mapping-functions.ts'
import { readTargets } from '../../language/mapping/mapping-targets.ts'
import { spreads, type TargetStep, writeSteps } from '../../language/mapping/target.ts'
import { parsePath, type SourcePath } from '../../language/paths/path.ts'
import type { SourceSchema } from './source-schema.ts'

/** A place in the output, with what is written there and below. */
type Place = {
  readonly values: JsonObject[]
  readonly members: Map<string, Place>
  readonly elements: Map<number, Place>
  /** All elements alike. */
  each: Place | undefined
  /** Whether what is written there depends on more than its own entry. */
  isOpen: boolean
  /** Whether every message writes there. */
  isAlways: boolean
}

const newPlace = (): Place => ({
  values: [],
  members: new Map(),
  elements: new Map(),
  each: undefined,
  isOpen: false,
  isAlways: false,
})

type TargetPlan = NonNullable<ReturnType<typeof readTargets>>[number]

/** `isAlways`: for every message. */
type Written = Readonly<{ schema: JsonObject; isAlways: boolean }>

/** In: a sound `inputMapping` with entries, and the schemas of its sources. Out: a schema that every output satisfies. */
export function describeOutput(inputMapping: JsonObject, sourceOf: (path: SourcePath) => SourceSchema): JsonObject {
  const root = newPlace()
  const sink = collectInto([])
  for (const [text, declared] of Object.entries(inputMapping)) {
    const path = parsePath(text)
    if (!path.ok) continue
    for (const plan of readTargets(declared, sink) ?? []) {
      const written = writtenBy(plan, sourceOf(path.value))
      if (written === undefined) continue
      const schema = { ...written.schema, 'x-crosswalk-source': documentPath('inputMapping', text) }
      put(root, plan, { ...written, schema })
    }
  }
  return schemaOf(root, { type: 'object' })
}

/** Undefined if nothing is ever written. */
function writtenBy({ target, function: applied, fill }: TargetPlan, source: SourceSchema): Written | undefined {
  const isSpread = spreads(target)
  if (source.kind === 'constant') {
    const one = applied?.convert
    const convert = one === undefined || !isSpread ? one : convertEach(one, () => undefined)
    const value = (convert === undefined ? source.value : convert(source.value)) ?? fill
    if (value === undefined || value === null) return target.takesNull ? { schema: {}, isAlways: false } : undefined
    return isSpread && Array.isArray(value)
      ? { schema: {}, isAlways: false }
      : { schema: { const: value }, isAlways: true }
  }
  const isAlways = fill !== undefined && fill !== null
  const schema = isSpread && Array.isArray(fill) ? {} : convertedSchema(source, applied?.gives, isSpread)
  const others = [...(isAlways ? [{ const: fill }] : []), ...(target.takesNull ? [{ type: 'null' }] : [])]
  const isKnown = Object.keys(schema).length > 0
  return { schema: isKnown && others.length > 0 ? { anyOf: [schema, ...others] } : schema, isAlways }
}

/** Functions convert the elements of an array one by one, but for those whose text holds it whole. */
function convertedSchema(
  { kind, schema }: Exclude<SourceSchema, { kind: 'constant' }>,
  gives: JsonObject | undefined,
  isSpread: boolean,
): JsonObject {
  const isOne = kind === 'scalar' || kind === 'object'
  if (gives === undefined) return isOne || !isSpread ? schema : {}
  if (isOne) return gives
  return kind === 'array' && !isSpread ? { anyOf: [{ type: 'array' }, gives] } : { anyOf: [gives, { type: 'array' }] }
}

/** Adds what a target writes, as `compileWrite` places it. */
function put(root: Place, { target, function: applied }: TargetPlan, { schema, isAlways }: Written): void {
  const placement = applied?.placement ?? 'spread'
  if (placement === 'root') {
    root.isOpen = true
    return
  }
  const steps = placement === 'spread' ? writeSteps(target, 'spread') : target.steps
  const appends = steps.at(-1)?.kind === 'each'
  let place = root
  // A value for all elements is written where there are some.
  let isSure = isAlways && placement !== 'all'
  for (const step of appends ? steps.slice(0, -1) : steps) {
    if (placement === 'all' && step.kind === 'each') {
      place.isOpen = true
      return
    }
    place = enter(place, placement === 'spread' ? step : firstOf(step))
    // A spread list has elements that this entry does not write.
    if (step.kind === 'each') isSure = false
    place.isAlways ||= isSure
  }
  place.values.push(appends || placement === 'concat' ? listFrom(schema) : schema)
}

/** What a list holds depends on all entries that append to it. */
const listFrom = ({ 'x-crosswalk-source': source = '' }: JsonObject): JsonObject => ({
  type: 'array',
  'x-crosswalk-source': source,
})

const firstOf = (step: TargetStep): TargetStep => (step.kind === 'each' ? { kind: 'index', index: 0 } : step)

function enter(place: Place, step: TargetStep): Place {
  switch (step.kind) {
    case 'name':
      return entered(place.members, step.name)
    case 'index':
      return entered(place.elements, step.index)
    case 'each':
      place.each ??= newPlace()
      return place.each
  }
}

function entered<Key>(places: Map<Key, Place>, key: Key): Place {
  const place = places.get(key) ?? newPlace()
  places.set(key, place)
  return place
}

/** Elements that are described one by one. */
const MOST_ELEMENTS = 20

/** `otherwise`: of a place at which several kinds of values may stand. */
function schemaOf({ values, members, elements, each, isOpen }: Place, otherwise: JsonObject): JsonObject {
  const kinds = [values.length > 0, members.size > 0, elements.size > 0, each !== undefined]
  if (isOpen || kinds.filter(Boolean).length !== 1) return otherwise
  if (members.size > 0) {
    const required = [...members].flatMap(([name, { isAlways }]) => (isAlways ? [name] : []))
    const properties = Object.fromEntries([...members].map(([name, place]) => [name, schemaOf(place, {})]))
    return { type: 'object', ...(required.length === 0 ? {} : { required }), properties }
  }
  if (each !== undefined) return { type: 'array', items: orNull(schemaOf(each, {})) }
  if (elements.size > 0) {
    const count = Math.max(...elements.keys()) + 1
    if (count > MOST_ELEMENTS) return { type: 'array' }
    const all = Array.from({ length: count }, (_, index) => elements.get(index))
    return { type: 'array', prefixItems: all.map((place) => (place === undefined ? {} : orNull(schemaOf(place, {})))) }
  }
  const [only = {}] = values
  return values.length === 1 ? only : { anyOf: values }
}

/** A list is filled with null up to an element that a message writes. */
function orNull(schema: JsonObject): JsonObject {
  if (Object.keys(schema).every((name) => name.startsWith('x-'))) return schema
  return typeof schema.type === 'string'
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] }
}
