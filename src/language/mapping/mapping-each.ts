/** `each`: maps every element of a list by entries of its own, and adds what they write to a list of the output. */
import { Failure } from '../../core/failure.ts'
import { type Awaitable, isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { letsThrough } from '../condition.ts'
import type { PathSource } from '../paths/path.ts'
import { isArray } from '../paths/path-read.ts'
import type { MappingTables } from './mapping-functions.ts'
import type { MappingTrace, TargetTrace } from './mapping-trace.ts'
import { FIRST_ELEMENT, type MappingTarget, type TargetStep } from './target.ts'
import {
  beforeAlong,
  type Container,
  charge,
  type Entry,
  type MessageRun,
  nodesAlong,
  put,
  type Run,
  reach,
  recordWritten,
  stepKey,
  type TargetNode,
  type TargetNodes,
  type Written,
} from './target-places.ts'

/** `scope`: the message, with `item`, `index` and `outer`. `context`: what the mapping was applied with. */
type Condition = (scope: JsonObject, context: unknown) => Awaitable<Json | undefined>

/** What a mapping takes from the service, so that it stays without expressions and clocks of its own. */
export type MappingEngine = Readonly<{
  /** For the function `table`. */
  tables: MappingTables
  /** `depth`: how many `each` are around. Lints what is wrong with the expression. */
  compileCondition(text: string, depth: number, lint: LintSink): Condition
  /** Called again and again on a long list. Out: to wait for, once other work should run. */
  pause(context: unknown): Promise<void> | undefined
}>

/** Maps one element; the same for every element and message. */
export type ApplyEntries = (source: PathSource, message: MessageRun) => Awaitable<JsonObject>

/** What the entries of one `each` are compiled to, without their list in the output. */
export type CompiledEach = Readonly<{
  apply: ApplyEntries
  condition: Condition | undefined
  conditionPath: string
  /** The entries read fields of `item` only, so that a single text or number cannot be meant. */
  takesObjects: boolean
  /** The same list may be mapped several times in one message. */
  isRepeated: boolean
  observer: TargetTrace | undefined
}>

/** Adds an element for each element of the value that is not null. A promise only if a condition or a pause is waited for. */
export type Loop = (value: Json | undefined, source: PathSource, run: Run) => Promise<void> | undefined

type LoopOptions = Readonly<{
  source: string
  target: MappingTarget
  entry: Entry
  /** The targets of the entries before this one. */
  written: Written
  nodes: TargetNodes
  engine: MappingEngine | undefined
  trace: MappingTrace | undefined
}>

/** About what an element of the output takes without its fields. */
export const ELEMENT_BYTES = 64
/** Elements after which a loop may pause. */
const ELEMENTS_AT_ONCE = 8
const MAX_QUOTED = 100

/**
 * Compiles a target with `each`: its last `[]` is the list, any other is element 0, and the steps behind the list lead to what
 * the entries of `each` write.
 */
export function compileLoop(
  { apply, condition, conditionPath, takesObjects, isRepeated, observer }: CompiledEach,
  { source: sourceText, target, entry, written, nodes, engine, trace }: LoopOptions,
): Loop {
  const { list, listSteps, inner } = planList(target, written, nodes)
  const wrap = compileWrap(inner, entry)

  const addMapped = (list: Json[], mapped: JsonObject, { added }: Run): void => {
    observer?.wrote(listSteps, list.length)
    list.push(wrap(mapped, added))
  }
  const mapElement = (scope: PathSource, run: Run): Promise<void> | undefined => {
    const elements = reach(list, entry, run) as Json[]
    if (isRepeated) charge(ELEMENT_BYTES, run.added, entry.documentPath)
    const leave = trace?.enter([...listSteps, { kind: 'index', index: elements.length }, ...inner])
    const mapped = apply(scope, run.added)
    if (mapped instanceof Promise) {
      return mapped.then((output) => {
        leave?.()
        addMapped(elements, output, run)
      })
    }
    leave?.()
    addMapped(elements, mapped, run)
    return undefined
  }
  const mapIf = (passes: Json | undefined, scope: PathSource, run: Run): Promise<void> | undefined =>
    letsThrough(passes, conditionPath) ? mapElement(scope, run) : undefined
  const visit = (scope: JsonObject, run: Run): Promise<void> | undefined => {
    if (condition === undefined) return mapElement(scope, run)
    const passes = condition(scope, run.added.context)
    return passes instanceof Promise ? passes.then((late) => mapIf(late, scope, run)) : mapIf(passes, scope, run)
  }
  const mayPause = ({ added }: Run): Promise<void> | undefined => {
    added.elements += 1
    if (added.elements < ELEMENTS_AT_ONCE) return undefined
    added.elements = 0
    return engine?.pause(added.context)
  }

  return (value, source, run) => {
    observer?.read(value)
    observer?.converted(value)
    if (value === undefined || value === null) return undefined
    if (takesObjects && isSingleValue(value)) throw noList(value, sourceText, entry)
    const elements = isArray(value) ? value : [value]
    const scope: { [name: string]: unknown } = { ...source, outer: source.item }
    const visitAt = (at: number) => {
      const item = elements[at] ?? null
      // A parent without the list stands as null among the elements of the others.
      if (item === null) return undefined
      scope.item = item
      scope.index = at
      return visit(scope as JsonObject, run)
    }
    const waitFor = async (pending: Promise<void>, next: number): Promise<void> => {
      await pending
      for (let at = next; at < elements.length; at++) {
        const mapped = visitAt(at)
        if (mapped !== undefined) await mapped
        const paused = mayPause(run)
        if (paused !== undefined) await paused
      }
    }
    for (let at = 0; at < elements.length; at++) {
      const pending = visitAt(at) ?? mayPause(run)
      if (pending !== undefined) return waitFor(pending, at + 1)
    }
    return undefined
  }
}

/** XML has an empty text for an element without content. */
const isSingleValue = (value: Json): boolean => !isArray(value) && !isObject(value) && value !== ''

function noList(value: Json, source: string, { documentPath }: Entry): Failure {
  const sentence = (what: string) =>
    `"each" maps the fields of objects, and "${source}" gave ${what}. Read a list or an object, or map "item" itself.`
  const unquoted = sentence(`a ${typeName(value)}`)
  const isShort = String(value).length <= MAX_QUOTED
  const quoted = sentence(`the ${typeName(value)} ${JSON.stringify(value)}`)
  return new Failure('MAPPING_FAILED', isShort ? quoted : unquoted, { path: documentPath, unquoted })
}

type ListPlan = Readonly<{
  list: TargetNode | undefined
  /** The way to the list, and from an element of it to what is mapped. */
  listSteps: readonly TargetStep[]
  inner: readonly TargetStep[]
}>

function planList(target: MappingTarget, written: Written, nodes: TargetNodes): ListPlan {
  const at = target.steps.findLastIndex(({ kind }) => kind === 'each')
  const steps = target.steps.map((step, index) => (step.kind === 'each' && index !== at ? FIRST_ELEMENT : step))
  const list = nodesAlong(nodes, steps, beforeAlong(written, steps, 'all'), at).at(-1)
  // As `all`: entries that spread a list find the elements that are there, and replace none.
  recordWritten(written, { ...target, steps }, 'all')
  return { list, listSteps: steps.slice(0, at), inner: steps.slice(at + 1) }
}

type Wrap = (mapped: Json, added: MessageRun) => Json

const compileWrap = (steps: readonly TargetStep[], entry: Entry): Wrap =>
  steps.reduceRight<Wrap>(
    (inner, step) => {
      const isList = step.kind !== 'name'
      const key = stepKey(step) ?? 0
      return (mapped, added) => {
        const container: Container = isList ? [] : {}
        put(container, key, inner(mapped, added), entry, added)
        return container
      }
    },
    (mapped) => mapped,
  )
