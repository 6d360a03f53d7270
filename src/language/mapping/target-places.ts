/**
 * The objects and lists of the output that targets lead through. Targets that start alike share their places, so that a
 * message looks up or makes each object once, and not again for every target below it.
 */

import { Failure } from '../../core/failure.ts'
import { isObject, type Json, typeName } from '../../core/json.ts'
import { isArray, isInherited, ownField } from '../paths/path-read.ts'
import type { Placement } from './mapping-functions.ts'
import { EACH_ELEMENT, type MappingTarget, type TargetStep, writeSteps } from './target.ts'

export type Output = { [name: string]: Json }

/** An object or list of the output. */
export type Container = Output | Json[]

export type TargetNode = Readonly<{
  /** A field of the output has none. */
  parent: TargetNode | undefined
  /** The field or element; undefined for each element of a list in turn. */
  key: string | number | undefined
  /** Every object inherits something of that name. */
  isInherited: boolean
  isList: boolean
  /** The value there may belong to the message too, or be in the output twice: a write copies it first. */
  isShared: boolean
  /** Nothing is there until an entry reaches this place. */
  isNew: boolean
  /** Its number among the places of the mapping. */
  number: number
}>

/** The places of a mapping while it is compiled. */
export type TargetNodes = { count: number; readonly known: Map<string, TargetNode> }

export const createTargetNodes = (): TargetNodes => ({ count: 0, known: new Map() })

/**
 * The places that the steps lead to, with what was done there before. They are those of earlier entries, unless one of
 * these may have replaced what another found there.
 */
export function nodesAlong(
  nodes: TargetNodes,
  steps: readonly TargetStep[],
  before: readonly Before[],
  count: number,
): readonly TargetNode[] {
  const along: TargetNode[] = []
  for (const [at, step] of steps.slice(0, count).entries()) {
    const parent = along[at - 1]
    const { isShared = true, isContested = true, isMadeOtherwise = true } = before[at] ?? {}
    const isNew = !isContested && !isMadeOtherwise
    const text = JSON.stringify([parent?.number, step, isNew])
    const node = (isContested ? undefined : nodes.known.get(text)) ?? {
      parent,
      key: stepKey(step),
      isInherited: step.kind === 'name' && isInherited(step.name),
      isList: steps[at + 1]?.kind !== 'name',
      isShared,
      isNew,
      number: nodes.count++,
    }
    nodes.known.set(text, node)
    along.push(node)
  }
  return along
}

export const stepKey = (step: TargetStep | undefined): string | number | undefined =>
  step?.kind === 'name' ? step.name : step?.kind === 'index' ? step.index : undefined

/**
 * One message, or one element of an `each`. `reached`: what entries have found or made at each place, by its number. `reachedIn`: the same for places in
 * a loop, by the index of the element too.
 */
export type Run = Readonly<{
  output: Output
  added: MessageRun
  reached: (Container | undefined)[]
  reachedIn: (Container | undefined)[][]
}>

export const startRun = (nodes: number, added: MessageRun): Run => ({
  output: {},
  added,
  reached: new Array(nodes),
  reachedIn: [],
})

/** The object or list at a place that is in no loop, to write into. Undefined: the output itself. */
export function reach(node: TargetNode | undefined, entry: Entry, run: Run): Container {
  if (node === undefined) return run.output
  const known = run.reached[node.number]
  if (known !== undefined) return known
  const found = reachChild(reach(node.parent, entry, run), node.key ?? 0, node, entry, run.added)
  run.reached[node.number] = found
  return found
}

/** The same for a place in the loop over a list, of its element at an index. */
export function reachIn(node: TargetNode, list: Json[], index: number, entry: Entry, run: Run): Container {
  const reached = elementsReached(node, run)
  const known = reached[index]
  if (known !== undefined) return known
  const { parent, key } = node
  const within = key === undefined || parent === undefined ? list : reachIn(parent, list, index, entry, run)
  const found = reachChild(within, key ?? index, node, entry, run.added)
  reached[index] = found
  return found
}

function elementsReached({ number }: TargetNode, { reachedIn }: Run): (Container | undefined)[] {
  const known = reachedIn[number]
  if (known !== undefined) return known
  const reached: Container[] = []
  reachedIn[number] = reached
  return reached
}

const reachChild = (within: Container, key: string | number, node: TargetNode, entry: Entry, added: AddedBytes) =>
  node.isNew ? make(within, key, node, entry, added) : findOrMake(within, key, node, entry, added)

export const findOrMake = (
  within: Container,
  key: string | number,
  node: TargetNode,
  entry: Entry,
  added: AddedBytes,
) => find(within, key, node, entry, added) ?? make(within, key, node, entry, added)

