/** The leaves of a message or of an output: the places that a mapping reads or writes, with the types of their values. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { resolveLocal } from '../../language/json-schema/read-schema.ts'
import { type PathStep, pathText } from '../../language/paths/path-steps.ts'
import { childNode, createPathTree, type PathNode, stepsTo } from '../../language/paths/path-tree.ts'

/** `date` and `dateTime` are texts of that form; `digits` and `truth` are texts that read as a number or a boolean. */
type LeafType = 'string' | 'number' | 'boolean' | 'date' | 'dateTime' | 'digits' | 'truth'

export type Leaf = Readonly<{
  /** Without the `[]` at the end of a list of scalars. */
  steps: readonly PathStep[]
  path: string
  /** The place holds a list of scalars. */
  isList: boolean
  /** Empty if no type is known. */
  types: ReadonlySet<LeafType>
}>

/** `cut`: there are more leaves than the limit, or some with longer paths than are listed. */
export type Leaves = Readonly<{ leaves: readonly Leaf[]; cut: boolean }>

/** Where a leaf may be; it holds the types that were found there. */
type LeafNode = PathNode<Set<LeafType>>

type LeafCollector = Readonly<{
  /** A place in all that is collected. */
  nodeAt(...steps: readonly PathStep[]): LeafNode | undefined
  /** The place one step below; undefined, and the leaves are cut, if its path is too long. */
  below(place: LeafNode | undefined, step: PathStep): LeafNode | undefined
  /** Adds a leaf, or types to the leaf at the same place, which is that of the elements for a list of scalars. */
  add(place: LeafNode, types: readonly LeafType[]): void
  /** True if one more value or subschema may be looked at; each call counts. */
  look(): boolean
  readonly isFull: boolean
  /** Some leaves are left out. */
  markCut(): void
  collected(): Leaves
}>

/** Values and subschemas that are looked at: some hundredths of a second. */
const MAX_VISITED = 100_000

export function collectLeaves(limit: number): LeafCollector {
  const root: LeafNode = createPathTree()
  const found: LeafNode[] = []
  let looks = 0
  let isFull = false
  let cut = false
  const below = (place: LeafNode | undefined, step: PathStep): LeafNode | undefined => {
    const next = place && childNode(place, step)
    cut ||= next === undefined
    return next
  }
  return {
    nodeAt: (...steps) => steps.reduce<LeafNode | undefined>(below, root),
    below,
    add: (place, types) => {
      if (place.noted === undefined) {
        // A list of lists has no path that a mapping could write element by element.
        if (place === root || isListOfLists(place)) return
        if (found.length >= limit) isFull = true
        else {
          place.noted = new Set()
          found.push(place)
        }
      }
      for (const type of types) place.noted?.add(type)
    },
    look: () => {
      looks += 1
      isFull ||= looks > MAX_VISITED
      return !isFull
    },
    get isFull() {
      return isFull
    },
    markCut: () => {
      cut = true
    },
    collected: () => ({
      leaves: found.map((place): Leaf => {
        const all = stepsTo(place)
        const isList = all.at(-1)?.kind === 'each'
        const steps = isList ? all.slice(0, -1) : all
        return { steps, path: pathText(steps), isList, types: place.noted ?? new Set() }
      }),
      cut: cut || isFull,
    }),
  }
}

function isListOfLists(place: LeafNode): boolean {
  for (let at: LeafNode | undefined = place; at !== undefined; at = at.parent) {
    if (at.step?.kind === 'each' && at.parent?.step?.kind === 'each') return true
  }
  return false
}

/** Elements of an array that are looked at: those of one array are alike. */
const ELEMENTS_SEEN = 50

/** Adds the leaves of a value at a place. The nesting of the value is bounded, since a parser read it. */
export function addSample(collector: LeafCollector, value: Json, place: LeafNode | undefined): void {
  if (place === undefined || !collector.look()) return
  if (Array.isArray(value)) {
    const each = collector.below(place, { kind: 'each' })
    for (const item of value.slice(0, ELEMENTS_SEEN)) addSample(collector, item, each)
  } else if (typeof value === 'object' && value !== null) {
    for (const name in value) {
      if (collector.isFull) return
      // A path cannot name an empty name.
      if (name !== '')
        addSample(collector, (value as JsonObject)[name] ?? null, collector.below(place, { kind: 'name', name }))
    }
  } else collector.add(place, value === null ? [] : [detectType(value as string | number | boolean)])
}

const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const DATE_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ]\d{2}:\d{2}/

function detectType(value: string | number | boolean): LeafType {
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  if (DATE.test(value)) return 'date'
  if (DATE_TIME.test(value)) return 'dateTime'
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return 'digits'
  return /^(?:true|false)$/i.test(value) ? 'truth' : 'string'
}

// The names of a leaf as words, so that `birth_date`, `BirthDate` and `birthdate` are compared as people do.

