/** Writing to a target, compiled to a chain of closures: one a step, each giving back what is to be at its place. */
import { isObject, type Json, REFUSED_NAMES } from '../../domain/json.ts'
import { isArray } from '../paths/path-read.ts'
import type { Placement } from './mapping-functions.ts'
import { type MappingTarget, spreadSteps } from './target.ts'
import { type Account, BYTES_PER_VALUE, charge, weighBytes } from './target-budget.ts'
import { sharedAlong, type Written } from './target-sharing.ts'

/** The output while it is built. */
export type Output = { [name: string]: Json }

export type Write = (output: Output, value: Json, account: Account) => void

export type WriteOptions = Readonly<{
  placement: Placement
  /** What stands in for a missing element of an array that is spread. */
  fill: Json | undefined
  /** What the entries before this one have written. */
  written: Written
  /** Of the entry, for a failure to name. */
  place: string
}>

/**
 * Compiles a target to the function that writes a value there. Objects and arrays that are missing on the way are made,
 * values of another type on the way are replaced; array places before a written index hold null.
 *
 * `spread`: an array goes one element each over one `[]` of the target (`spreadSteps`); a missing element adds no field
 * and keeps its place. `all`: the value goes to all elements that exist. `concat`: its elements are appended.
 * `root`: its fields become fields of the output; the target only stands for them.
 *
 * Writing fails with OUTPUT_TOO_LARGE where one application would add more than `ADDED_BYTES_MAX`, and with nothing else.
 */
export function compileWrite(target: MappingTarget, options: WriteOptions): Write {
  if (options.placement === 'root') return writeFields
  const { steps } = target
  const [first, ...rest] = steps
  if (rest.length === 0 && first?.kind === 'name' && options.placement !== 'concat') return writeField(first.name)
  const put = compilePut(target, options)
  return (output, value, account) => void put(output, value, account)
}

function writeField(name: string): Write {
  return (output, value) => {
    output[name] = value
  }
}

const writeFields: Write = (output, value) => {
  if (!isObject(value)) return
  for (const name of Object.keys(value)) {
    if (!REFUSED_NAMES.has(name)) output[name] = value[name] ?? null
  }
}

/**
 * Puts a value into what is at a place of the output (undefined: nothing), and gives what is to be there then: the
 * same object or array, changed, or a new one. Undefined: nothing was written.
 */
type Put = (existing: Json | undefined, value: Json, account: Account) => Json | undefined

const putWhole: Put = (_existing, value) => value

function compilePut(target: MappingTarget, { placement, fill, written, place }: WriteOptions): Put {
  const steps = placement === 'spread' ? spreadSteps(target) : target.steps
  const shared = sharedAlong(written, steps)
  const appends = steps.at(-1)?.kind === 'each'
  const kept = appends ? steps.slice(0, -1) : steps
  const copies = { shared: shared[kept.length] ?? true, place }

  let put = appends ? putAppended(copies) : putWhole
  if (placement === 'concat') put = putElements(copies)
  for (const [at, step] of [...kept.entries()].reverse()) {
    const inner = { shared: shared[at] ?? true, place }
    if (step.kind === 'name') put = put === putWhole ? putField(step.name, inner) : putInField(step.name, put, inner)
    else if (step.kind === 'index') put = putAt(step.index, put, inner)
    else if (placement === 'all') put = putInAll(put, inner)
    else if (placement === 'spread') put = putSpread(put, fill ?? (target.takesNull ? null : undefined), inner)
    else put = putAt(0, put, inner)
  }
  return put
}

type Container = Readonly<{
  /** Whether what is there may be the message's, or in several places of the output, and is copied before a change. */
  shared: boolean
  place: string
}>

/** The last name. What is there already does not matter, and is not read. */
function putField(name: string, container: Container): Put {
  return (existing, value, account) => {
    const object = ownObject(existing, container, account)
    object[name] = value
    return object
  }
}

function putInField(name: string, next: Put, container: Container): Put {
  return (existing, value, account) => {
    // What objects inherit under the names that are not refused are functions, which count as nothing.
    const before = isObject(existing) ? existing[name] : undefined
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
    const before = isArray(existing) && index < existing.length ? existing[index] : undefined
    const after = next(before, value, account)
    if (after === undefined) return undefined
    const elements = ownArray(existing, container, account)
    if (elements.length < index) charge((index - elements.length) * BYTES_PER_VALUE, account, container.place)
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
        charge(fillBytes, account, container.place)
        element = fill
      }
      const exists = at < elements.length
      const after = element === undefined ? undefined : next(exists ? elements[at] : undefined, element, account)
      if (!exists) elements.push(after ?? null)
      else if (after !== undefined) elements[at] = after
    }
    return elements
  }
}

function putInAll(next: Put, container: Container): Put {
  return (existing, value, account) => {
    if (!isArray(existing) || existing.length === 0) return undefined
    charge(weighBytes(value) * existing.length, account, container.place)
    const elements = ownArray(existing, container, account)
    for (let at = 0; at < elements.length; at++) {
      const after = next(elements[at], value, account)
      if (after !== undefined) elements[at] = after
    }
    return elements
  }
}

function putAppended(container: Container): Put {
  return (existing, value, account) => {
    const elements = ownArray(existing, container, account)
    elements.push(value)
    return elements
  }
}

function putElements(container: Container): Put {
  return (existing, value, account) => {
    const elements = ownArray(existing, container, account)
    if (!isArray(value)) elements.push(value)
    else for (let at = 0; at < value.length; at++) elements.push(value[at] ?? null)
    return elements
  }
}

/** The object at a place, free to be changed: itself, a copy where it is shared, a new one where there is none. */
function ownObject(existing: Json | undefined, { shared, place }: Container, account: Account): Output {
  if (!isObject(existing)) return {}
  if (!shared) return existing as Output
  charge(Object.keys(existing).length * BYTES_PER_VALUE, account, place)
  return { ...existing }
}

function ownArray(existing: Json | undefined, { shared, place }: Container, account: Account): Json[] {
  if (!isArray(existing)) return []
  if (!shared) return existing as Json[]
  charge(existing.length * BYTES_PER_VALUE, account, place)
  return existing.slice()
}
