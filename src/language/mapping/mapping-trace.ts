/**
 * The trace of one message through a mapping: what each entry found, and where its targets wrote. Only a mapping that is
 * compiled for a trace reports to one, so that no other pays for it.
 */
import type { Json } from '../../core/json.ts'
import { pointerTo } from '../../core/lint.ts'
import { isArray } from '../paths/path-read.ts'
import type { TargetStep } from './target.ts'
import { stepKey } from './target-places.ts'
import type { WriteObserver } from './target-write.ts'

/** JSON Pointers of a target that are kept. */
const MAX_POINTERS_KEPT = 5

/** `nothing`: neither a value nor a default was there to write. */
type TargetWrote = 'value' | 'default' | 'null' | 'nothing'

export type TracedTarget = Readonly<{
  /** The target as the document writes it. */
  target: string
  hasDefault: boolean
  /** Absent if the mapping failed before it. */
  wrote: TargetWrote | undefined
  /** How many places it wrote; `defaults` of them got the default of the target. */
  count: number
  defaults: number
  /** JSON Pointers into the output, the first ones. */
  places: readonly string[]
}>

export type TracedEntry = Readonly<{
  /** The path of the entry in the document. */
  path: string
  /** The path that it reads. */
  source: string
  /** The path gave a value: neither null, nor an array of nothing but null. Undefined if the entry did not run. */
  found: boolean | undefined
  targets: readonly TracedTarget[]
}>

export interface TargetTrace extends WriteObserver {
  /** The path gave this value. */
  read(value: Json | undefined): void
  /** The function of the target, if it has one, made this of it. */
  converted(value: Json | undefined): void
}

export interface MappingTrace {
  /** Adds a target when the mapping is compiled. `path`: of its entry in the document. */
  add(path: string, source: string, target: string, hasDefault: boolean): TargetTrace
  /** Until what it returns is called, targets write below this place of where they wrote before. */
  enter(steps: readonly TargetStep[]): () => void
  /** A message starts. */
  start(): void
  /** The entries of the document, in its order. */
  readonly entries: readonly TracedEntry[]
}

/** For one message; of several, one after the other, it has the union and the sums. Of an `each`, of all elements. */
export function createMappingTrace(): MappingTrace {
  const entries = new Map<string, Mutable<Omit<TracedEntry, 'targets'>> & { targets: TracedTarget[] }>()
  let place = ''
  return {
    start: () => {
      place = ''
    },
    enter: (steps) => {
      const around = place
      place = pointerTo(around, ...steps.map((step) => stepKey(step) ?? 0))
      return () => {
        place = around
      }
    },
    add: (path, source, target, hasDefault) => {
      const entry = entries.get(path) ?? { path, source, found: undefined, targets: [] }
      entries.set(path, entry)
      const traced = { target, hasDefault, wrote: undefined, count: 0, defaults: 0, places: [] }
      entry.targets.push(traced)
      const noteFound = (found: boolean): void => {
        entry.found = entry.found === true || found
      }
      return traceTarget(traced, noteFound, () => place)
    },
    get entries() {
      return [...entries.values()]
    },
  }
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }
type Counted = Omit<Mutable<TracedTarget>, 'places'> & { places: string[] }

function traceTarget(traced: Counted, noteFound: (found: boolean) => void, findPlace: () => string): TargetTrace {
  /** Of each list that the target loops over: the element that is written. */
  const elements: number[] = []
  let isFallback = false
  /** The element that is written was missing, so the default replaces it. */
  let isMissing = false
  return {
    read: (value) => {
      noteFound(isFound(value))
      traced.wrote ??= 'nothing'
      isMissing = false
    },
    converted: (value) => {
      isFallback = isNothing(value)
    },
    element: (loop, at, missing) => {
      elements[loop] = at
      isMissing = missing
    },
    wrote: (steps, within) => {
      const isDefault = isFallback || isMissing
      traced.count += 1
      if (isDefault) traced.defaults += 1
      if (traced.places.length < MAX_POINTERS_KEPT) {
        let loop = 0
        const keys = steps.map((step) => {
          if (step.kind === 'name') return step.name
          return step.kind === 'index' ? step.index : (elements[loop++] ?? 0)
        })
        traced.places.push(pointerTo(findPlace(), ...keys, ...(within === undefined ? [] : [within])))
      }
      const empty = traced.hasDefault ? 'default' : 'null'
      if (!isDefault) traced.wrote = 'value'
      else if (traced.wrote === 'nothing') traced.wrote = empty
    },
  }
}

const isNothing = (value: Json | undefined): boolean => value === undefined || value === null

/** True if what a path gave is a value. Arrays of several levels stay aligned by nulls, too. */
export function isFound(value: Json | undefined): boolean {
  if (isNothing(value)) return false
  return !isArray(value) || value.length === 0 || value.some(isFound)
}
