/**
 * Which parts of an output may be shared with the message.
 *
 * Values are put into the output as they are, by reference. A later entry that writes further in must not change them:
 * which entries those are is known when the mapping is compiled, and they alone copy each object and array on their way,
 * one level each, before they write.
 */
import type { Placement } from './mapping-functions.ts'
import type { MappingTarget, TargetStep } from './target.ts'

/**
 * The places that entries have written to, as a tree of steps. All brackets count as one place: that may copy once too
 * often (`a[0]`, then `a[1].b`), never too seldom.
 */
export type Written = {
  /** Whether a whole value was written here. */
  whole: boolean
  /** Of an array: how many elements the indexes of targets alone make it have. */
  length: number
  readonly inner: Map<string, Written>
}

export const nothingWritten = (): Written => ({ whole: false, length: 0, inner: new Map() })

const keyOf = (step: TargetStep): string => (step.kind === 'name' ? `.${step.name}` : '[]')

/** Adds a target to what has been written. */
export function recordWritten(written: Written, { steps }: MappingTarget, placement: Placement): void {
  let at = written
  // Fields passed through may have any name: from then on, all that is in the output may be shared.
  for (const step of placement === 'root' ? [] : steps) {
    const key = keyOf(step)
    const inner = at.inner.get(key) ?? nothingWritten()
    at.inner.set(key, inner)
    if (step.kind === 'index') at.length = Math.max(at.length, step.index + 1)
    at = inner
  }
  at.whole = true
}

/**
 * For each object or array on the way of `steps`, by the number of steps before it: whether it may be part of a value
 * that was written whole. The output itself never is.
 */
export function sharedAlong(written: Written, steps: readonly TargetStep[]): readonly boolean[] {
  const shared = [false]
  let at: Written | undefined = written
  let within = written.whole
  for (const step of steps) {
    at = at?.inner.get(keyOf(step))
    within ||= at?.whole === true
    shared.push(within)
  }
  return shared
}

/**
 * How many places of arrays writing to a target can go through or make, whatever the message is: an index makes all
 * places before it, and `all` goes to each element that indexes made.
 */
export function placesAlong(written: Written, { steps }: MappingTarget, placement: Placement): number {
  let at: Written | undefined = written
  let times = 1
  let places = 0
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'index') places += times * (step.index + 1)
    else if (step.kind === 'each' && placement === 'all' && index < steps.length - 1) {
      times *= Math.max(1, at?.length ?? 0)
      places += times
    }
    at = at?.inner.get(keyOf(step))
  }
  return places
}
