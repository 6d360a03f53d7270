/** Refuses paths into the body or the output that the format never has, where it has one that is surely meant. */
import type { LintSink } from '../../core/lint.ts'
import type { PathStep } from '../../core/path-step.ts'
import type { Codec } from '../../formats/codec.ts'
import { codecForFormat } from '../../formats/codecs.ts'
import { parsePath } from '../../language/paths/path.ts'
import { pathText } from '../../language/paths/path-steps.ts'
import { listReferences } from '../reads/document-reads.ts'
import type { Endpoint } from '../schema/schema.ts'

/** `lint` is at the document. Lints, as errors, every path of it that reads the body; not those of expressions. */
export function lintBodyPaths(endpoint: Endpoint, lint: LintSink): void {
  const { input } = endpoint.transformation
  const codec = input && codecForFormat(input)
  if (codec?.pathFault === undefined) return
  for (const { kind, text, at, stage, written = text } of listReferences(endpoint)) {
    if (kind === 'expression') continue
    const steps = stepsOf(written)
    const whole = stepsOf(text)
    if (steps === undefined || whole === undefined) continue
    const before = stepsBefore(whole, at, endpoint)
    // In an `each`, the steps to the element around.
    const outer = before && [...before, ...whole.slice(1, whole.length - steps.length + 1)]
    const fault = outer && findFault(codec, [...outer, ...steps.slice(1)], outer.length)
    if (fault === undefined) {
      if (outer !== undefined) warnOfNames(codec, written, steps.slice(1), lint.at(...at))
      continue
    }
    // A path of an extract starts below its root.
    const meant = stage === 'extract' ? fault.meant : [steps[0], ...fault.meant]
    lint.at(...at).error(`${fault.why}; write "${pathText(meant)}".`)
  }
}

/** Warns of the first name that no value of the format has: the path never finds anything. */
function warnOfNames(codec: Codec, text: string, steps: readonly PathStep[], lint: LintSink): void {
  const fault = steps.map((step) => (step.kind === 'name' ? codec.keyFault(step.name) : undefined)).find(Boolean)
  if (fault !== undefined) lint.warning(`"${text}" finds nothing: ${fault}`)
}

type Steps = readonly [PathStep, ...PathStep[]]

function stepsOf(text: string): Steps | undefined {
  const path = parsePath(text)
  return path.ok ? [{ kind: 'name', name: path.value.root }, ...path.value.steps] : undefined
}

/** The steps from the body to the root of a path; undefined if the root is no part of the body. */
function stepsBefore([root]: Steps, at: readonly (string | number)[], endpoint: Endpoint): PathStep[] | undefined {
  const name = root.kind === 'name' ? root.name : ''
  if (name === 'requestBody' || name === 'payload') return []
  const [, kind, index] = at
  if (name !== 'item' || (kind !== 'lookup' && kind !== 'response')) return undefined
  const items = stepsOf(endpoint.requests[kind][Number(index)]?.forEach?.items ?? '')
  const outer = items && stepsBefore(items, [], endpoint)
  if (outer === undefined || items === undefined) return undefined
  const list = items.at(-1)?.kind === 'each' ? items.slice(1, -1) : items.slice(1)
  return [...list, { kind: 'each' }]
}

/** The fault of a target, as a sentence; undefined if there is none. `outer`: the steps of the targets around. */
export function faultOfTarget(
  codec: Codec,
  steps: readonly PathStep[],
  takesNull: boolean,
  outer: readonly PathStep[],
): string | undefined {
  const fault = findFault(codec, [...outer, ...steps], outer.length)
  return fault && `${fault.why}; write "${pathText(fault.meant)}${takesNull ? '?' : ''}".`
}

/** The first `known` steps are those of another path, whose faults are its own. */
function findFault(codec: Codec, steps: readonly PathStep[], known = 0): ReturnType<NonNullable<Codec['pathFault']>> {
  const isKnown = known > 0 && codec.pathFault?.(steps.slice(0, known)) !== undefined
  const fault = isKnown ? undefined : codec.pathFault?.(steps)
  return fault && { ...fault, meant: fault.meant.slice(known) }
}
