/**
 * Finds the leaves of a value that some readers do not read. The readers get a view of the value that notes each field they
 * take, so that what a path reads is decided by the path alone.
 */
import { isArray } from '../../language/paths/path-read.ts'

/** Fields that readers may ask for altogether: some tenths of a second. */
const READS_MAX = 200_000
/** Values of the source that are looked at. */
const VALUES_MAX = 300_000

type Source = Readonly<Record<string, unknown>>

/** A path of leaves, as a document writes it (`requestBody.items[].nr`), and how many of these leaves nothing read. */
export type UnreadLeaves = Readonly<{ path: string; count: number }>

export type ReadRecorder = Readonly<{
  /** Calls a reader with the view, and notes what it returns as read. */
  note(read: (source: never) => unknown): void
  /**
   * Every leaf below these roots, but below the paths of `leftOut`, that no reader read. Undefined if there were too many
   * reads or values to find out.
   */
  unread(roots: readonly string[], leftOut: ReadonlySet<string>): readonly UnreadLeaves[] | undefined
}>

/** Thrown through a reader, as it has read too much. */
const STOPPED = Symbol('stopped')

export function createReadRecorder(source: Source): ReadRecorder {
  const taken = new Map<object, Set<string>>()
  const whole = new Set<object>()
  const views = new WeakMap<object, object>()
  const originals = new WeakMap<object, object>()
  let reads = 0

  const viewOf = (value: object): object => {
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
        if (reads > READS_MAX) throw STOPPED
        const field: unknown = (target as Record<string | symbol, unknown>)[name]
        if (typeof name !== 'string' || !Object.hasOwn(target, name)) return field
        names.add(name)
        return typeof field === 'object' && field !== null ? viewOf(field) : field
      },
    })
    views.set(value, view)
    originals.set(view, value)
    return view
  }
  const view = viewOf(source)

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
    },
    unread: (roots, left) => (reads > READS_MAX ? undefined : leavesUnread(source, roots, left, { taken, whole })),
  }
}

type Notes = Readonly<{ taken: ReadonlyMap<object, ReadonlySet<string>>; whole: ReadonlySet<object> }>

function leavesUnread(
  source: Source,
  roots: readonly string[],
  leftOut: ReadonlySet<string>,
  { taken, whole }: Notes,
): readonly UnreadLeaves[] | undefined {
  const counts = new Map<string, number>()
  let values = 0
  /** False if there are too many values. */
  const visit = (container: object, name: string, path: string): boolean => {
    values += 1
    if (values > VALUES_MAX) return false
    const value: unknown = (container as Source)[name]
    if (leftOut.has(path) || whole.has(value as object)) return true
    if (typeof value !== 'object' || value === null || isEmpty(value)) {
      if (!taken.get(container)?.has(name)) counts.set(path, (counts.get(path) ?? 0) + 1)
      return true
    }
    const isList = isArray(value)
    return Object.keys(value).every((inner) => visit(value, inner, isList ? `${path}[]` : `${path}.${escaped(inner)}`))
  }
  const isComplete = roots.every((root) => {
    const value = source[root]
    // An endpoint without a lookup has an empty root of lookups.
    return (
      value === undefined ||
      (typeof value === 'object' && value !== null && isEmpty(value)) ||
      visit(source, root, root)
    )
  })
  return isComplete ? [...counts].map(([path, count]) => ({ path, count })) : undefined
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false
  return true
}

/** A name as a step of a path. */
export const escaped = (name: string): string => name.replace(/[\\.[\]*?+]/g, '\\$&')
