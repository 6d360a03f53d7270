/**
 * The objects and lists of the output that targets lead through. Targets that start alike share their places, so that a message
 * looks up or makes each object once, and not again for every target below it.
 */
import { isObject, type Json } from '../../core/json.ts'
import { isArray, isInherited, ownField } from '../paths/path-read.ts'
import { checkShape, type Entry } from './shapes.ts'
import type { TargetStep } from './target.ts'
import { type Account, BYTES_PER_VALUE, charge } from './target-budget.ts'
import type { Before } from './target-sharing.ts'

export type Output = { [name: string]: Json }

/** An object or list of the output. */
export type Container = Output | Json[]

export type Place = Readonly<{
  /** Undefined for a field of the output. */
  parent: Place | undefined
  /** The field or element; undefined for each element of a list in turn. */
  key: string | number | undefined
  /** Whether every object inherits something of that name. */
  isInherited: boolean
  isList: boolean
  /** Whether what is there may belong to the message too, or stand in the output twice: a write copies it first. */
  isShared: boolean
  /** Whether nothing is there until an entry has come to this place. */
  isNew: boolean
  /** Its number among the places of the mapping. */
  number: number
}>

/** The places of a mapping while it is compiled. */
export type Places = { count: number; readonly known: Map<string, Place> }

export const noPlaces = (): Places => ({ count: 0, known: new Map() })

/**
 * The places that the steps lead to, with what was done there before. They are those of earlier entries, unless one of these
 * may have replaced what another found there.
 */
export function placesAlong(
  places: Places,
  steps: readonly TargetStep[],
  before: readonly Before[],
  count: number,
): readonly Place[] {
  const along: Place[] = []
  for (const [at, step] of steps.slice(0, count).entries()) {
    const parent = along[at - 1]
    const { isShared = true, isContested = true, isMadeOtherwise = true } = before[at] ?? {}
    const isNew = !isContested && !isMadeOtherwise
    const text = JSON.stringify([parent?.number, step, isNew])
    const place = (isContested ? undefined : places.known.get(text)) ?? {
      parent,
      key: keyOf(step),
      isInherited: step.kind === 'name' && isInherited(step.name),
      isList: steps[at + 1]?.kind !== 'name',
      isShared,
      isNew,
      number: places.count++,
    }
    places.known.set(text, place)
    along.push(place)
  }
  return along
}

export const keyOf = (step: TargetStep | undefined): string | number | undefined =>
  step?.kind === 'name' ? step.name : step?.kind === 'index' ? step.index : undefined

/**
 * One message. `reached`: what entries have found or made at each place, by its number. `reachedIn`: the same for places in a
 * loop, by the index of the element too.
 */
export type Run = Readonly<{
  output: Output
  account: Account
  reached: (Container | undefined)[]
  reachedIn: (Container | undefined)[][]
}>

export const startRun = (places: number): Run => ({
  output: {},
  account: { addedBytes: 0 },
  reached: new Array(places),
  reachedIn: [],
})

/** The object or list at a place that is in no loop, to write into. Undefined: the output itself. */
export function reach(place: Place | undefined, entry: Entry, run: Run): Container {
  if (place === undefined) return run.output
  const known = run.reached[place.number]
  if (known !== undefined) return known
  const found = come(reach(place.parent, entry, run), place.key ?? 0, place, entry, run.account)
  run.reached[place.number] = found
  return found
}

/** The same for a place in the loop over a list, of its element at an index. */
export function reachIn(place: Place, list: Json[], index: number, entry: Entry, run: Run): Container {
  const reached = elementsReached(place, run)
  const known = reached[index]
  if (known !== undefined) return known
  const { parent, key } = place
  const within = key === undefined || parent === undefined ? list : reachIn(parent, list, index, entry, run)
  const found = come(within, key ?? index, place, entry, run.account)
  reached[index] = found
  return found
}

function elementsReached({ number }: Place, { reachedIn }: Run): (Container | undefined)[] {
  const known = reachedIn[number]
  if (known !== undefined) return known
  const reached: Container[] = []
  reachedIn[number] = reached
  return reached
}

const come = (within: Container, key: string | number, place: Place, entry: Entry, account: Account) =>
  place.isNew ? make(within, key, place, entry, account) : findOrMake(within, key, place, entry, account)

export const findOrMake = (within: Container, key: string | number, place: Place, entry: Entry, account: Account) =>
  find(within, key, place, entry, account) ?? make(within, key, place, entry, account)

/** Undefined if nothing is there. */
export function find(
  within: Container,
  key: string | number,
  { isInherited, isList, isShared }: Place,
  entry: Entry,
  account: Account,
): Container | undefined {
  const existing = read(within, key, isInherited)
  if (isList ? !isArray(existing) : !isObject(existing)) {
    checkShape(existing, isList ? 'a list' : 'an object', entry)
    return undefined
  }
  if (!isShared) return existing as Container
  const copy = copyOf(existing as Container, entry, account)
  put(within, key, copy, entry, account)
  return copy
}

function make(within: Container, key: string | number, { isList }: Place, entry: Entry, account: Account): Container {
  const made = isList ? [] : {}
  put(within, key, made, entry, account)
  return made
}

function copyOf(existing: Container, { documentPath }: Entry, account: Account): Container {
  charge((isArray(existing) ? existing : Object.keys(existing)).length * BYTES_PER_VALUE, account, documentPath)
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
  account: Account,
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
    if (missing > 0) charge(missing * BYTES_PER_VALUE, account, documentPath)
    while (elements.length < key) elements.push(null)
    elements.push(value)
  }
}
