/**
 * What a path of the document can find at its stage. A path that can never find anything would silently add no field, so
 * registering refuses it.
 */
import type { LintSink } from '../../core/lint.ts'
import { ROOTS, type Root } from '../../core/message.ts'
import { didYouMean } from '../../core/nearest.ts'
import { STAGE_NAMES, type StageName } from '../../core/tracing/stages.ts'
import type { PathStep, SourcePath } from '../../language/paths/path.ts'
import { pathText } from '../../language/paths/path-steps.ts'
import type { Endpoint } from '../schema/schema.ts'
import type { ReferenceStage } from '../schema/schema-fields.ts'
import { CHECKS_BELOW, missedInRequest } from './names-below-roots.ts'

/** `before`: the stage before which a root must exist. `readsOwn`: also what the stage itself adds, since its parts run one after the other. */
type Reader = Readonly<{ before: StageName; when: string; takesPayload: boolean; readsOwn?: true }>

const LOOKUP: Reader = { before: 'lookup', when: 'when lookups are made', takesPayload: true, readsOwn: true }
const RESPONSE: Reader = { before: 'respond', when: 'when responses are sent', takesPayload: true }
const READERS: Readonly<Record<ReferenceStage, Reader>> = {
  lookup: LOOKUP,
  'lookup-item': LOOKUP,
  'lookup-page': { ...LOOKUP, when: 'when the pages of a lookup are read' },
  transform: { before: 'transform', when: 'when transforms are evaluated', takesPayload: false, readsOwn: true },
  map: { before: 'map', when: 'when the message is mapped', takesPayload: false },
  respond: RESPONSE,
  'respond-item': RESPONSE,
  answer: { before: 'answer', when: 'when the message is answered', takesPayload: true },
  // The answers of response requests are kept for `answer` alone.
  record: { before: 'respond', when: 'when the message is recorded', takesPayload: false },
}

/**
 * Checks that a path can find something at the stage that reads it.
 *
 * Lints, as errors: a root that does not exist at the stage; a constant, lookup, URL parameter or transform that is not
 * defined; a part that no lookup has, unless only the record of the message reads it. As warnings: other names below a root
 * at which nothing can be found. `depth`: how many `each` of a mapping are around.
 */
export function checkPath(
  path: SourcePath,
  stage: ReferenceStage,
  endpoint: Endpoint,
  lint: LintSink,
  depth = 0,
): void {
  checkSteps([nameStep(path.root), ...path.steps], path.names, stage, endpoint, lint, depth)
}

/**
 * The same for a path of an expression. `names`: the plain names that it starts with, root first; `transform`: the transform
 * that it belongs to, which sees the transforms before it; `text`: the expression. A part that no lookup has is a warning here,
 * since an expression may have conditions.
 */
export function checkReference(
  names: readonly string[],
  stage: ReferenceStage,
  endpoint: Endpoint,
  lint: LintSink,
  transform?: string,
  depth = 0,
  text = '',
): void {
  checkSteps(names.map(nameStep), names, stage, endpoint, lint, depth, transform, text)
}

/** Whether the stage may write `payload` for `requestBody`. */
export const isOfRequest = (stage: ReferenceStage): boolean => READERS[stage].takesPayload

/** Roots that exist for each element of a list, or for a page. The `item` of a forEach is around the `each` of its mapping. */
function elementRoots(stage: ReferenceStage, depth: number): readonly string[] {
  if (stage === 'lookup-page') return ['page']
  const isOfItem = stage.endsWith('-item')
  if (depth === 0) return isOfItem ? ['item'] : []
  return depth > 1 || isOfItem ? ['item', 'index', 'outer'] : ['item', 'index']
}

const nameStep = (name: string): PathStep => ({ kind: 'name', name })

function checkSteps(
  steps: readonly PathStep[],
  [root, ...rest]: readonly string[],
  stage: ReferenceStage,
  endpoint: Endpoint,
  lint: LintSink,
  depth: number,
  transform?: string,
  text = '',
): void {
  if (root === undefined) return
  const name = root === 'payload' && isOfRequest(stage) ? 'requestBody' : root
  if (elementRoots(stage, depth).includes(name)) return
  if (!existing(stage).includes(name)) {
    reportRoot(name, stage, lint, depth, text)
    return
  }
  CHECKS_BELOW[name as Root]?.(rest, endpoint, lint, transform)
  warnAboutLength([nameStep(name), ...steps.slice(1)], stage, endpoint, lint)
  const missed = missedInRequest(name, steps, endpoint)
  if (missed === undefined) return
  if (stage === 'transform' || stage === 'record') lint.warning(missed)
  else lint.error(missed, { toleratedInStored: true })
}

