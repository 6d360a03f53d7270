/**
 * Which parts of an output may be shared with the message.
 *
 * The mapping puts values into the output by reference. A later entry that writes into such a value must not change it. The
 * compiler finds these entries, and they alone copy each object and array on their way, one level each, before they write.
 */
import type { Placement } from './mapping-functions.ts'
import type { MappingTarget, TargetStep } from './target.ts'

/**
 * The targets that entries have written to, as a tree of steps. All brackets count as the same step: that may copy once too
 * often (`a[0]`, then `a[1].b`), but never too seldom.
 */
export type Written = {
  /** Whether a whole value was written here. */
  whole: boolean
  /** Of an array: the elements that the indexes of targets make. */
  length: number
  readonly inner: Map<string, Written>
}

export const nothingWritten = (): Written => ({ whole: false, length: 0, inner: new Map() })

const keyOf = (step: TargetStep): string => (step.kind === 'name' ? `.${step.name}` : '[]')

export function recordWritten(written: Written, { steps }: MappingTarget, placement: Placement): void {
  let at = written
  // Fields that are passed through may have any name, so any part of the output may be shared from then on.
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
 * For each object or array on the way of `steps`, by the number of steps before it: whether it may be part of a value that
 * an earlier entry wrote whole. The output itself never is.
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

/** As `sharedAlong`: whether an earlier entry may have replaced what another one made there, whole or by another shape. */
export function contestedAlong(written: Written, steps: readonly TargetStep[]): readonly boolean[] {
  const contested = [false]
  let at: Written | undefined = written
  let within = written.whole
  for (const [index, step] of steps.entries()) {
    at = at?.inner.get(keyOf(step))
    const isList = steps[index + 1]?.kind !== 'name'
    within ||= at !== undefined && (at.whole || (isList ? hasFields(at) : hasElements(at)))
    contested.push(within)
  }
  return contested
}

const hasElements = ({ inner }: Written): boolean => inner.has('[]')
const hasFields = (written: Written): boolean => written.inner.size > (hasElements(written) ? 1 : 0)

/** Whether an earlier entry may have written at the end of these steps, or below it. */
export function isWritten(written: Written, steps: readonly TargetStep[]): boolean {
  let at: Written | undefined = written
  for (const step of steps) {
    if (at === undefined || at.whole) break
    at = at.inner.get(keyOf(step))
  }
  return at !== undefined
}

/**
 * How many array elements writing to a target visits or makes in every message: an index makes all elements before it, and
 * `all` writes to each element that indexes made.
 */
export function elementsAlong(written: Written, { steps }: MappingTarget, placement: Placement): number {
  let at: Written | undefined = written
  let times = 1
  let elements = 0
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'index') elements += times * (step.index + 1)
    else if (step.kind === 'each' && placement === 'all' && index < steps.length - 1) {
      times *= Math.max(1, at?.length ?? 0)
      elements += times
    }
    at = at?.inner.get(keyOf(step))
  }
  return elements
}
