/** The leaves of a message or of an output: the places that a mapping reads or writes, with the types of their values. */
import type { Json } from '../domain/json.ts'
import { type PathStep, pathText } from '../language/paths/path-steps.ts'

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

/** `cut`: there are more leaves than the limit. */
export type Leaves = Readonly<{ leaves: readonly Leaf[]; cut: boolean }>

export type LeafCollector = Readonly<{
  /** Adds a leaf, or types to the leaf at the same place. In: the steps with the `[]` at the end of a list of scalars. */
  add(steps: readonly PathStep[], types: readonly LeafType[]): void
  /** Some leaves are left out. */
  markCut(): void
  readonly isFull: boolean
  collected(): Leaves
}>

export function collectLeaves(limit: number): LeafCollector {
  const found = new Map<string, { steps: readonly PathStep[]; isList: boolean; types: Set<LeafType> }>()
  let cut = false
  return {
    add: (steps, types) => {
      // A list of lists has no path that a mapping could write element by element.
      if (steps.length === 0 || steps.some((step, at) => step.kind === 'each' && steps[at + 1]?.kind === 'each')) return
      const isList = steps.at(-1)?.kind === 'each'
      const place = isList ? steps.slice(0, -1) : steps
      const key = pathText(steps)
      const known = found.get(key)
      if (known !== undefined) for (const type of types) known.types.add(type)
      else if (found.size >= limit) cut = true
      else found.set(key, { steps: place, isList, types: new Set(types) })
    },
    markCut: () => {
      cut = true
    },
    get isFull() {
      return cut
    },
    collected: () => ({
      leaves: [...found.values()].map((leaf) => ({ ...leaf, path: pathText(leaf.steps) })),
      cut,
    }),
  }
}

/** Elements of an array that are looked at: those of one array are alike. */
const ELEMENTS_SEEN = 50

/** Adds the leaves of a value below `root`. The nesting of the value is bounded, since a parser read it. */
export function addSample(collector: LeafCollector, value: Json, root: readonly PathStep[]): void {
  if (collector.isFull) return
  if (Array.isArray(value)) {
    for (const item of value.slice(0, ELEMENTS_SEEN)) addSample(collector, item, [...root, { kind: 'each' }])
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      // A path cannot name an empty name.
      if (name !== '') addSample(collector, member, [...root, { kind: 'name', name }])
    }
  } else collector.add(root, value === null ? [] : [typeOf(value as string | number | boolean)])
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
