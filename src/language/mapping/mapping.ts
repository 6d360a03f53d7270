/**
 * `inputMapping`: turns a message into the output object. The document is read once; each message runs its entries in
 * order.
 */
import { Failure } from '../../core/failure.ts'
import { type Awaitable, isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { type PathSource, parsePath, type SourcePath } from '../paths/path.ts'
import { compileRead, isArray, isInherited, type Read } from '../paths/path-read.ts'
import {
  type ApplyEntries,
  type CompiledEach,
  compileLoop,
  ELEMENT_BYTES,
  type Loop,
  type MappingEngine,
} from './mapping-each.ts'
import { type Convert, convertEach, type MappingFunction } from './mapping-functions.ts'
import { type EachPlan, type Plan, readTargets } from './mapping-targets.ts'
import type { MappingTrace, TargetTrace } from './mapping-trace.ts'
import { FIRST_ELEMENT, type MappingTarget, spreads, type TargetStep } from './target.ts'
import {
  charge,
  createTargetNodes,
  elementsAlong,
  nothingWritten,
  type Run,
  recordWritten,
  startRun,
  type TargetNodes,
  type Written,
  weighBytes,
} from './target-places.ts'
import { compileWrite, type WriteEach, type Writer } from './target-write.ts'

/** The most array elements that the indexes of one target may make in every message. */
const FIXED_ELEMENTS_MAX = 100_000

/** Characters of a value that a failure quotes. */
const MAX_QUOTED = 100

/** Steps of the targets of an `each` and of those around it altogether; as many as one target may have. */
const NESTED_STEPS_MAX = 128

/** The path of an entry. `depth`: how many `each` are around it. */
export type MappingSource = SourcePath & Readonly<{ depth: number; lint: LintSink }>

export type Mapping<Out = JsonObject> = Readonly<{
  /**
   * Out: a new object, which shares values with the message and the document but never changes them. Fails with
   * OUTPUT_TOO_LARGE (`compileWrite`), and with MAPPING_FAILED at the first entry whose value cannot be converted or
   * written, unless it has a default. `context`: for the engine.
   */
  apply(source: PathSource, context?: unknown): Out
  /** The paths of all entries, also of those with a faulty target and of those in an `each`. */
  sources: readonly MappingSource[]
}>

/**
 * Compiles `inputMapping`, an object of source paths (`parsePath`) and their targets: a target's text (`parseTarget`), an
 * object `{ key, default?, transform? }` or `{ key, each, when? }`, or an array of those and of `[key, transform, default]`.
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
 * `trace`: gets the trace of the one message that is mapped. `engine`: for `when`, which is an error without it, and for long
 * lists; only with it, mapping may return a promise.
 */
export function compileMapping(inputMapping: JsonObject, lint: LintSink, trace?: MappingTrace): Mapping
export function compileMapping(
  inputMapping: JsonObject,
  lint: LintSink,
  trace: MappingTrace | undefined,
  engine: MappingEngine,
): Mapping<Awaitable<JsonObject>>
export function compileMapping(
  inputMapping: JsonObject,
  lint: LintSink,
  trace?: MappingTrace,
  engine?: MappingEngine,
): Mapping<Awaitable<JsonObject>> {
  const sources: MappingSource[] = []
  const apply = compileEntries(inputMapping, lint, { sources, trace, engine, depth: 0, steps: 0, isRepeated: false })
  return {
    sources,
    apply: (source, context) => {
      trace?.start()
      return apply(source, { bytes: 0, elements: 0, context })
    },
  }
}

/** Where entries are. */
type Around = Readonly<{
  sources: MappingSource[]
  trace: MappingTrace | undefined
  engine: MappingEngine | undefined
  /** How many `each` are around, and the steps of their targets. */
  depth: number
  steps: number
  /** The elements of the `each` around may be mapped several times in one message. */
  isRepeated: boolean
}>

function compileEntries(inputMapping: JsonObject, lint: LintSink, around: Around): ApplyEntries {
  const { sources, trace, engine, depth } = around
  const entries: Entry[] = []
  const written = nothingWritten()
  const nodes = createTargetNodes()
  const sourceFields = createSourceFields()
  const earlier: Earlier = { at: new Map(), below: new Map() }

  for (const [text, declared] of Object.entries(inputMapping)) {
    const sink = lint.at(text)
    const path = parsePath(text)
    if (path.ok) sources.push({ ...path.value, depth, lint: sink })
    else sink.error(path.message)
    const isOfElement = path.ok && (path.value.root === 'item' || path.value.root === 'index')
    const isRepeated = around.isRepeated || (depth > 0 && !isOfElement)
    const loops = new Map<EachPlan, CompiledEach>()
    const plans = readTargets(declared, sink, engine?.tables, (each, target, at) => {
      const observer = target && trace?.add(sink.path, text, target.text, false)
      loops.set(each, { ...compileEach(each, target, at, { ...around, isRepeated }), observer })
    })
    if (!path.ok || plans === undefined) continue
    for (const plan of plans) warnAboutRepeat(plan, earlier)
    const documentPath = sink.path
    // Targets apply in their order, as entries do.
    for (const group of loops.size > 0 ? plans.map((plan) => [plan]) : [plans]) {
      const [plan] = group
      const each = plan?.each && loops.get(plan.each)
      if (plan === undefined || each === undefined) {
        const targets = compileTargets(text, group, written, nodes, documentPath, trace)
        const isCharged = isRepeated || (depth > 0 && group.some(({ fill }) => fill !== undefined))
        entries.push(compileEntry(path.value, targets, sourceFields, isCharged ? documentPath : undefined))
      } else if (checkElements(plan, written)) {
        const entry = { documentPath, target: plan.target.text, replaces: false }
        const loop = compileLoop(each, { source: text, target: plan.target, entry, written, nodes, engine, trace })
        entries.push(compileLoopEntry(path.value, loop, sourceFields))
      }
    }
  }
  return compileApply(entries, sourceFields, nodes)
}

function compileEach(
  { entries, when }: EachPlan,
  target: MappingTarget | undefined,
  sink: LintSink,
  around: Around,
): Omit<CompiledEach, 'observer'> {
  const steps = around.steps + (target?.steps.length ?? 0)
  if (steps > NESTED_STEPS_MAX) {
    sink.at('key').error(`The targets of this "each" and of those around it have more than ${NESTED_STEPS_MAX} steps.`)
  }
  const depth = around.depth + 1
  const within: MappingSource[] = []
  const apply = compileEntries(entries, sink.at('each'), { ...around, sources: within, depth, steps })
  for (const source of within) around.sources.push(source)
  const ofItem = within.filter(({ root, depth: at }) =>
    root === 'item' ? at === depth : at === depth + 1 && root === 'outer',
  )
  const fields = ofItem.filter((source) => source.steps.some(({ kind }) => kind === 'name'))
  const { isRepeated } = around
  const conditionSink = sink.at('when')
  return {
    apply,
    condition: when === undefined ? undefined : compileCondition(when, depth, conditionSink, around.engine),
    conditionPath: conditionSink.path,
    takesObjects: ofItem.length > 0 && fields.length === ofItem.length,
    isRepeated,
  }
}

function compileCondition(when: string, depth: number, sink: LintSink, engine: MappingEngine | undefined) {
  if (engine === undefined) sink.error('Expressions cannot be evaluated here.')
  return engine?.compileCondition(when, depth, sink)
}

/** One path and what it is written to. */
type Entry = Readonly<{
  read: SourcePath['read']
  /** A path that only `read` reads whole has none. */
  field: SourceField | undefined
  /** Where the elements of a list can be written one by one. */
  each: OneByOne | undefined
  targets: readonly Target[]
  /** In place of targets. */
  loop: Loop | undefined
  /** The path of an entry that may write the same value many times, so that the message pays for it. */
  chargedAt: string | undefined
}>

type OneByOne = Readonly<{ list: SourceField; read: Read; write: WriteEach }>

/**
 * `choose`: from the value at the path to the value to write; undefined to write nothing. Left out where that is the value
 * itself, unless it is null.
 */
type Target = Readonly<{ choose: Convert | undefined }> & Writer

function compileEntry(
  path: SourcePath,
  targets: readonly Target[],
  places: SourceFields,
  chargedAt: string | undefined,
): Entry {
  const { read } = path
  const { list, field, readElement } = fieldsAlong(path, places)
  const [only] = targets.length === 1 && chargedAt === undefined ? targets : []
  const write = only?.choose === undefined ? only?.writeEach : undefined
  const each = list && readElement && write && { list, read: readElement, write }
  return { read, field, each, targets, loop: undefined, chargedAt }
}

function compileLoopEntry(path: SourcePath, loop: Loop, places: SourceFields): Entry {
  const list = withoutLastList(path)
  const { field } = fieldsAlong(list, places)
  return { read: list.read, field, each: undefined, targets: [], loop, chargedAt: undefined }
}

/** A `[]` at the end would keep the lists of several parents apart. */
function withoutLastList(path: SourcePath): SourcePath {
  const list = path.steps.at(-1)?.kind === 'each' ? parsePath(path.text.slice(0, -'[]'.length)) : undefined
  return list?.ok ? list.value : path
}

function compileApply(
  entries: readonly Entry[],
  sourceFields: SourceFields,
  { count }: Pick<TargetNodes, 'count'>,
): ApplyEntries {
  const applyFrom = (from: number, source: PathSource, objects: SourceObjects, run: Run): Awaitable<JsonObject> => {
    for (let at = from; at < entries.length; at++) {
      const { read, field, each, targets, loop, chargedAt } = entries[at] as Entry
      if (each !== undefined) {
        const elements = objects[each.list.within]?.[each.list.name]
        if (isArray(elements) && each.write(elements, each.read, run)) continue
      }
      const object = field === undefined ? undefined : objects[field.within]
      const value = field === undefined || object === undefined ? read(source) : object[field.name]
      const pending = loop?.(value, source, run)
      if (pending !== undefined) return pending.then(() => applyFrom(at + 1, source, objects, run))
      for (const { choose, write } of targets) {
        const chosen = choose === undefined ? (value ?? undefined) : choose(value, run.added.context)
        if (chosen === undefined) continue
        if (chargedAt !== undefined) {
          // Of a list, the target may make as many elements.
          const count = isArray(chosen) ? chosen.length : 0
          charge(weighBytes(chosen) + count * ELEMENT_BYTES, run.added, chargedAt)
          run.added.elements += count
        }
        write(chosen, run)
      }
    }
    return run.output
  }
  return (source, message) => applyFrom(0, source, findObjects(sourceFields, source), startRun(count, message))
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
function warnAboutRepeat({ target, function: applied, hasDefault, each, sink }: Plan, earlier: Earlier): void {
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
  const place = targetKey(steps)
  if (each !== undefined && !earlier.at.has(place)) earlier.at.set(place, sink.path)
  if (each !== undefined || target.steps.at(-1)?.kind === 'each' || applied?.placement === 'concat') return
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

/** Lints a target that makes too many elements. */
function checkElements({ target, function: applied, sink }: Plan, written: Written): boolean {
  const elements = elementsAlong(written, target, applied?.placement ?? 'spread')
  if (elements <= FIXED_ELEMENTS_MAX) return true
  sink.error(
    `The indexes up to here make "${target.text}" write ${elements} elements for every message; the most is ${FIXED_ELEMENTS_MAX}. Use lower indexes, or "[]".`,
  )
  return false
}

function compileTargets(
  source: string,
  plans: readonly Plan[],
  written: Written,
  places: TargetNodes,
  documentPath: string,
  trace: MappingTrace | undefined,
): readonly Target[] {
  return plans.flatMap((plan): Target[] => {
    const { target, function: applied, fill, hasDefault } = plan
    if (!checkElements(plan, written)) return []
    const placement = applied?.placement ?? 'spread'
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
  return (value, context) => {
    trace?.read(value)
    const converted = convert === undefined ? value : convert(value, context)
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
