/**
 * `inputMapping`: turns a message into the output object. The document is read once; each message runs one closure for
 * each target, or the generated code of a busy mapping.
 */
import { Failure } from '../../domain/failure.ts'
import { type Json, type JsonObject, typeName } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { type PathSource, type PathStep, parsePath, type SourcePath } from '../paths/path.ts'
import { type Generated, generate, type MappingAssignment, type RunAssignment } from './generated/mapping-code.ts'
import { type Convert, convertEach, convertOrElse, type MappingFunction } from './mapping-functions.ts'
import { type Plan, readTargets } from './mapping-targets.ts'
import type { MappingTrace } from './mapping-trace.ts'
import { FIRST_ELEMENT, spreads, type TargetStep } from './target.ts'
import type { Account } from './target-budget.ts'
import { elementsAlong, nothingWritten, recordWritten, type Written } from './target-sharing.ts'
import { compileWrite, type Output, type Write } from './target-write.ts'

/** The most array elements that the indexes of one target may make in every message. */
const FIXED_ELEMENTS_MAX = 100_000

/** Messages before code is generated, which takes as long as mapping some hundred messages. */
const GENERATE_AFTER = 200

/** Characters of a value that a failure quotes. */
const LONGEST_QUOTED = 100

export type Mapping = Readonly<{
  /**
   * Out: a new object, which shares values with the message and the document but never changes them.
   * Fails with OUTPUT_TOO_LARGE (`compileWrite`), and with MAPPING_FAILED at the first entry whose value cannot be converted
   * or written, unless it has a default.
   */
  apply(source: PathSource): JsonObject
  /** The paths of all entries, also of those with a faulty target. */
  sources: readonly SourcePath[]
}>

/**
 * Compiles `inputMapping`, an object of source paths (`parsePath`) and their targets: a target's text (`parseTarget`),
 * an object `{ key, default?, transform? }`, or an array of those and of `[key, transform, default]`.
 *
 * Entries apply in the order written; a later one overwrites an earlier one of the same shape. The default replaces a value that
 * is missing or null, before or after the function of the target, or that the function cannot convert; it is not converted. Without a default, nothing is
 * written, or null if the target ends in `?`. For an array that is spread over elements, this holds for each element.
 *
 * Lints, each at its entry: every fault of every path, target, function and parameter; unknown keys with the nearest known
 * one; more than FIXED_ELEMENTS_MAX elements. Warns of entries that replace what an earlier one writes, or that fail beside it. A faulty entry is left out.
 *
 * `generateAfter`: the number of messages before code is generated; it changes the speed only. `trace`: gets the course of
 * the one message that is mapped; no code is generated then.
 */
export function compileMapping(
  inputMapping: JsonObject,
  lint: LintSink,
  generateAfter = GENERATE_AFTER,
  trace?: MappingTrace,
): Mapping {
  const sources: SourcePath[] = []
  const assignments: MappingAssignment[] = []
  const written = nothingWritten()
  const earlier: Earlier = { at: new Map(), below: new Map() }

  for (const [text, declared] of Object.entries(inputMapping)) {
    const sink = lint.at(text)
    const path = parsePath(text)
    if (path.ok) sources.push(path.value)
    else sink.error(path.message)
    const plans = readTargets(declared, sink)
    if (!path.ok || plans === undefined) continue
    for (const plan of plans) warnOfRepeat(plan, earlier)
    assignments.push(...compileAssignments(path.value, plans, written, sink.path, trace))
  }
  return { sources, apply: compileApply(assignments, trace === undefined ? generateAfter : Number.POSITIVE_INFINITY) }
}

function compileApply(assignments: readonly MappingAssignment[], generateAfter: number): Mapping['apply'] {
  let applied = 0
  let generated: Generated | undefined
  return (source) => {
    if (applied <= generateAfter && applied++ === generateAfter) generated = generate(assignments)
    if (generated !== undefined) {
      const mapped = runGenerated(generated, source)
      if (mapped !== undefined) return mapped
    }
    const output: Output = {}
    const account: Account = { addedBytes: 0 }
    for (let at = 0; at < assignments.length; at++) assignments[at]?.run(source, output, account)
    return output
  }
}

/**
 * Undefined if closures must map the message. Generated code runs parts of later entries before earlier ones are done; if one
 * fails, closures find the first entry that does.
 */