export function find(
  within: Container,
  key: string | number,
  { isInherited, isList, isShared }: TargetNode,
  entry: Entry,
  added: AddedBytes,
): Container | undefined {
  const existing = read(within, key, isInherited)
  if (isList ? !isArray(existing) : !isObject(existing)) {
    checkShape(existing, isList ? 'a list' : 'an object', entry)
    return undefined
  }
  if (!isShared) return existing as Container
  const copy = copyContainer(existing as Container, entry, added)
  put(within, key, copy, entry, added)
  return copy
}

function make(
  within: Container,
  key: string | number,
  { isList }: TargetNode,
  entry: Entry,
  added: AddedBytes,
): Container {
  const made = isList ? [] : {}
  put(within, key, made, entry, added)
  return made
}

function copyContainer(existing: Container, { documentPath }: Entry, added: AddedBytes): Container {
  charge((isArray(existing) ? existing : Object.keys(existing)).length * BYTES_PER_VALUE, added, documentPath)
  return isArray(existing) ? existing.slice() : { ...existing }
}

export function read(within: Container, key: string | number, isInherited: boolean): Json | undefined {
  if (typeof key === 'number') {
    const elements = within as Json[]
    return key < elements.length ? elements[key] : undefined
  }
  const object = within as Output
  return isInherited ? ownField(object, key) : object[key]
}

/** Fills a list with nulls up to the element. */
export function put(
  within: Container,
  key: string | number,
  value: Json,
  { documentPath }: Entry,
  added: AddedBytes,
): void {
  if (typeof key === 'string') {
    const object = within as Output
    object[key] = value
    return
  }
  const elements = within as Json[]
  const missing = key - elements.length
  if (missing < 0) elements[key] = value
  else {
    if (missing > 0) charge(missing * BYTES_PER_VALUE, added, documentPath)
    while (elements.length < key) elements.push(null)
    elements.push(value)
  }
}

/**
 * The targets that entries have written to, as a tree of steps: it shows which parts of an output may be shared with the
 * message. The mapping puts values into the output by reference. A later entry that writes into such a value must not
 * change it. The compiler finds these entries, and they alone copy each object and array on their way, one level each,
 * before they write.
 */
export type Written = {
  /** A whole value was written here. */
  whole: boolean
  /** Of an array: the elements that the indexes of targets make. */
  length: number
  readonly fields: Map<string, Written>
  /** By their indexes, and `each` or `all` for what a placement writes to every element. */
  readonly elements: Map<number | 'each' | 'all', Written>
}

export const nothingWritten = (): Written => ({ whole: false, length: 0, fields: new Map(), elements: new Map() })

export function recordWritten(written: Written, target: MappingTarget, placement: Placement): void {
  let at = written
  // Fields that are passed through may have any name, so any part of the output may be shared from then on.
  for (const step of placement === 'root' ? [] : writeSteps(target, placement)) {
    if (step.kind === 'index') at.length = Math.max(at.length, step.index + 1)
    at = findInner(at, step, placement) ?? addInner(at, step, placement)
  }
  at.whole = true
}

const findInner = (at: Written, step: TargetStep, placement: Placement): Written | undefined =>
  step.kind === 'name' ? at.fields.get(step.name) : at.elements.get(elementKey(step, placement))

function addInner(at: Written, step: TargetStep, placement: Placement): Written {
  const inner = nothingWritten()
  if (step.kind === 'name') at.fields.set(step.name, inner)
  else at.elements.set(elementKey(step, placement), inner)
  return inner
}

const elementKey = (step: Exclude<TargetStep, { kind: 'name' }>, placement: Placement) =>
  step.kind === 'index' ? step.index : placement === 'all' ? 'all' : 'each'

/** What a step leads to from these; an element of some index is among those of every `[]` too. */
const sameParts = (parts: readonly Written[], step: TargetStep): readonly Written[] =>
  parts.flatMap(({ fields, elements }) => {
    if (step.kind === 'each') return [...elements.values()]
    const same =
      step.kind === 'name'
        ? [fields.get(step.name)]
        : [elements.get(step.index), elements.get('each'), elements.get('all')]
    return same.filter((part) => part !== undefined)
  })

/** What earlier entries may have done to the part of the output that a step leads to. */
type Before = Readonly<{
  /** Wrote there, or below it. */
  isWritten: boolean
  /** Wrote a whole value that it is part of. */
  isShared: boolean
  /** Replaced what another one made there, whole or by another shape. */
  isContested: boolean
  /** Made it by other steps than these. */
  isMadeOtherwise: boolean
}>

