/**
 * `inputMapping`: what turns a message into the output object. The document is read once, here; a message then runs one
 * closure a target, and of a mapping that is busy a function of its own.
 */
import type { JsonObject } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { type PathSource, type PathStep, parsePath, type SourcePath } from '../paths/path.ts'
import { type Generated, generate, type MappingAssignment, type RunAssignment } from './generated/mapping-code.ts'
import type { Convert } from './mapping-functions.ts'
import { type Plan, readTargets } from './mapping-targets.ts'
import { spreadSteps, spreads } from './target.ts'
import type { Account } from './target-budget.ts'
import { nothingWritten, placesAlong, recordWritten, type Written } from './target-sharing.ts'
import { compileWrite, type Output, type Write } from './target-write.ts'

/**
 * The most places of arrays that one target may ask for by indexes alone. Far more than anyone writes by hand, and
 * little enough for each of them to hold a value of some hundred bytes.
 */
const FIXED_PLACES_MAX = 100_000

/** Messages after which a mapping is worth a function of its own: writing it takes as long as mapping some hundred. */
const GENERATE_AFTER = 200

export type Mapping = Readonly<{
  /**
   * The output for a message: a new object, which shares values with the message and with the document but never
   * changes them. Throws nothing but OUTPUT_TOO_LARGE where the output would grow out of bounds (`compileWrite`).
   */
  apply(source: PathSource): JsonObject
  /** What it reads, with the place of each entry; entries whose target is at fault included. */
  sources: readonly Readonly<{ path: SourcePath; place: string }>[]
}>

/**
 * Compiles `inputMapping`, an object of source paths (`parsePath`) and their targets: a target's text (`parseTarget`),
 * an object `{ key, default?, transform? }`, or an array of those and of `[key, transform, default]`.
 *
 * Entries apply in the order written, a later one over an earlier one where they conflict. A value that is missing or
 * null (or that the function of its target makes so) is replaced by the default; without one, nothing is written, but
 * null where the target ends in `?`. A default is written as it is, past the function. Where an array is spread over
 * elements, all of this holds for each element.
 *
 * Lints, each at the place of its entry: every fault of every path, target, function and parameter; unknown keys with
 * the nearest known one, more than FIXED_PLACES_MAX places. Warns of two entries with one target. An entry at fault is left out; nothing is thrown.
 *
 * `generateAfter`: how many applications until it gets a function of its own (`generate`); nothing but the time depends on it.
 */
export function compileMapping(inputMapping: JsonObject, lint: LintSink, generateAfter = GENERATE_AFTER): Mapping {
  const sources: Readonly<{ path: SourcePath; place: string }>[] = []
  const assignments: MappingAssignment[] = []
  const written = nothingWritten()
  const places = new Map<string, string>()

  for (const [text, declared] of Object.entries(inputMapping)) {
    const sink = lint.at(text)
    const path = parsePath(text)
    if (path.ok) sources.push({ path: path.value, place: sink.path })
    else sink.error(path.message)
    const plans = readTargets(declared, sink)
    if (!path.ok || plans === undefined) continue
    for (const plan of plans) warnOfRepeat(plan, places)
    assignments.push(...compileAssignments(path.value, plans, written, sink.path))
  }
  return { sources, apply: compileApply(assignments, generateAfter) }
}

function compileApply(assignments: readonly MappingAssignment[], generateAfter: number): Mapping['apply'] {
  let applied = 0
  let generated: Generated | undefined
  return (source) => {
    if (applied <= generateAfter && applied++ === generateAfter) generated = generate(assignments)
    const output: Output = {}
    const account: Account = { addedBytes: 0 }
    if (generated?.(source, output, account)) return output
    for (let at = 0; at < assignments.length; at++) assignments[at]?.run(source, output, account)
    return output
  }
}

/** Warns where an earlier entry has the same target, unless both add to it. `places`: target to place, added to. */
function warnOfRepeat({ target, function: applied, sink }: Plan, places: Map<string, string>): void {
  const adds = target.steps.at(-1)?.kind === 'each' || applied?.placement === 'concat'
  if (adds || applied?.placement === 'root') return
  const steps = JSON.stringify(spreadSteps(target))
  const earlier = places.get(steps)
  if (earlier === undefined) places.set(steps, sink.path)
  else sink.warning(`This writes the same target as ${earlier}, and replaces its value where both have one.`)
}

function asksTooMuch(places: number, { target, sink }: Plan): boolean {
  if (places <= FIXED_PLACES_MAX) return false
  sink.error(
    `The indexes up to here make "${target.text}" write ${places} places for every message; the most is ${FIXED_PLACES_MAX}. Use lower indexes, or "[]".`,
  )
  return true
}

function compileAssignments(
  { root, steps, read }: SourcePath,
  plans: readonly Plan[],
  written: Written,
  place: string,
): readonly MappingAssignment[] {
  const first: readonly PathStep[] = [{ kind: 'name', name: root }]
  // Not spread: an array that grows has room for 17 at least, and this one is kept.
  const from = first.concat(steps)
  return plans.flatMap((plan): MappingAssignment[] => {
    const { target, function: applied, fill } = plan
    const placement = applied?.placement ?? 'spread'
    if (asksTooMuch(placesAlong(written, target, placement), plan)) return []
    const write = compileWrite(target, { placement, fill, written, place })
    recordWritten(written, target, placement)
    const convert = spreads(target) ? applied?.convertEach : applied?.convert
    const choose = compileChoice(plan, convert)
    const run = compileRun(read, choose, write)
    const fills = fill !== undefined || target.takesNull
    return [{ from, read, target, placement, convert, fills, choose, run }]
  })
}

/** Made here, as a closure keeps all that closures beside it ask for: here that would be the tree of what was written. */
function compileRun(read: SourcePath['read'], choose: Convert, write: Write): RunAssignment {
  return (source, output, account) => {
    const value = choose(read(source))
    if (value !== undefined) write(output, value, account)
  }
}

/** From the value that was read to the one that is written; undefined: nothing is. */
function compileChoice({ target: { takesNull }, fill }: Plan, convert: Convert | undefined): Convert {
  return (value) => {
    const converted = convert === undefined ? value : convert(value)
    if (converted !== undefined && converted !== null) return converted
    if (fill !== undefined) return fill
    return takesNull && (value === null || converted === null) ? null : undefined
  }
}
