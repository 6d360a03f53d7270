/** The changes between two endpoint documents, from which the second can be made of the first. */

import type { Json } from '../../core/json.ts'
import { EndpointField } from '../schema/schema.ts'
import type { Field } from '../schema/schema-fields.ts'
import {
  type DocumentLocation,
  formatLocation,
  type LocationSegment,
  type NamedParts,
  pairNamedParts,
} from './document-locations.ts'
import { movedNames } from './moved-names.ts'

export const CHANGE_KINDS = ['added', 'removed', 'changed', 'moved'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/**
 * One change of a place. Elements of arrays without ids are compared by their index: a removed one has its index of before,
 * any other its index of afterwards.
 */
export type LocatedChange = Readonly<{
  kind: ChangeKind
  location: DocumentLocation
  /** The value before; of `removed` and `changed`. */
  from?: Json
  /** The value afterwards; of `added` and `changed`. */
  to?: Json
  /**
   * Of what was added or moved where the order counts: the name or id before it, null if it comes first. The changes of one
   * place are in the order of afterwards, so each can be put behind one that is in place already.
   */
  after?: string | null
}>

/** A part of the document with more changes than this is one change as a whole. */
const MAX_CHANGES = 1_000
/** A change with a longer path counts as several, so that all paths together stay short too. */
const PATH_CHARACTERS = 1_000

/**
 * In: two documents without the fields that the service sets, with every default. Out: the changes in the order of the second; at
 * most 1,000 for each field of the document. Takes time in proportion to the documents' size.
 */
export function diffDocuments(before: Json, after: Json): readonly LocatedChange[] {
  const parts = pairNamedParts(before, after, EndpointField)
  if (parts === undefined) return changed(before, after, [], MAX_CHANGES) ?? []
  // Each field has a budget of its own, so that many changes in one do not hide those of the others.
  return partChanges(parts, [], () => MAX_CHANGES) ?? [{ kind: 'changed', location: [], from: before, to: after }]
}

type Changes = readonly LocatedChange[]

/** Gives up beyond `budget` changes. */
function changes(before: Json, after: Json, field: Field | undefined, location: DocumentLocation, budget: number) {
  const parts = pairNamedParts(before, after, field)
  if (parts !== undefined) return partChanges(parts, location, (spent) => budget - spent)
  if (Array.isArray(before) && Array.isArray(after)) return elementChanges(before, after, field, location, budget)
  return changed(before, after, location, budget)
}

function changed(from: Json, to: Json, location: DocumentLocation, budget: number): Changes | undefined {
  if (isSameJson(from, to)) return []
  return within(budget, [{ kind: 'changed', location, from, to }])
}

function partChanges(
  [before, after]: readonly [NamedParts, NamedParts],
  location: DocumentLocation,
  budgetAfter: (spent: number) => number,
): Changes | undefined {
  const all: LocatedChange[] = []
  let spent = 0
  const add = (some: Changes | undefined): boolean => {
    if (some === undefined) return false
    for (const one of some) all.push(one)
    spent += estimateCost(some)
    return budgetAfter(spent) >= 0
  }
  for (const [name, from] of before.parts) {
    if (after.parts.has(name)) continue
    if (!add([{ kind: 'removed', location: [...location, before.toSegment(name)], from }])) return undefined
  }
  const moved = after.isOrdered ? movedNames([...before.parts.keys()], [...after.parts.keys()]) : NONE
  let previous: string | null = null
  for (const [name, to] of after.parts) {
    const at = [...location, after.toSegment(name)]
    const order: Pick<LocatedChange, 'after'> = after.isOrdered ? { after: previous } : {}
    previous = name
    const from = before.parts.get(name)
    if (from === undefined) {
      if (!add([{ kind: 'added', location: at, to, ...order }])) return undefined
      continue
    }
    if (moved.has(name) && !add([{ kind: 'moved', location: at, ...order }])) return undefined
    if (!add(changesOrWhole(from, to, after.findField(name), at, budgetAfter(spent)))) return undefined
  }
  return all
}

const NONE: ReadonlySet<string> = new Set()

/** A part with too many changes is one change. */
function changesOrWhole(
  from: Json,
  to: Json,
  field: Field | undefined,
  location: DocumentLocation,
  budget: number,
): Changes {
  return changes(from, to, field, location, budget) ?? [{ kind: 'changed', location, from, to }]
}

/** Elements that are the same at both ends are left out, so that one inserted element is one change. */
function elementChanges(
  before: readonly Json[],
  after: readonly Json[],
  field: Field | undefined,
  location: DocumentLocation,
  budget: number,
): Changes | undefined {
  // Arrays of one length are compared element by element, which needs no look at whole elements.
  const shorter = before.length === after.length ? 0 : Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && isSameJson(before[start], after[start])) start++
  let end = 0
  const isSameAtEnd = () => isSameJson(before[before.length - 1 - end], after[after.length - 1 - end])
  while (end < shorter - start && isSameAtEnd()) end++
  const all: LocatedChange[] = []
  let spent = 0
  for (let at = start; at < Math.max(before.length, after.length) - end; at++) {
    const [from, to] = [
      at < before.length - end ? before[at] : undefined,
      at < after.length - end ? after[at] : undefined,
    ]
    const some = elementChange(from, to, field, [...location, at], budget - spent)
    spent += estimateCost(some)
    if (spent > budget) return undefined
    all.push(...some)
  }
  return all
}

function elementChange(
  from: Json | undefined,
  to: Json | undefined,
  field: Field | undefined,
  location: DocumentLocation,
  budget: number,
): Changes {
  if (to === undefined) return from === undefined ? [] : [{ kind: 'removed', location, from }]
  if (from === undefined) return [{ kind: 'added', location, to }]
  return changesOrWhole(from, to, field?.items, location, budget)
}

const within = (budget: number, some: Changes): Changes | undefined => (estimateCost(some) > budget ? undefined : some)

const estimateCost = (some: Changes): number =>
  some.reduce((sum, { location }) => sum + 1 + Math.floor(measurePath(location) / PATH_CHARACTERS), 0)

const measurePath = (location: DocumentLocation): number =>
  location.reduce<number>((sum, segment) => sum + formatSegment(segment).length, 0)

const formatSegment = (segment: LocationSegment): string => (typeof segment === 'object' ? segment.id : String(segment))

/** The order of members counts: what the author may order freely is compared part by part. */
const isSameJson = (one: Json | undefined, other: Json | undefined): boolean =>
  one === other ||
  (typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other))

/** A change as JSON, with its place as text. */
export const describeChange = ({ location, ...change }: LocatedChange) => ({
  ...change,
  path: formatLocation(location),
})
