/** Targets of a mapping: paths into the output, as documents write them. */
import { REFUSED_NAMES } from '../../core/json.ts'
import { fault, found, type Result } from '../../core/lint.ts'
import { parseSteps } from '../paths/path-steps.ts'
import type { Placement } from './mapping-functions.ts'

/** `each` is element 0, or the list that an array is spread over; as the last step, it appends. */
export type TargetStep = Readonly<{ kind: 'name'; name: string } | { kind: 'index'; index: number } | { kind: 'each' }>

export type MappingTarget = Readonly<{
  text: string
  /** At least one, the first a name. */
  steps: readonly TargetStep[]
  /** The text ends in `?`. */
  takesNull: boolean
}>
const INDEX_MAX = 10_000

/**
 * Parses a target such as `entry[].resource.name[0].given[]+?`: names as in paths, `[2]` an element, `[]` element 0 or
 * one element each, a last `[]` or `[]+` to append, a last `?` to write null too (`\?` is a question mark within a name).
 *
 * Fails with a sentence for the faults of a path, `*`, refused names, and an index above 10,000.
 */
export function parseTarget(text: string): Result<MappingTarget> {
  const takesNull = endsInMark(text)
  const marked = takesNull ? text.slice(0, -1) : text
  const parsed = parseSteps(marked.endsWith('[]+') ? marked.slice(0, -1) : marked, 'target')
  if (!parsed.ok) return parsed
  const steps: TargetStep[] = []
  for (const step of parsed.value) {
    if (step.kind === 'any') return fault(`The target "${text}" has a "*", which only a source can have; write a name.`)
    if (step.kind === 'name' && REFUSED_NAMES.has(step.name)) {
      return fault(`The target "${text}" has the name "${step.name}", which is refused; choose another.`)
    }
    if (step.kind === 'index' && step.index > INDEX_MAX) {
      return fault(`The target "${text}" has an index above ${INDEX_MAX}; use a lower one, or "[]" to append.`)
    }
    steps.push(step)
  }
  // A copy: V8 gives an array that grew room for 17 elements, and this one is kept.
  return found({ text, steps: [...steps], takesNull })
}

/** No backslash escapes the `?` at the end. */
function endsInMark(text: string): boolean {
  if (!text.endsWith('?')) return false
  let backslashes = 0
  while (text[text.length - 2 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 0
}

/** An array is spread over elements of this target: a name or an index follows one of its `[]`. */
export const spreads = (target: MappingTarget): boolean => spreadStep(target.steps) !== -1

/**
 * The index of the step that an array is spread over; -1 for none. It is the first `[]` whose next segment (a name and its
 * brackets) has no `[]`: the outermost list of the target, or the last of several that follow each other directly. A `[]`
 * at the end appends and does not count.
 */
function spreadStep(steps: readonly TargetStep[]): number {
  let found = -1
  let isListed = false
  for (const [at, { kind }] of steps.slice(0, -1).entries()) {
    if (kind === 'each') {
      found = at
      isListed = true
    } else if (kind === 'name') {
      if (found !== -1 && !isListed) return found
      isListed = false
    }
  }
  return found
}

export const FIRST_ELEMENT: TargetStep = { kind: 'index', index: 0 }
export const EACH_ELEMENT: TargetStep = { kind: 'each' }

/**
 * The steps to write a value by. `each` steps stay where an array is spread or the value goes to all elements, and at the
 * end; every other `[]` is element 0.
 */
export function writeSteps({ steps }: MappingTarget, placement: Placement): readonly TargetStep[] {
  if (placement === 'all') return steps
  const spreadAt = placement === 'spread' ? spreadStep(steps) : -1
  return steps.map((step, at) =>
    step.kind === 'each' && at !== spreadAt && at < steps.length - 1 ? FIRST_ELEMENT : step,
  )
}
