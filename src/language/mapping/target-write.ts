/**
 * Writing to a target. Compiling it finds its places; each message loops over lists, and sets a field or appends an
 * element.
 */
import { isObject, type Json, REFUSED_NAMES } from '../../core/json.ts'
import { isArray, isInherited, ownField, type Read } from '../paths/path-read.ts'
import type { Placement } from './mapping-functions.ts'
import { type MappingTarget, type TargetStep, writeSteps } from './target.ts'
import {
  type AddedBytes,
  beforeAlong,
  type Container,
  charge,
  checkShape,
  describeShape,
  type Entry,
  find,
  findOrMake,
  nodesAlong,
  type Output,
  put,
  type Run,
  reach,
  reachIn,
  read,
  stepKey,
  type TargetNode,
  type TargetNodes,
  type Written,
  weighBytes,
} from './target-places.ts'

type Write = (value: Json, run: Run) => void

/**
 * Writes what is read of each element, without a list of it in between. False once that is an array, which may add
 * elements: the list has to be read and written whole, over what is written so far.
 */
export type WriteEach = (elements: readonly Json[], read: Read, run: Run) => boolean

export type Writer = Readonly<{
  write: Write
  /** Absent where each element needs more than to be set, or the target spreads none. */
  writeEach: WriteEach | undefined
}>

/** Gets where a traced target writes. */
export interface WriteObserver {
  /**
   * Continues in an element of a list; `loop` counts the lists around it. `isMissing`: the default replaces its value.
   */
  element(loop: number, at: number, isMissing: boolean): void
  /** Wrote a value at these steps, or into what is there, as this field or element. */
  wrote(steps: readonly TargetStep[], within?: string | number): void
}

type WriteOptions = Readonly<{
  placement: Placement
  /** Replaces a missing element of an array that is spread. */
  fill: Json | undefined
  /** The targets of the entries before this one. */
  written: Written
  /** Of the mapping. */
  nodes: TargetNodes
  entry: Entry
  /** Of a mapping that is traced. */
  observer?: WriteObserver | undefined
}>

/**
 * Compiles a target to the function that writes a value there. The function makes missing objects and arrays on the way,
 * and fills an array with nulls up to the written index.
 *
 * `spread`: each element of an array goes to one element of one `[]` of the target (`writeSteps`); a missing element adds
 * no field, and its position stays. `all`: the value goes to all elements that exist. `concat`: its elements are appended.
 * `root`: its fields become fields of the output, whatever the target.
 *
 * Writing fails with OUTPUT_TOO_LARGE for a message that would grow by more than `ADDED_BYTES_MAX`, and with MAPPING_FAILED
 * where a value of another shape is (`checkShape`).
 */
export function compileWrite(target: MappingTarget, options: WriteOptions): Writer {
  const { placement, fill, entry, observer } = options
  if (placement === 'root') return justWrite(compileFields(entry, observer))
  const plan = planWrite(target, options)
  if (plan.segments.length > 1) {
    if (placement === 'all') return justWrite(compileToAll(plan))
    const empty = fill ?? (target.takesNull ? null : undefined)
    return { write: compileSpread(plan, empty), writeEach: empty === undefined ? compileEach(plan) : undefined }
  }
  const node = plan.segments[0]?.at(-1)
  const { field } = plan
  return justWrite(
    field === undefined
      ? (value, run) => writeLast(reach(node, entry, run), value, plan, run.added)
      : (value, run) => setField(reach(node, entry, run), field, value),
  )
}

const justWrite = (write: Write): Writer => ({ write, writeEach: undefined })

function compileFields(entry: Entry, observer: WriteObserver | undefined): Write {
  return (value, { output }) => {
    if (!isObject(value)) return
    for (const name of Object.keys(value)) {
      if (REFUSED_NAMES.has(name)) continue
      const field = value[name] ?? null
      checkShape(ownField(output, name), describeShape(field), entry)
      output[name] = field
      observer?.wrote([], name)
    }
  }
}

type Plan = Readonly<{
  /** The target without the `[]` at its end. Every `each` in it is a loop. */
  steps: readonly TargetStep[]
  /** The objects and lists along the steps. Each segment but the first starts with the elements of the list before it. */
  segments: readonly (readonly TargetNode[])[]
  /** The field or element of the last object or list; undefined to append to that list. */
  last: string | number | undefined
  /** The same, if it is a field that has only to be set: there is nothing to check, and no one to tell. */
  field: string | undefined
  /** Every object inherits something of that name. */
  isInherited: boolean
  /** An earlier entry may have written there. */
  isWritten: boolean
  /** The elements of an array are appended, not the array. */
  joins: boolean
  entry: Entry
  observer: WriteObserver | undefined
}>

