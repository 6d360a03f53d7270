/** Writing to a target, compiled to a chain of closures, one for each step. */
import { isObject, type Json, REFUSED_NAMES } from '../../domain/json.ts'
import { isArray, isInherited, ownField } from '../paths/path-read.ts'
import type { Placement } from './mapping-functions.ts'
import { checkShape, type Entry, shapeOf } from './shapes.ts'
import { type MappingTarget, spreadSteps } from './target.ts'
import { type Account, BYTES_PER_VALUE, charge, weighBytes } from './target-budget.ts'
import {
  observeEnd,
  observeFields,
  observeSpread,
  observeStep,
  type Put,
  type WriteObserver,
} from './target-observer.ts'
import { isWritten, sharedAlong, type Written } from './target-sharing.ts'

export type Output = { [name: string]: Json }

export type Write = (output: Output, value: Json, account: Account) => void

export type WriteOptions = Readonly<{
  placement: Placement
  /** Replaces a missing element of an array that is spread. */
  fill: Json | undefined
  /** The targets of the entries before this one. */
  written: Written
  entry: Entry
  /** Of a mapping that is traced. */
  observer?: WriteObserver | undefined
}>

/**
 * Compiles a target to the function that writes a value there. The function makes missing objects and arrays on the way,
 * and fills an array with nulls up to the written index.
 *
 * `spread`: each element of an array goes to one element of one `[]` of the target (`spreadSteps`); a missing element adds
 * no field, and its position stays. `all`: the value goes to all elements that exist. `concat`: its elements are appended.
 * `root`: its fields become fields of the output, whatever the target.
 *
 * Writing fails with OUTPUT_TOO_LARGE for a message that would grow by more than `ADDED_BYTES_MAX`, and with MAPPING_FAILED
 * where a value of another shape stands (`checkShape`).
 */
export function compileWrite(target: MappingTarget, options: WriteOptions): Write {
  const { observer } = options
  if (options.placement === 'root') {
    const write = compileFields(options.entry)
    return observer === undefined ? write : observeFields(write, observer)
  }
  const put = compilePut(target, options)
  return (output, value, account) => void put(output, value, account)
}

function compileFields(entry: Entry): Write {
  return (output, value) => {
    if (!isObject(value)) return
    for (const name of Object.keys(value)) {
      if (REFUSED_NAMES.has(name)) continue
      const field = value[name] ?? null
      checkShape(ownField(output, name), shapeOf(field), entry)
      output[name] = field
    }
  }
}

function compilePut(target: MappingTarget, { placement, fill, written, entry, observer }: WriteOptions): Put {
  const steps = placement === 'spread' ? spreadSteps(target) : target.steps
  const shared = sharedAlong(written, steps)
  const appends = steps.at(-1)?.kind === 'each'
  const kept = appends ? steps.slice(0, -1) : steps
  const containerAt = (at: number): Container => ({ isShared: shared[at] ?? true, entry })

  let put: Put = isWritten(written, kept) ? replaceAlike(entry) : replace
  if (appends || placement === 'concat') put = putAppended(placement === 'concat', containerAt(kept.length))
  if (observer !== undefined) put = observeEnd(put, appends || placement === 'concat', observer)
  for (const [at, step] of [...kept.entries()].reverse()) {
    const container = containerAt(at)
    const isSpread = step.kind === 'each' && placement === 'spread'
    if (observer !== undefined) put = observeStep(put, step, isSpread, observer)
    if (step.kind === 'name') put = putInField(step.name, put, container)
    else if (step.kind === 'index') put = putAt(step.index, put, container)
    else if (placement === 'all') put = putInAll(put, container)
    else if (placement === 'spread') put = putSpread(put, fill ?? (target.takesNull ? null : undefined), container)
    else put = putAt(0, put, container)
    if (observer !== undefined && isSpread) put = observeSpread(put, observer)
  }
  return put
}

const replace: Put = (_existing, value) => value

function replaceAlike(entry: Entry): Put {
  return (existing, value) => {
    checkShape(existing, shapeOf(value), entry)
    return value
  }
}

type Container = Readonly<{
  /** Whether the object or array may belong to the message too, or stand in the output twice: a write copies it first. */
  isShared: boolean
  entry: Entry
}>

function putInField(name: string, next: Put, container: Container): Put {
  const isOwn = !isInherited(name)
  return (existing, value, account) => {
    if (existing !== undefined && !isObject(existing)) checkShape(existing, 'an object', container.entry)
    const before = isObject(existing) ? (isOwn ? existing[name] : ownField(existing, name)) : undefined
    const after = next(before, value, account)
    if (after === undefined) return undefined
    if (after === before) return existing
    const object = ownObject(existing, container, account)
    object[name] = after
    return object
  }
}

function putAt(index: number, next: Put, container: Container): Put {
  return (existing, value, account) => {
    if (existing !== undefined && !isArray(existing)) checkShape(existing, 'a list', container.entry)
    const before = isArray(existing) && index < existing.length ? existing[index] : undefined
    const after = next(before, value, account, index)
    if (after === undefined) return undefined
    const elements = ownArray(existing, container, account)
    if (elements.length < index)
      charge((index - elements.length) * BYTES_PER_VALUE, account, container.entry.documentPath)
    while (elements.length < index) elements.push(null)
    elements[index] = after
    return elements
  }
}

function putSpread(next: Put, fill: Json | undefined, container: Container): Put {
  const single = putAt(0, next, container)
  const fillBytes = fill === undefined ? 0 : weighBytes(fill)
  return (existing, value, account) => {
    if (!isArray(value)) return single(existing, value, account)
    const elements = ownArray(existing, container, account)
    for (let at = 0; at < value.length; at++) {
      let element: Json | undefined = value[at] ?? undefined
      if (element === undefined && fill !== undefined) {
        charge(fillBytes, account, container.entry.documentPath)
        element = fill
      }
      const exists = at < elements.length
      const after = element === undefined ? undefined : next(exists ? elements[at] : undefined, element, account, at)
      if (!exists) elements.push(after ?? null)
      else if (after !== undefined) elements[at] = after
    }
    return elements
  }
}

function putInAll(next: Put, container: Container): Put {
  return (existing, value, account) => {
    if (!isArray(existing)) checkShape(existing, 'a list', container.entry)
    if (!isArray(existing) || existing.length === 0) return undefined
    charge(weighBytes(value) * existing.length, account, container.entry.documentPath)
    const elements = ownArray(existing, container, account)
    for (let at = 0; at < elements.length; at++) {
      const after = next(elements[at], value, account, at)
      if (after !== undefined) elements[at] = after
    }
    return elements
  }
}

/** `joins`: whether the elements of an array are appended, not the array. */
function putAppended(joins: boolean, container: Container): Put {
  return (existing, value, account) => {
    const elements = ownArray(existing, container, account)
    if (joins && isArray(value)) for (const element of value) elements.push(element)
    else elements.push(value)
    return elements
  }
}

/** An object that may be changed: the existing one, a copy of a shared one, or a new one. */
function ownObject(existing: Json | undefined, { isShared, entry }: Container, account: Account): Output {
  if (!isObject(existing)) return {}
  if (!isShared) return existing as Output
  charge(Object.keys(existing).length * BYTES_PER_VALUE, account, entry.documentPath)
  return { ...existing }
}

function ownArray(existing: Json | undefined, { isShared, entry }: Container, account: Account): Json[] {
  if (!isArray(existing)) {
    checkShape(existing, 'a list', entry)
    return []
  }
  if (!isShared) return existing as Json[]
  charge(existing.length * BYTES_PER_VALUE, account, entry.documentPath)
  return existing.slice()
}
