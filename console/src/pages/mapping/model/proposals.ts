/** The entries that can connect two fields. Where their lists differ, or lists are in lists, there are several, and the user chooses. */
import { findScopes } from './each-scopes.ts'
import type { NewEntry } from './entry-edits.ts'
import type { FieldNode } from './field-tree.ts'
import { type EachScope, lineId, type MappingText } from './mapping-entries.ts'
import { listsIn, takeFirstOfLists } from './path-names.ts'

export type Proposal = NewEntry &
  Readonly<{
    /** What it does, as a phrase. */
    what: string
    /** The `each` that gets the entry. */
    within?: EachScope
  }>

/** As `proposalsFor`, in the innermost `each` that has both fields. */
export function proposalsIn(mapping: MappingText, from: FieldNode, to: FieldNode): readonly Proposal[] {
  const scopes = findScopes(mapping, from.path, to.path)
  if (scopes.length === 0) return proposalsFor(from, to)
  return scopes.flatMap(({ scope, source, key }) =>
    proposalsFor({ ...from, path: source }, { ...to, path: key }).map((one) => ({
      ...one,
      what: `${one.what}, in each of ${scope.items.at(-1)}`,
      within: scope,
    })),
  )
}

/** The id of the line that an entry makes; of an `each` that begins, that of its first entry. */
export const newLineId = ({ source, key, each }: NewEntry, scope: string | undefined): string => {
  const id = lineId(scope, source, key)
  return each === undefined ? id : newLineId(each, id)
}

const MAX_PROPOSALS = 5

/** Out: at least one, the most likely first. One alone needs no question. */
export function proposalsFor(from: FieldNode, to: FieldNode): readonly [Proposal, ...Proposal[]] {
  const [first, ...others] = candidates(from, to)
  const seen = new Set([`${first.source}\n${first.key}`])
  const different = others.filter(({ source, key, transform = '' }) => {
    const name = `${source}\n${key}${transform === '' ? '' : `\n${transform}`}`
    const isNew = !seen.has(name)
    seen.add(name)
    return isNew
  })
  return [first, ...different.slice(0, MAX_PROPOSALS - 1)]
}

function candidates(from: FieldNode, to: FieldNode): readonly [Proposal, ...Proposal[]] {
  const [source, key] = [from.path, to.path]
  const [outside, around] = [listsIn(source), listsIn(key)]
  // Lists of scalars are values like others; those of objects are copied whole.
  const given = outside + from.lists
  const taken = around + to.lists
  if (given === 0 && taken === 0) return [{ source, key, what: 'the value' }]
  if (given === 0) return ofOneValue(source, key, around, to)
  if (taken === 0) return ofManyToOne(source, key, from, to)
  const ofEach = given === taken && outside + around > 2 ? inEach(from, to) : undefined
  return ofEach === undefined ? ofLists(from, to) : [ofEach, ...ofLists(from, to)]
}

const FIRST_LIST = /^(?:\\.|[^\\])*?\[\]/

/** Lists in lists, one in the other as they are. */
function inEach(from: FieldNode, to: FieldNode): Proposal | undefined {
  const [source, key] = [from.path, to.path].map((path) => FIRST_LIST.exec(path)?.[0] ?? '')
  if (!source || !key || to.path[key.length] !== '.') return undefined
  const below = { ...from, path: `item${from.path.slice(source.length)}` }
  const [each] = proposalsFor(below, { ...to, path: to.path.slice(key.length + 1) })
  return { source, key, each, what: 'each list in the element of its own, by an "each"' }
}

/** Both are in lists, or are lists. */
function ofLists(from: FieldNode, to: FieldNode): readonly [Proposal, ...Proposal[]] {
  const [source, key] = [from.path, to.path]
  const [outside, around] = [listsIn(source), listsIn(key)]
  const [given, taken] = [outside + from.lists, around + to.lists]
  if (to.lists > 0 && around > 0) return intoInnerList(source, key, outside, from)
  const direct: Proposal = { source, key, what: given > 1 ? 'all values, joined to one list' : 'each value' }
  if (given === 1 && taken === 1) return [direct]
  return [
    direct,
    ...Array.from({ length: taken > 1 ? around : 0 }, (_, at) => ({
      source,
      key: takeFirstOfLists(key, (index) => index !== at),
      what: `${ordinal(at)} list of the target has an element for each value`,
    })),
    ...Array.from({ length: given > 1 ? outside : 0 }, (_, at) => ({
      source: takeFirstOfLists(source, (index) => index === at),
      key,
      what: `only from the first element of the ${ordinal(at)} list of the source`,
    })),
  ]
}

function ofOneValue(source: string, key: string, around: number, to: FieldNode): readonly [Proposal, ...Proposal[]] {
  const element: Proposal = { source, key, what: 'in the first element' }
  const everywhere: Proposal = {
    source,
    key,
    transform: 'oneToAllElements',
    what: 'in every element that entries before it make',
  }
  if (to.lists === 0) return [element, everywhere]
  const append: Proposal = { source, key: `${key}[]`, what: 'appended to the list' }
  return around === 0 ? [append] : [append, { ...everywhere, key: `${key}[]` }]
}

/** A list in the elements of another one: what is written there must be a list again. */
function intoInnerList(
  source: string,
  key: string,
  outside: number,
  from: FieldNode,
): readonly [Proposal, ...Proposal[]] {
  const each: Proposal = { source, key: `${key}[]`, what: 'each value as a list in an element of its own' }
  const joined: Proposal = {
    source,
    key: takeFirstOfLists(key, () => true),
    what: 'all values as the list of the first element',
  }
  if (from.lists === 0) return [each, joined]
  if (outside === 0) return [joined, each]
  return [{ source: `${source}[]`, key, what: 'each list in an element of its own' }, each, joined]
}

function ofManyToOne(source: string, key: string, from: FieldNode, to: FieldNode): readonly [Proposal, ...Proposal[]] {
  const parent = key.slice(0, Math.max(0, key.lastIndexOf('.')))
  const list: Proposal = { source, key, what: 'the list of all values' }
  const one: Proposal = {
    source: listsIn(source) > 0 ? takeFirstOfLists(source, () => true) : `${source}[0]`,
    key,
    what: 'the first value only',
  }
  // A name with an escaped dot at its end is left to the user.
  const isPlain = parent !== '' && !key.slice(0, key.lastIndexOf('.') + 1).endsWith('\\.') && !parent.endsWith(']')
  const spread: readonly Proposal[] = isPlain
    ? [{ source, key: `${parent}[]${key.slice(parent.length)}`, what: `a list with an element for each value` }]
    : []
  const isObject = from.types.includes('object') || to.types.includes('object')
  return isObject
    ? [list, one]
    : to.isUnknown || to.types.length === 0
      ? [list, one, ...spread]
      : [one, list, ...spread]
}

const ordinal = (at: number): string => ['first', 'second', 'third', 'fourth'][at] ?? `${at + 1}th`