export type LeafNames = Readonly<{
  /** The last name, of letters and digits alone, in lower case. */
  name: string
  /** Its words. */
  words: ReadonlySet<string>
  /** The name before it, alike. */
  parent: string
  /** The words of the names before it. */
  parents: ReadonlySet<string>
  /** The lists that the place lies in. */
  lists: number
}>

/** `skipped`: the first steps that say nothing of the leaf, such as its root. */
export function listNames({ steps }: Pick<Leaf, 'steps'>, skipped: number): LeafNames {
  const names = steps.slice(skipped).flatMap((step) => (step.kind === 'name' ? [step.name] : []))
  // A name without letters, such as that of the text of an XML element, is known by the one before it.
  const at = names.findLastIndex((name) => plain(name) !== '')
  const last = names[at] ?? ''
  return {
    name: plain(last),
    words: new Set(splitWords(last)),
    parent: plain(names[at - 1] ?? ''),
    parents: new Set(names.slice(0, Math.max(at, 0)).flatMap(splitWords)),
    lists: listsIn(steps),
  }
}

const listsIn = (steps: readonly PathStep[]): number => steps.filter(({ kind }) => kind === 'each').length

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** A list is often the plural of its elements. */
const splitWords = (name: string): readonly string[] =>
  name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => (word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word))

/** The share of common words, from 0 to 1; 1 if both have no words. */
export function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const all = one.union(other).size
  return all === 0 ? 1 : one.intersection(other).size / all
}

// Whether a value of one leaf can be written to another, and by which function of the mapping.

export type TypeMatch = Readonly<{
  /** From 0 to 1. */
  score: number
  /** The function that converts the value. */
  transform?: 'stringify' | 'numberify' | 'booleanify' | 'dateTimeToDate'
  reason: string
}>

/** The type of JSON of each. */
export const JSON_TYPES: Readonly<Record<LeafType, 'string' | 'number' | 'boolean'>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'string',
  dateTime: 'string',
  digits: 'string',
  truth: 'string',
}

/** Out: undefined if the types do not fit. */
export function matchTypes({ types: from }: Leaf, { types: to }: Leaf): TypeMatch | undefined {
  if (from.size === 0 || to.size === 0) return { score: 0.5, reason: 'a type is not known' }
  const jsonTypes = (types: ReadonlySet<LeafType>) => new Set([...types].map((type) => JSON_TYPES[type]))
  const [wanted, given] = [jsonTypes(to), jsonTypes(from)]
  const isAll = (types: ReadonlySet<LeafType>, ...expected: LeafType[]) =>
    [...types].every((type) => expected.includes(type))
  if (isAll(from, 'dateTime') && isAll(to, 'date')) {
    return { score: 0.7, transform: 'dateTimeToDate', reason: 'the date of a date and time' }
  }
  if (given.isSubsetOf(wanted)) return { score: 1, reason: `the same type (${[...given].join(' or ')})` }
  if (wanted.size > 1) return undefined
  if (wanted.has('string')) return { score: 0.5, transform: 'stringify', reason: 'converted to a string' }
  if (wanted.has('number') && isAll(from, 'digits', 'number')) {
    return { score: 0.5, transform: 'numberify', reason: 'converted to a number' }
  }
  if (wanted.has('boolean') && isAll(from, 'truth', 'boolean')) {
    return { score: 0.5, transform: 'booleanify', reason: 'converted to a boolean' }
  }
  return undefined
}

// The leaves of the values that a JSON Schema describes.

/** Schemas of resources refer to each other in circles; deeper leaves are left out. */
const DEEPEST = 8
/** References from one to the next, for one leaf. */
const MAX_REFERENCES = 16

/** What a subschema says by itself: a leaf may be reached in many ways. */
type Facts = Readonly<{ target: Json | undefined; types: readonly LeafType[] | undefined }>

/**
 * Adds the leaves of `properties` and `items`, also within `allOf`, `anyOf`, `oneOf` and references to places in the same
 * schema. Anything else of a schema does not name a place.
 */
export function addSchema(collector: LeafCollector, schema: JsonObject): void {
  const known = new Map<JsonObject, Facts>()
  const findFacts = (part: JsonObject): Facts => {
    const found = known.get(part)
    if (found !== undefined) return found
    const { $ref: reference } = part
    const target = typeof reference === 'string' ? resolveLocal(schema, reference) : undefined
    const facts = { target, types: listTypes(part) }
    known.set(part, facts)
    return facts
  }
  /** `seen`: the targets of the references that led from one to the next. */
  const visit = (
    part: Json | undefined,
    place: LeafNode | undefined,
    depth: number,
    seen: readonly JsonObject[],
  ): void => {
    if (!collector.look() || !isObject(part) || depth > DEEPEST || place === undefined) return
    const { target, types } = findFacts(part)
    if (isObject(target) && !seen.includes(target)) {
      if (seen.length === MAX_REFERENCES) collector.markCut()
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
  visit(schema, collector.nodeAt(), 0, [])
}

/** The types of a scalar; undefined if the schema says nothing of scalars. */
function listTypes({ type, format, enum: allowed, const: only }: JsonObject): readonly LeafType[] | undefined {
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
