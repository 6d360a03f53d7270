/**
 * Finds the leaves of a value that some readers do not read. The readers get a view of the value that notes each field they
 * take, so that what a path reads is decided by the path alone.
 */
import { isArray } from '../../language/paths/path-read.ts'
import type { PathStep } from '../../language/paths/path-steps.ts'

/** Fields that readers may ask for altogether: some hundredths of a second, as for the values. */
const READS_MAX = 50_000
/** Values of the source that are looked at. */
const VALUES_MAX = 50_000

type Source = Readonly<Record<string, unknown>>

/** `isKey`: a reader asks for every field of its object, so that the names there are keys and not fields. */
export type UnreadStep = PathStep & Readonly<{ isKey?: boolean }>

export type ReadRecorder = Readonly<{
  /** Calls a reader with the view, and notes what it returns as read. False if there were too many reads to continue. */
  note(read: (source: never) => unknown): boolean
  /**
   * Calls `visit` for every leaf below these roots that no reader read, but for what `isLeftOut`. Its steps hold for the
   * call only. False if there were too many reads or values to find out.
   */
  unread(
    roots: readonly string[],
    isLeftOut: (steps: readonly PathStep[]) => boolean,
    visit: (steps: readonly UnreadStep[], leaf: unknown) => void,
  ): boolean
}>

/** Thrown through a reader, as it has read too much. */
const STOPPED = Symbol('stopped')

/** `readsMax`: the most fields that the readers may ask for altogether. */
export function createReadRecorder(source: Source, readsMax = READS_MAX): ReadRecorder {
  const taken = new Map<object, Set<string>>()
  const whole = new Set<object>()
  const listed = new Set<object>()
  const views = new WeakMap<object, object>()
  const originals = new WeakMap<object, object>()
  let reads = 0

  const recordingView = (value: object): object => {
    // A proxy must return the very fields of a frozen object.
    if (Object.isFrozen(value)) {
      whole.add(value)
      return value
    }
    const known = views.get(value)
    if (known !== undefined) return known
    const names = taken.get(value) ?? new Set<string>()
    taken.set(value, names)
    const view = new Proxy(value, {
      get: (target, name) => {
        reads += 1
        if (reads > readsMax) throw STOPPED
        const field: unknown = (target as Record<string | symbol, unknown>)[name]
        if (typeof name !== 'string' || !Object.hasOwn(target, name)) return field
        names.add(name)
        return typeof field === 'object' && field !== null ? recordingView(field) : field
      },
      ownKeys: (target) => {
        listed.add(target)
        return Reflect.ownKeys(target)
      },
    })
    views.set(value, view)
    originals.set(view, value)
    return view
  }
  const view = recordingView(source)

  const noteResult = (result: unknown): void => {
    if (typeof result !== 'object' || result === null) return
    const original = originals.get(result)
    if (original !== undefined) whole.add(original)
    else if (isArray(result)) for (const element of result) noteResult(element)
  }

  return {
    note: (read) => {
      try {
        noteResult(read(view as never))
      } catch (thrown) {
        if (thrown !== STOPPED) throw thrown
      }
      return reads <= readsMax
    },
    unread: (roots, isLeftOut, visit) =>
      reads <= readsMax && visitUnread(source, { taken, whole, listed }, { roots, isLeftOut, visit }),
  }
}

type Notes = Readonly<{
  /** The names that readers took of each object. */
  taken: ReadonlyMap<object, ReadonlySet<string>>
  /** Read with all that they have. */
  whole: ReadonlySet<object>
  /** Their names were listed. */
  listed: ReadonlySet<object>
}>

type Wanted = Readonly<{
  roots: readonly string[]
  isLeftOut: Parameters<ReadRecorder['unread']>[1]
  visit: Parameters<ReadRecorder['unread']>[2]
}>

function visitUnread(source: Source, { taken, whole, listed }: Notes, { roots, isLeftOut, visit }: Wanted): boolean {
  const steps: UnreadStep[] = []
  let values = 0
  /** False if there are too many values. */
  const visitField = (container: object, name: string, step: UnreadStep): boolean => {
    values += 1
    if (values > VALUES_MAX) return false
    const value: unknown = (container as Source)[name]
    if (whole.has(value as object)) return true
    steps.push(step)
    const isComplete = isLeftOut(steps) || visitValue(container, name, value)
    steps.pop()
    return isComplete
  }
  const visitValue = (container: object, name: string, value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || isEmpty(value)) {
      if (!taken.get(container)?.has(name)) visit(steps, value)
      return true
    }
    const isList = isArray(value)
    const isKey = listed.has(value)
    return Object.keys(value).every((inner) =>
      visitField(value, inner, isList ? EACH : { kind: 'name', name: inner, isKey }),
    )
  }
  return roots.every((root) => {
    const value = source[root]
    // An endpoint without a lookup has an empty root of lookups.
    const isNothing = value === undefined || (typeof value === 'object' && value !== null && isEmpty(value))
    return isNothing || visitField(source, root, { kind: 'name', name: root })
  })
}

const EACH: UnreadStep = { kind: 'each' }

function isEmpty(value: object): boolean {
  for (const _ in value) return false
  return true
}
