/** The changes between two endpoint documents, from which the second can be made of the first. */

import type { Json } from '../../core/json.ts'
import { EndpointField } from '../schema/schema.ts'
import type { Field } from '../schema/schema-fields.ts'
import { type DocumentPlace, type NamedParts, namedPartsOf, type PlaceSegment, placeText } from './document-places.ts'
import { movedNames } from './moved-names.ts'

export type ChangeKind = 'added' | 'removed' | 'changed' | 'moved'

/**
 * One change of a place. Elements of arrays without ids are compared by their index: a removed one has its index of before,
 * any other its index of afterwards.
 */
export type PlaceChange = Readonly<{
  kind: ChangeKind
  place: DocumentPlace
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
const MOST_CHANGES = 1_000
/** A change with a longer path counts as several, so that all paths together stay short too. */
const PATH_CHARACTERS = 1_000

/**
 * In: two documents without the fields that the service sets, with every default. Out: the changes in the order of the second; at
 * most 1,000 for each field of the document. Takes time in proportion to the documents' size.
 */
export function diffDocuments(before: Json, after: Json): readonly PlaceChange[] {
  const parts = namedPartsOf(before, after, EndpointField)
  if (parts === undefined) return changed(before, after, [], MOST_CHANGES) ?? []
  // Each field has a budget of its own, so that many changes in one do not hide those of the others.
  return partChanges(parts, [], () => MOST_CHANGES) ?? [{ kind: 'changed', place: [], from: before, to: after }]
}

type Changes = readonly PlaceChange[]

/** Undefined if there are more changes than `budget`. */
function changes(before: Json, after: Json, field: Field | undefined, place: DocumentPlace, budget: number) {
  const parts = namedPartsOf(before, after, field)
  if (parts !== undefined) return partChanges(parts, place, (spent) => budget - spent)
  if (Array.isArray(before) && Array.isArray(after)) return elementChanges(before, after, field, place, budget)
  return changed(before, after, place, budget)
}

function changed(from: Json, to: Json, place: DocumentPlace, budget: number): Changes | undefined {
  if (isSameJson(from, to)) return []
  return within(budget, [{ kind: 'changed', place, from, to }])
}

function partChanges(
  [before, after]: readonly [NamedParts, NamedParts],
  place: DocumentPlace,
  budgetAfter: (spent: number) => number,
): Changes | undefined {
  const all: PlaceChange[] = []
  let spent = 0
  const add = (some: Changes | undefined): boolean => {
    if (some === undefined) return false
    for (const one of some) all.push(one)
    spent += costOf(some)
    return budgetAfter(spent) >= 0
  }
  for (const [name, from] of before.parts) {
    if (after.parts.has(name)) continue
    if (!add([{ kind: 'removed', place: [...place, before.segmentOf(name)], from }])) return undefined
  }
  const moved = after.isOrdered ? movedNames([...before.parts.keys()], [...after.parts.keys()]) : NONE
  let previous: string | null = null
  for (const [name, to] of after.parts) {
    const at = [...place, after.segmentOf(name)]
    const order: Pick<PlaceChange, 'after'> = after.isOrdered ? { after: previous } : {}
    previous = name
    const from = before.parts.get(name)
    if (from === undefined) {
      if (!add([{ kind: 'added', place: at, to, ...order }])) return undefined
      continue
    }
    if (moved.has(name) && !add([{ kind: 'moved', place: at, ...order }])) return undefined
    if (!add(changesOrWhole(from, to, after.fieldOf(name), at, budgetAfter(spent)))) return undefined
  }
  return all
}

const NONE: ReadonlySet<string> = new Set()

/** A part with too many changes is one change. */
function changesOrWhole(from: Json, to: Json, field: Field | undefined, place: DocumentPlace, budget: number): Changes {
  return changes(from, to, field, place, budget) ?? [{ kind: 'changed', place, from, to }]
}

/** Elements that are the same at both ends are left out, so that one inserted element is one change. */
function elementChanges(
  before: readonly Json[],
  after: readonly Json[],
  field: Field | undefined,
  place: DocumentPlace,
  budget: number,
): Changes | undefined {
  // Arrays of one length are compared element by element, which needs no look at whole elements.
  const shorter = before.length === after.length ? 0 : Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && isSameJson(before[start], after[start])) start++
  let end = 0
  const isSameAtEnd = () => isSameJson(before[before.length - 1 - end], after[after.length - 1 - end])
  while (end < shorter - start && isSameAtEnd()) end++
  const all: PlaceChange[] = []
  let spent = 0
  for (let at = start; at < Math.max(before.length, after.length) - end; at++) {
    const [from, to] = [
      at < before.length - end ? before[at] : undefined,
      at < after.length - end ? after[at] : undefined,
    ]
    const some = elementChange(from, to, field, [...place, at], budget - spent)
    spent += costOf(some)
    if (spent > budget) return undefined
    all.push(...some)
  }
  return all
}

function elementChange(
  from: Json | undefined,
  to: Json | undefined,
  field: Field | undefined,
  place: DocumentPlace,
  budget: number,
): Changes {
  if (to === undefined) return from === undefined ? [] : [{ kind: 'removed', place, from }]
  if (from === undefined) return [{ kind: 'added', place, to }]
  return changesOrWhole(from, to, field?.items, place, budget)
}

const within = (budget: number, some: Changes): Changes | undefined => (costOf(some) > budget ? undefined : some)

const costOf = (some: Changes): number =>
  some.reduce((sum, { place }) => sum + 1 + Math.floor(lengthOf(place) / PATH_CHARACTERS), 0)

const lengthOf = (place: DocumentPlace): number =>
  place.reduce<number>((sum, segment) => sum + textOf(segment).length, 0)

const textOf = (segment: PlaceSegment): string => (typeof segment === 'object' ? segment.id : String(segment))

/** The order of members counts: what the author may order freely is compared part by part. */
const isSameJson = (one: Json | undefined, other: Json | undefined): boolean =>
  one === other ||
  (typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other))

/** A change as JSON, with its place as text. */
export const describeChange = ({ place, ...change }: PlaceChange) => ({ ...change, path: placeText(place) })
