/**
 * Which parts of an output may be shared with the message.
 *
 * The mapping puts values into the output by reference. A later entry that writes into such a value must not change it. The
 * compiler finds these entries, and they alone copy each object and array on their way, one level each, before they write.
 */
import type { Placement } from './mapping-functions.ts'
import { EACH_ELEMENT, type MappingTarget, type TargetStep, writeSteps } from './target.ts'

/** The targets that entries have written to, as a tree of steps. */
export type Written = {
  /** Whether a whole value was written here. */
  whole: boolean
  /** Of an array: the elements that the indexes of targets make. */
  length: number
  readonly fields: Map<string, Written>
  /** By their indexes, and `each` or `all` for what a placement writes to every element. */
  readonly elements: Map<number | 'each' | 'all', Written>
}

export const nothingWritten = (): Written => ({ whole: false, length: 0, fields: new Map(), elements: new Map() })

export function recordWritten(written: Written, target: MappingTarget, placement: Placement): void {
  let at = written
  // Fields that are passed through may have any name, so any part of the output may be shared from then on.
  for (const step of placement === 'root' ? [] : writeSteps(target, placement)) {
    if (step.kind === 'index') at.length = Math.max(at.length, step.index + 1)
    at = innerOf(at, step, placement) ?? addInner(at, step, placement)
  }
  at.whole = true
}

const innerOf = (at: Written, step: TargetStep, placement: Placement): Written | undefined =>
  step.kind === 'name' ? at.fields.get(step.name) : at.elements.get(elementKey(step, placement))

function addInner(at: Written, step: TargetStep, placement: Placement): Written {
  const inner = nothingWritten()
  if (step.kind === 'name') at.fields.set(step.name, inner)
  else at.elements.set(elementKey(step, placement), inner)
  return inner
}

const elementKey = (step: Exclude<TargetStep, { kind: 'name' }>, placement: Placement) =>
  step.kind === 'index' ? step.index : placement === 'all' ? 'all' : 'each'

/** What a step leads to from these; an element of some index is among those of every `[]` too. */
const sameParts = (parts: readonly Written[], step: TargetStep): readonly Written[] =>
  parts.flatMap(({ fields, elements }) => {
    if (step.kind === 'each') return [...elements.values()]
    const same =
      step.kind === 'name'
        ? [fields.get(step.name)]
        : [elements.get(step.index), elements.get('each'), elements.get('all')]
    return same.filter((part) => part !== undefined)
  })

/** What earlier entries may have done to the part of the output that a step leads to. */
export type Before = Readonly<{
  /** Wrote there, or below it. */
  isWritten: boolean
  /** Wrote a whole value that it is part of. */
  isShared: boolean
  /** Replaced what another one made there, whole or by another shape. */
  isContested: boolean
  /** Made it by other steps than these. */
  isMadeOtherwise: boolean
}>

export function beforeAlong(written: Written, steps: readonly TargetStep[], placement: Placement): readonly Before[] {
  let own: Written | undefined = written
  let parts: readonly Written[] = [written]
  let isShared = written.whole
  let isContested = written.whole
  let isMadeOtherwise = false
  return steps.map((step, index) => {
    own = own === undefined ? undefined : innerOf(own, step, placement)
    parts = sameParts(parts, step)
    const isList = steps[index + 1]?.kind !== 'name'
    isShared ||= parts.some(({ whole }) => whole)
    isContested ||= isShared || parts.some(({ fields, elements }) => (isList ? fields : elements).size > 0)
    isMadeOtherwise ||= parts.some((part) => part !== own)
    return { isWritten: isShared || parts.length > 0, isShared, isContested, isMadeOtherwise }
  })
}

/**
 * How many array elements writing to a target visits or makes in every message: an index makes all elements before it, and
 * `all` writes to each element that indexes made.
 */
export function elementsAlong(written: Written, { steps }: MappingTarget, placement: Placement): number {
  let parts: readonly Written[] = [written]
  let times = 1
  let elements = 0
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'index') elements += times * (step.index + 1)
    else if (step.kind === 'each' && placement === 'all' && index < steps.length - 1) {
      times *= parts.reduce((most, { length }) => Math.max(most, length), 1)
      elements += times
    }
    parts = sameParts(parts, step.kind === 'index' ? EACH_ELEMENT : step)
  }
  return elements
}