export function beforeAlong(written: Written, steps: readonly TargetStep[], placement: Placement): readonly Before[] {
  let own: Written | undefined = written
  let parts: readonly Written[] = [written]
  let isShared = written.whole
  let isContested = written.whole
  let isMadeOtherwise = false
  return steps.map((step, index) => {
    own = own === undefined ? undefined : findInner(own, step, placement)
    parts = sameParts(parts, step)
    const isList = steps[index + 1]?.kind !== 'name'
    isShared ||= parts.some(({ whole }) => whole)
    isContested ||= isShared || parts.some(({ fields, elements }) => (isList ? fields : elements).size > 0)
    isMadeOtherwise ||= parts.some((part) => part !== own)
    return { isWritten: isShared || parts.length > 0, isShared, isContested, isMadeOtherwise }
  })
}

/**
 * How many array elements writing to a target visits or makes in every message: an index makes all elements before it, and
 * `all` writes to each element that indexes made.
 */
export function elementsAlong(written: Written, { steps }: MappingTarget, placement: Placement): number {
  let parts: readonly Written[] = [written]
  let times = 1
  let elements = 0
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'index') elements += times * (step.index + 1)
    else if (step.kind === 'each' && placement === 'all' && index < steps.length - 1) {
      times *= parts.reduce((max, { length }) => Math.max(max, length), 1)
      elements += times
    }
    parts = sameParts(parts, step.kind === 'index' ? EACH_ELEMENT : step)
  }
  return elements
}

/** Bytes that the mapping of one message has added to the values of the message; see `charge`. */
export type AddedBytes = { bytes: number }

/** One message, with all lists that it maps. `elements`: since it could pause. `context`: for conditions and pauses. */
export type MessageRun = AddedBytes & { elements: number; readonly context: unknown }

/**
 * The most that a mapping may add to one message, roughly in bytes of memory or text: nulls before an index, copies, the
 * value of `oneToAllElements` and of a default in each element, values that an `each` writes again and again. Without it, a message of 1 MiB could grow to gigabytes.
 */
export const ADDED_BYTES_MAX = 64 * 1024 * 1024
/** Of an element or field, and of any value without its parts. */
const BYTES_PER_VALUE = 8
/** Deeper than any message; a deeper value counts as too heavy. */
const NESTING_MAX = 256

/** Fails with OUTPUT_TOO_LARGE at `documentPath` if the mapping has added more than ADDED_BYTES_MAX. */
export function charge(bytes: number, added: AddedBytes, documentPath: string): void {
  added.bytes += bytes
  if (added.bytes <= ADDED_BYTES_MAX) return
  const limit = `${ADDED_BYTES_MAX / 1024 / 1024} MiB`
  throw new Failure(
    'OUTPUT_TOO_LARGE',
    `The mapping of this message would add more than ${limit} to it at ${documentPath}: high indexes, or defaults, oneToAllElements or values in "each" over many elements.`,
    { path: documentPath },
  )
}

/** About the length of the value's JSON text in bytes; the count stops above ADDED_BYTES_MAX. */
export function weighBytes(value: Json, nesting = 0): number {
  if (typeof value === 'string') return BYTES_PER_VALUE + value.length
  if (typeof value !== 'object' || value === null) return BYTES_PER_VALUE
  if (nesting === NESTING_MAX) return ADDED_BYTES_MAX + 1
  let bytes = BYTES_PER_VALUE
  if (isArray(value)) {
    for (let at = 0; at < value.length && bytes <= ADDED_BYTES_MAX; at++)
      bytes += weighBytes(value[at] ?? null, nesting + 1)
    return bytes
  }
  for (const name of Object.keys(value)) bytes += name.length + weighBytes(value[name] ?? null, nesting + 1)
  return bytes
}

type Shape = 'an object' | 'a list' | 'a single value'

/** Of the entry that writes. */
export type Entry = Readonly<{
  /** Its path in the document, for failures. */
  documentPath: string
  /** The text of its target. */
  target: string
  /** Its target has a default, so it replaces what it meets. */
  replaces: boolean
}>

export const describeShape = (value: Json): Shape =>
  isArray(value) ? 'a list' : isObject(value) ? 'an object' : 'a single value'

/**
 * An entry that would go through or replace what another entry wrote in another shape ends the message, so that no value is
 * lost in silence. Fails with MAPPING_FAILED if the existing part of the output has another shape than the entry needs
 * there.
 */
export function checkShape(existing: Json | undefined, needed: Shape, entry: Entry): void {
  if (existing === undefined || existing === null || entry.replaces || describeShape(existing) === needed) return
  throw new Failure(
    'MAPPING_FAILED',
    `The target "${entry.target}" needs ${needed} where an earlier entry wrote ${describeShape(existing)} (${typeName(existing)}). Write to another target, or give this one a default if it may replace that value.`,
    { path: entry.documentPath },
  )
}
