/** Targets of a mapping: places in the output, as documents write them. */
import { REFUSED_NAMES } from '../../domain/json.ts'
import { fault, found, type Result } from '../../domain/lint.ts'
import { parseSteps } from '../paths/path-steps.ts'

/** `each` is element 0 or the place to spread an array over; as the last step, it appends. */
export type TargetStep = Readonly<{ kind: 'name'; name: string } | { kind: 'index'; index: number } | { kind: 'each' }>

export type MappingTarget = Readonly<{
  text: string
  /** At least one, the first a name. */
  steps: readonly TargetStep[]
  /** Ends in `?`: null is written too. */
  takesNull: boolean
}>
const INDEX_MAX = 10_000

/**
 * Parses a target such as `entry[].resource.name[0].given[]+?`: names as in paths, `[2]` an element, `[]` element 0 or
 * one element each, a last `[]` or `[]+` to append, a last `?` to write null too (`\?` is one within a name).
 *
 * Fails with a sentence: what parsing a path fails with, `*`, names that are refused, an index above 10,000.
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
  // A copy: an array that grew has room for 17 at least, and this one is kept.
  return found({ text, steps: [...steps], takesNull })
}

/** Whether the text ends in a `?` that no backslash escapes. */
function endsInMark(text: string): boolean {
  if (!text.endsWith('?')) return false
  let backslashes = 0
  while (text[text.length - 2 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 0
}

/** Whether an array is spread over elements of this target: it has `[]` with a name or index after it. */
export const spreads = (target: MappingTarget): boolean => spreadStep(target.steps) !== -1

/**
 * The step that an array is spread over; -1 where there is none. It is the first `[]` whose next segment (a name and its
 * brackets) has no `[]`: the outermost list of the target, or the last of several that follow each other directly. A last
 * `[]` appends and does not count.
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

const FIRST_ELEMENT: TargetStep = { kind: 'index', index: 0 }

/**
 * The steps by which a value is written: an `each` step is left where an array is spread, and at the end, where it
 * appends; every other `[]` is element 0.
 */
export function spreadSteps({ steps }: MappingTarget): readonly TargetStep[] {
  const spreadAt = spreadStep(steps)
  return steps.map((step, at) =>
    step.kind === 'each' && at !== spreadAt && at < steps.length - 1 ? FIRST_ELEMENT : step,
  )
}
