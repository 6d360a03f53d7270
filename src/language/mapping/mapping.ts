/**
 * `inputMapping`: turns a message into the output object. The document is read once; each message runs its entries in
 * order.
 */
import { Failure } from '../../core/failure.ts'
import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { type PathSource, parsePath, type SourcePath } from '../paths/path.ts'
import { compileRead, isArray, isInherited, type Read } from '../paths/path-read.ts'
import { type Convert, convertEach, type MappingFunction } from './mapping-functions.ts'
import { type Plan, readTargets } from './mapping-targets.ts'
import type { MappingTrace, TargetTrace } from './mapping-trace.ts'
import { FIRST_ELEMENT, spreads, type TargetStep } from './target.ts'
import {
  createTargetNodes,
  elementsAlong,
  nothingWritten,
  recordWritten,
  startRun,
  type TargetNodes,
  type Written,
} from './target-places.ts'
import { compileWrite, type WriteEach, type Writer } from './target-write.ts'

/** The most array elements that the indexes of one target may make in every message. */
const FIXED_ELEMENTS_MAX = 100_000

/** Characters of a value that a failure quotes. */
const MAX_QUOTED = 100

export type Mapping = Readonly<{
  /**
   * Out: a new object, which shares values with the message and the document but never changes them. Fails with
   * OUTPUT_TOO_LARGE (`compileWrite`), and with MAPPING_FAILED at the first entry whose value cannot be converted or
   * written, unless it has a default.
   */
  apply(source: PathSource): JsonObject
  /** The paths of all entries, also of those with a faulty target. */
  sources: readonly SourcePath[]
}>

/**
 * Compiles `inputMapping`, an object of source paths (`parsePath`) and their targets: a target's text (`parseTarget`), an
 * object `{ key, default?, transform? }`, or an array of those and of `[key, transform, default]`.
 *
 * Entries apply in the order written; a later one overwrites an earlier one of the same shape. The default replaces a value
 * that is missing or null, before or after the function of the target, or that the function cannot convert; it is not
 * converted. Without a default, nothing is written, or null if the target ends in `?`. For an array that is spread over
 * elements, this holds for each element.
 *
 * Lints, each at its entry: every fault of every path, target, function and parameter; unknown keys with the nearest known
 * one; more than FIXED_ELEMENTS_MAX elements. Warns of entries that replace what an earlier one writes, or that fail beside
 * it. A faulty entry is left out.
 *
 * `trace`: gets the trace of the one message that is mapped.
 */
export function compileMapping(inputMapping: JsonObject, lint: LintSink, trace?: MappingTrace): Mapping {
  const sources: SourcePath[] = []
  const entries: Entry[] = []
  const written = nothingWritten()
  const places = createTargetNodes()
  const sourceFields = createSourceFields()
  const earlier: Earlier = { at: new Map(), below: new Map() }

  for (const [text, declared] of Object.entries(inputMapping)) {
    const sink = lint.at(text)
    const path = parsePath(text)
    if (path.ok) sources.push(path.value)
    else sink.error(path.message)
    const plans = readTargets(declared, sink)
    if (!path.ok || plans === undefined) continue
    for (const plan of plans) warnAboutRepeat(plan, earlier)
    const targets = compileTargets(path.value.text, plans, written, places, sink.path, trace)
    entries.push(compileEntry(path.value, targets, sourceFields))
  }
  return { sources, apply: compileApply(entries, sourceFields, places.count) }
}

/** One path and what it is written to. */
type Entry = Readonly<{
  read: SourcePath['read']
  /** A path that only `read` reads whole has none. */
  field: SourceField | undefined
  /** Where the elements of a list can be written one by one. */
  each: Each | undefined
  targets: readonly Target[]
}>

type Each = Readonly<{ list: SourceField; read: Read; write: WriteEach }>

/**
 * `choose`: from the value at the path to the value to write; undefined to write nothing. Left out where that is the value
 * itself, unless it is null.
 */
type Target = Readonly<{ choose: Convert | undefined }> & Writer

function compileEntry(path: SourcePath, targets: readonly Target[], places: SourceFields): Entry {
  const { read } = path
  const { list, field, readElement } = fieldsAlong(path, places)
  const [only] = targets.length === 1 ? targets : []
  const write = only?.choose === undefined ? only?.writeEach : undefined
  const each = list && readElement && write && { list, read: readElement, write }
  return { read, field, each, targets }
}

function compileApply(entries: readonly Entry[], sourceFields: SourceFields, places: number): Mapping['apply'] {
  return (source) => {
    const objects = findObjects(sourceFields, source)
    const run = startRun(places)
    for (const { read, field, each, targets } of entries) {
      if (each !== undefined) {
        const elements = objects[each.list.within]?.[each.list.name]
        if (isArray(elements) && each.write(elements, each.read, run)) continue
      }
      const object = field === undefined ? undefined : objects[field.within]
      const value = field === undefined || object === undefined ? read(source) : object[field.name]
      for (const { choose, write } of targets) {
        const chosen = choose === undefined ? (value ?? undefined) : choose(value)
        if (chosen !== undefined) write(chosen, run)
      }
    }
    return run.output
  }
}

/** The entries before, by the texts of places: which writes one, which writes below one, and as what. */
type Earlier = Readonly<{
  at: Map<string, string>
  below: Map<string, Readonly<{ path: string; kind: TargetStep['kind'] }>>
}>

