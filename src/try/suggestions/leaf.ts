/** The leaves of a message or of an output: the places that a mapping reads or writes, with the types of their values. */
import type { Json, JsonObject } from '../../core/json.ts'
import { type PathStep, pathText } from '../../language/paths/path-steps.ts'
import { createPathTree, placeBelow, stepsTo, type TreePlace } from '../../language/paths/path-tree.ts'

/** `date` and `dateTime` are texts of that form; `digits` and `truth` are texts that read as a number or a boolean. */
export type LeafType = 'string' | 'number' | 'boolean' | 'date' | 'dateTime' | 'digits' | 'truth'

export type Leaf = Readonly<{
  /** Without the `[]` at the end of a list of scalars. */
  steps: readonly PathStep[]
  path: string
  /** Whether the place holds a list of scalars. */
  isList: boolean
  /** Empty if no type is known. */
  types: ReadonlySet<LeafType>
}>

/** `cut`: there are more leaves than the limit, or some with longer paths than are listed. */
export type Leaves = Readonly<{ leaves: readonly Leaf[]; cut: boolean }>

/** Where a leaf may be; it holds the types that were found there. */
export type LeafPlace = TreePlace<Set<LeafType>>

export type LeafCollector = Readonly<{
  /** A place in all that is collected. */
  place(...steps: readonly PathStep[]): LeafPlace | undefined
  /** The place one step below; undefined, and the leaves are cut, if its path is too long. */
  below(place: LeafPlace | undefined, step: PathStep): LeafPlace | undefined
  /** Adds a leaf, or types to the leaf at the same place, which is that of the elements for a list of scalars. */
  add(place: LeafPlace, types: readonly LeafType[]): void
  /** Whether one more value or subschema may be looked at; each call counts. */
  look(): boolean
  readonly isFull: boolean
  /** Some leaves are left out. */
  markCut(): void
  collected(): Leaves
}>

/** Values and subschemas that are looked at: some hundredths of a second. */
const MOST_LOOKS = 100_000

export function collectLeaves(limit: number): LeafCollector {
  const root: LeafPlace = createPathTree()
  const found: LeafPlace[] = []
  let looks = 0
  let isFull = false
  let cut = false
  const below = (place: LeafPlace | undefined, step: PathStep): LeafPlace | undefined => {
    const next = place && placeBelow(place, step)
    cut ||= next === undefined
    return next
  }
  return {
    place: (...steps) => steps.reduce<LeafPlace | undefined>(below, root),
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
      isFull ||= looks > MOST_LOOKS
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

function isListOfLists(place: LeafPlace): boolean {
  for (let at: LeafPlace | undefined = place; at !== undefined; at = at.parent) {
    if (at.step?.kind === 'each' && at.parent?.step?.kind === 'each') return true
  }
  return false
}

/** Elements of an array that are looked at: those of one array are alike. */
const ELEMENTS_SEEN = 50

/** Adds the leaves of a value at a place. The nesting of the value is bounded, since a parser read it. */
export function addSample(collector: LeafCollector, value: Json, place: LeafPlace | undefined): void {
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
  } else collector.add(place, value === null ? [] : [typeOf(value as string | number | boolean)])
}

const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const DATE_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ]\d{2}:\d{2}/

function typeOf(value: string | number | boolean): LeafType {
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  if (DATE.test(value)) return 'date'
  if (DATE_TIME.test(value)) return 'dateTime'
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return 'digits'
  return /^(?:true|false)$/i.test(value) ? 'truth' : 'string'
}