/** A property of lists in JavaScript, which other services of this kind read. */
function warnAboutLength(steps: readonly PathStep[], stage: ReferenceStage, endpoint: Endpoint, lint: LintSink): void {
  const last = steps.at(-1)
  if (steps.length < 3 || last?.kind !== 'name' || last.name !== 'length') return
  const list = pathText(steps.slice(0, -1))
  // The messages may have a field of that name.
  if (JSON.stringify(endpoint.inputValidation ?? {}).includes('"length"') || isReadAsObject(list, endpoint)) return
  const count = `"$count(${list})"`
  const advice = stage.startsWith('lookup')
    ? `for that number, write ${count} in an "expression"`
    : stage === 'transform'
      ? `for that number, write ${count}`
      : `for that number, write ${count} in "inputTransforms" and read it as "transforms.<name>"`
  lint.warning(`"length" is a field of that name here, never the number of elements; ${advice}.`)
}

/** Whether the document reads another field of what a path finds, or one below its `length`. */
function isReadAsObject(path: string, endpoint: Endpoint): boolean {
  const text = JSON.stringify(endpoint).replace(/\bpayload(?=[.[])/g, 'requestBody')
  const start = `${JSON.stringify(path).slice(1, -1)}.`
  return text.split(start).some((rest, at, parts) => {
    const isWholePath = at > 0 && !/[\p{L}\p{N}_.]$/u.test(parts[at - 1] ?? '')
    return isWholePath && /^(?!length(?![\p{L}\p{N}_.]))[\p{L}_`]/u.test(rest)
  })
}

/** What a path can start with, by its reader. Paths of requests may write `payload` for `requestBody`. */
export const PATH_ROOTS = Object.fromEntries(
  Object.entries(READERS).map(([name, { when, takesPayload }]) => {
    const stage = name as ReferenceStage
    const others = [...(takesPayload ? ['payload'] : []), ...elementRoots(stage, 0)]
    return [stage, { when, roots: [...existing(stage), ...others] }]
  }),
) as unknown as Readonly<Record<ReferenceStage, Readonly<{ when: string; roots: readonly string[] }>>>

function existing(stage: ReferenceStage): string[] {
  const { before, readsOwn } = READERS[stage]
  const done = STAGE_NAMES.slice(0, STAGE_NAMES.indexOf(before))
  const moments: readonly string[] = ['start', ...done, ...(readsOwn === true ? [before] : [])]
  return Object.entries(ROOTS).flatMap(([root, moment]) => (moments.includes(moment) ? [root] : []))
}

function reportRoot(root: string, stage: ReferenceStage, lint: LintSink, depth: number, text: string): void {
  const roots = [...existing(stage), ...elementRoots(stage, depth)]
  if (root === 'payload') {
    lint.error('"payload" is another name for "requestBody" in requests only; write "requestBody" here.')
  } else if (root === 'item') {
    lint.error('"item" exists in the parameters of a request with "forEach" and in the entries of an "each" only.')
  } else if (stage === 'map' && root === 'index') {
    lint.error('"index" exists in the entries of an "each" only.')
  } else if (stage === 'map' && root === 'outer') {
    lint.error('"outer" exists in an "each" within another "each" only: it is the "item" of the one around.')
  } else if (Object.hasOwn(ROOTS, root)) {
    lint.error(`"${root}" does not exist yet ${READERS[stage].when}; what does: ${roots.join(', ')}.`)
  } else {
    const broken = hyphenated(text).find((name) => name.split('-').indexOf(root) > 0)
    const meant = didYouMean(root, [...PATH_ROOTS[stage].roots, ...roots])
    const others = meant === '.' ? `; a path starts with one of: ${roots.join(', ')}.` : meant
    const advice = broken === undefined ? others : `; a name with "-" is written in backquotes: \`${broken}\`.`
    lint.error(`"${root}" is not part of a message${advice}`)
  }
}

/** What JSONata reads as differences, although names of fields are probably meant: `first-name` of `requestBody.first-name`. */
const hyphenated = (expression: string): readonly string[] =>
  [...expression.matchAll(/\.(\p{L}[\p{L}\p{N}_]*(?:-[\p{L}\p{N}_]+)+)/gu)].map(([, name = '']) => name)