/**
 * Warns if an earlier entry has the same target, or one below it, unless this one appends; and if an earlier entry writes
 * fields where this one writes elements, or the reverse. A `[]` has an element 0 too. With a default, an entry may replace
 * a value of another shape.
 */
function warnAboutRepeat({ target, function: applied, hasDefault, sink }: Plan, earlier: Earlier): void {
  if (applied?.placement === 'root') return
  const steps = target.steps.map((step) => (step.kind === 'each' ? FIRST_ELEMENT : step))
  for (const [depth, { kind }] of steps.entries()) {
    const before = targetKey(steps.slice(0, depth))
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
  const place = targetKey(steps)
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

const targetKey = (steps: readonly TargetStep[]): string => JSON.stringify(steps)

function compileTargets(
  source: string,
  plans: readonly Plan[],
  written: Written,
  places: TargetNodes,
  documentPath: string,
  trace: MappingTrace | undefined,
): readonly Target[] {
  return plans.flatMap((plan): Target[] => {
    const { target, function: applied, fill, hasDefault, sink } = plan
    const placement = applied?.placement ?? 'spread'
    const elements = elementsAlong(written, target, placement)
    if (elements > FIXED_ELEMENTS_MAX) {
      sink.error(
        `The indexes up to here make "${target.text}" write ${elements} elements for every message; the most is ${FIXED_ELEMENTS_MAX}. Use lower indexes, or "[]".`,
      )
      return []
    }
    const observer = trace?.add(documentPath, source, target.text, fill !== undefined)
    const entry = { documentPath, target: target.text, replaces: hasDefault }
    const writer = compileWrite(target, { placement, fill, written, nodes: places, entry, observer })
    recordWritten(written, target, placement)
    const refuse = applied === undefined || hasDefault ? undefined : compileRefusal(applied, source, documentPath)
    return [{ choose: compileChoice(plan, refuse, observer), ...writer }]
  })
}

type Refuse = (value: Json) => never

/** Fails the message for a value that the function cannot convert. */
function compileRefusal({ name, remedy }: MappingFunction, source: string, documentPath: string): Refuse {
  return (value) => {
    const sentence = (what: string) =>
      `${name} cannot convert ${what} that "${source}" gave. ${remedy}, or give the target a default.`
    const unquoted = sentence(`the ${typeName(value)}`)
    const quoted = sentence(`the ${typeName(value)} ${JSON.stringify(value)}`)
    const isShort = typeof value !== 'object' && String(value).length <= MAX_QUOTED
    throw new Failure('MAPPING_FAILED', isShort ? quoted : unquoted, { path: documentPath, unquoted })
  }
}

function compileConvert({ target, function: applied }: Plan, refuse: Refuse | undefined): Convert | undefined {
  const convert = applied?.convert
  return convert === undefined || !spreads(target) ? convert : convertEach(convert, refuse ?? nothing)
}

const nothing = () => undefined

function compileChoice(plan: Plan, refuse: Refuse | undefined, trace: TargetTrace | undefined): Convert | undefined {
  const { fill } = plan
  const { takesNull } = plan.target
  const convert = compileConvert(plan, refuse)
  if (convert === undefined && fill === undefined && !takesNull && trace === undefined) return undefined
  return (value) => {
    trace?.read(value)
    const converted = convert === undefined ? value : convert(value)
    trace?.converted(converted)
    if (converted !== undefined && converted !== null) return converted
    if (fill !== undefined) return fill
    if (converted === undefined && value !== undefined && value !== null) refuse?.(value)
    return takesNull && (value === null || converted === null) ? null : undefined
  }
}

/** A field of the object of an earlier number; 0 is the source itself. */
type SourceField = Readonly<{ within: number; name: string }>

/**
 * The objects that the sources of a mapping lead through by names alone, while it is compiled: the first has the number 1.
 * Paths that start alike share them, so that a message looks up each object once, and not again for every path below it.
 */
type SourceFields = { readonly nodes: SourceField[]; readonly known: Map<string, number> }

const createSourceFields = (): SourceFields => ({ nodes: [], known: new Map() })

type Along = Readonly<{
  /** What a path of nothing but names reads. */
  field?: SourceField
  /** Of a path with a `[]` behind its names: the list, and the steps behind it in one element. */
  list?: SourceField
  readElement?: Read
}>

/** Nothing for a path that only its own `read` can read. */
function fieldsAlong({ names, steps }: SourcePath, { nodes: places, known }: SourceFields): Along {
  const last = names.at(-1)
  const [first, ...rest] = steps.slice(names.length - 1)
  const isInElements = first?.kind === 'each' && rest.length > 0
  if (last === undefined || names.some(isInherited) || (first !== undefined && !isInElements)) return {}
  let within = 0
  for (const name of names.slice(0, -1)) {
    const text = JSON.stringify([within, name])
    const number = known.get(text) ?? places.push({ within, name })
    known.set(text, number)
    within = number
  }
  const field = { within, name: last }
  return isInElements ? { list: field, readElement: compileRead(rest) } : { field }
}

/** Of one message, by their numbers; undefined for what isn't an object. */
type SourceObjects = readonly (JsonObject | undefined)[]

function findObjects({ nodes: places }: SourceFields, source: PathSource): SourceObjects {
  // The parts of a source that aren't JSON aren't roots of documents.
  const objects: (JsonObject | undefined)[] = [source as JsonObject]
  for (const { within, name } of places) {
    const found: Json | undefined = objects[within]?.[name]
    objects.push(isObject(found) ? found : undefined)
  }
  return objects
}