function runGenerated(generated: Generated, source: PathSource): Output | undefined {
  const output: Output = {}
  try {
    return generated(source, output, { addedBytes: 0 }) ? output : undefined
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

/** The entries before, by the texts of places: which writes one, which writes below one, and as what. */
type Earlier = Readonly<{
  at: Map<string, string>
  below: Map<string, Readonly<{ path: string; kind: TargetStep['kind'] }>>
}>

/**
 * Warns if an earlier entry has the same target, or one below it, unless this one appends; and if an earlier entry writes fields
 * where this one writes elements, or the reverse. A `[]` has an element 0 too. With a
 * default, an entry may replace a value of another shape.
 */
function warnOfRepeat({ target, function: applied, hasDefault, sink }: Plan, earlier: Earlier): void {
  if (applied?.placement === 'root') return
  const steps = target.steps.map((step) => (step.kind === 'each' ? FIRST_ELEMENT : step))
  for (const [depth, { kind }] of steps.entries()) {
    const before = placeOf(steps.slice(0, depth))
    const other = earlier.below.get(before)
    if (other === undefined) earlier.below.set(before, { path: sink.path, kind })
    else if (other.kind !== kind && !hasDefault) {
      sink.warning(
        `This and ${other.path} can never both be written: one writes a field where the other writes an element, and a message that has both fails. Give both targets brackets there, or neither.`,
      )
      return
    }
  }
  if (target.steps.at(-1)?.kind === 'each' || applied?.placement === 'concat') return
  const place = placeOf(steps)
  const same = earlier.at.get(place)
  const below = earlier.below.get(place)
  if (same === undefined) earlier.at.set(place, sink.path)
  if (same !== undefined) {
    sink.warning(
      `This writes the same target as ${same}, and replaces its value where both have one. Remove one of them, or choose the value in an expression of "inputTransforms".`,
    )
  } else if (below !== undefined && !hasDefault) {
    sink.warning(
      `This replaces what ${below.path} writes below "${target.text}", where both have a value. Put this entry before it, or remove one of them.`,
    )
  }
}

const placeOf = (steps: readonly TargetStep[]): string => JSON.stringify(steps)

function compileAssignments(
  { text, root, steps, read }: SourcePath,
  plans: readonly Plan[],
  written: Written,
  documentPath: string,
  trace: MappingTrace | undefined,
): readonly MappingAssignment[] {
  const first: readonly PathStep[] = [{ kind: 'name', name: root }]
  // `concat`, not a spread: V8 gives an array that grows room for 17 elements, and this one is kept.
  const from = first.concat(steps)
  return plans.flatMap((plan): MappingAssignment[] => {
    const { target, function: applied, fill, hasDefault, sink } = plan
    const placement = applied?.placement ?? 'spread'
    const elements = elementsAlong(written, target, placement)
    if (elements > FIXED_ELEMENTS_MAX) {
      sink.error(
        `The indexes up to here make "${target.text}" write ${elements} elements for every message; the most is ${FIXED_ELEMENTS_MAX}. Use lower indexes, or "[]".`,
      )
      return []
    }
    const observer = trace?.add(documentPath, text, target.text, fill !== undefined)
    const entry = { documentPath, target: target.text, replaces: hasDefault }
    const write = compileWrite(target, { placement, fill, written, entry, observer })
    recordWritten(written, target, placement)
    const refuse = applied === undefined || hasDefault ? undefined : compileRefusal(applied, text, documentPath)
    const convert = compileConvert(plan, refuse)
    const choose = compileChoice(plan, observer === undefined ? convert : observer.observeConvert(convert), refuse)
    const run = compileRun(observer === undefined ? read : observer.observeRead(read), choose, write)
    const element = applied?.convert
    const convertElement = element === undefined || refuse === undefined ? element : convertOrElse(element, refuse)
    const fills = hasDefault || target.takesNull
    return [{ from, read, target, placement, convert: convertElement, fills, choose, run }]
  })
}

/** A function of its own: V8 keeps for a closure all that any closure beside it uses, here the tree `written`. */
function compileRun(read: SourcePath['read'], choose: Convert, write: Write): RunAssignment {
  return (source, output, account) => {
    const value = choose(read(source))
    if (value !== undefined) write(output, value, account)
  }
}

type Refuse = (value: Json) => never

/** Fails the message for a value that the function cannot convert. */
function compileRefusal({ name, remedy }: MappingFunction, source: string, documentPath: string): Refuse {
  return (value) => {
    const sentence = (what: string) =>
      `${name} cannot convert ${what} that "${source}" gave. ${remedy}, or give the target a default.`
    const unquoted = sentence(`the ${typeName(value)}`)
    const quoted = sentence(`the ${typeName(value)} ${JSON.stringify(value)}`)
    const isShort = typeof value !== 'object' && String(value).length <= LONGEST_QUOTED
    throw new Failure('MAPPING_FAILED', isShort ? quoted : unquoted, { path: documentPath, unquoted })
  }
}

function compileConvert({ target, function: applied }: Plan, refuse: Refuse | undefined): Convert | undefined {
  const convert = applied?.convert
  return convert === undefined || !spreads(target) ? convert : convertEach(convert, refuse ?? nothing)
}

const nothing = () => undefined

/** From the value at the path to the value to write; undefined to write nothing. */
function compileChoice(
  { target: { takesNull }, fill }: Plan,
  convert: Convert | undefined,
  refuse: Refuse | undefined,
): Convert {
  return (value) => {
    const converted = convert === undefined ? value : convert(value)
    if (converted !== undefined && converted !== null) return converted
    if (fill !== undefined) return fill
    if (converted === undefined && value !== undefined && value !== null) refuse?.(value)
    return takesNull && (value === null || converted === null) ? null : undefined
  }
}