function planWrite(target: MappingTarget, { placement, nodes, written, entry, observer }: WriteOptions): Plan {
  const endsInEach = target.steps.at(-1)?.kind === 'each'
  const steps = writeSteps(target, placement).slice(0, endsInEach ? -1 : undefined)
  const before = beforeAlong(written, steps, placement)
  const appends = endsInEach || placement === 'concat'
  const segments: TargetNode[][] = [[]]
  for (const node of nodesAlong(nodes, steps, before, appends ? steps.length : steps.length - 1)) {
    if (node.key === undefined) segments.push([node])
    else segments.at(-1)?.push(node)
  }
  const last = appends ? undefined : stepKey(steps.at(-1))
  const isWritten = before.at(-1)?.isWritten === true
  return {
    steps,
    segments,
    last,
    field: typeof last === 'string' && !isWritten && observer === undefined ? last : undefined,
    isInherited: typeof last === 'string' && isInherited(last),
    isWritten,
    joins: placement === 'concat',
    entry,
    observer,
  }
}

/** Writes each element of an array into an element of the target's list; of another value, itself into the first. */
function compileSpread(plan: Plan, fill: Json | undefined): Write {
  const { entry, observer } = plan
  const [outer = [], inner = []] = plan.segments
  const listNode = outer.at(-1)
  const node = inner.at(-1)
  const fillBytes = fill === undefined ? 0 : weighBytes(fill)
  const { field } = plan
  const writeElement = (list: Json[], index: number, value: Json, run: Run): void => {
    const within = node === undefined ? list : reachIn(node, list, index, entry, run)
    if (field === undefined) writeLast(within, value, plan, run.added)
    else setField(within, field, value)
  }
  return (value, run) => {
    const { added } = run
    const list = reach(listNode, entry, run) as Json[]
    if (!isArray(value)) {
      observer?.element(0, 0, false)
      writeElement(list, 0, value, run)
      return
    }
    for (let at = 0; at < value.length; at++) {
      const given = value[at] ?? undefined
      const element = given ?? fill
      if (element !== undefined) {
        if (given === undefined) charge(fillBytes, added, entry.documentPath)
        observer?.element(0, at, given === undefined)
        writeElement(list, at, element, run)
      } else if (at === list.length) list.push(null)
    }
  }
}

/** Of a target where each element has only to be set. */
function compileEach({ segments: [outer = [], inner = []], field, entry }: Plan): WriteEach | undefined {
  const listNode = outer.at(-1)
  const node = inner.at(-1)
  if (node === undefined || field === undefined) return undefined
  return (elements, read, run) => {
    const list = reach(listNode, entry, run) as Json[]
    for (let at = 0; at < elements.length; at++) {
      const value = read(elements[at])
      if (isArray(value)) return false
      if (value !== undefined && value !== null) setField(reachIn(node, list, at, entry, run), field, value)
      else if (at === list.length) list.push(null)
    }
    return true
  }
}

/** Writes the value into every element that the target's lists have, and makes no list. */
function compileToAll(plan: Plan): Write {
  const { segments, entry, observer } = plan
  const writeFrom = (from: Container, index: number, depth: number, value: Json, added: AddedBytes): void => {
    const isLast = depth === segments.length - 1
    const walk = isLast ? findOrMake : find
    let within: Container | undefined = from
    for (const node of segments[depth] ?? []) {
      within = walk(within, node.key ?? index, node, entry, added)
      if (within === undefined) return
    }
    if (isLast) writeLast(within, value, plan, added)
    else writeInEach(within as Json[], depth, value, added)
  }
  const writeInEach = (list: Json[], depth: number, value: Json, added: AddedBytes): void => {
    charge(weighBytes(value) * list.length, added, entry.documentPath)
    for (let at = 0; at < list.length; at++) {
      observer?.element(depth, at, false)
      writeFrom(list, at, depth + 1, value, added)
    }
  }
  return (value, { output, added }) => writeFrom(output, 0, 0, value, added)
}

const setField = (within: Container, name: string, value: Json): void => {
  const object = within as Output
  object[name] = value
}

function writeLast(within: Container, value: Json, plan: Plan, added: AddedBytes): void {
  const { last, entry, steps, observer } = plan
  if (last !== undefined) {
    if (plan.isWritten) checkShape(read(within, last, plan.isInherited), describeShape(value), entry)
    put(within, last, value, entry, added)
    observer?.wrote(steps)
    return
  }
  const elements = within as Json[]
  for (const element of plan.joins && isArray(value) ? value : [value]) {
    observer?.wrote(steps, elements.length)
    elements.push(element)
  }
}
