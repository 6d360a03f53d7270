/**
 * Suggests entries of `inputMapping` for one message and a target: a pair, of which rules by equal values are taken where the
 * target has telling ones, or else names, places and types alone. No value is part of a suggestion.
 */
import { createPause } from '../../core/slice.ts'
import { pathText } from '../../language/paths/path-steps.ts'
import { MIN_BITS } from './by-example/choose-rule.ts'
import { listNames, nameScore, similarity } from './by-example/names.ts'
import { Search } from './by-example/search.ts'
import {
  type Budget,
  type Column,
  type Place,
  type Scope,
  spend,
  type ValueId,
  Values,
  weigh,
} from './by-example/source-values.ts'
import { findConversions, findPaths } from './by-example/value-rules.ts'
import { countLists, type Leaf, type LeafType, toJsonType } from './places.ts'
import type { Suggestion } from './suggest-answer.ts'
import { findMeaning } from './synonyms.ts'

/** The weight of the types in a score; the rest is that of the names. */
const TYPE = 0.15
/** What a place in a list costs if the value is in none. */
const UNLISTED = 0.1
const MIN_SCORE = 0.5
/** What names of the same meaning are worth, where the same name is worth 0.8. */
const MEANING = 0.7
/** Names that say nothing of a value whose other names differ. */
const VAGUE = new Set('code display preferred status system text type url use value version'.split(' '))
/** The score of an equal value alone. */
const EQUAL = 0.6
/** Sources that one target is compared with by one name or word: many fields of a message may be called `code`. */
const MAX_COMPARED = 30
/** For equal values, and again for names. */
const UNITS = 200_000

type Candidate = Readonly<{ from: Leaf; to: Leaf; isEqual: boolean; score: number; suggestion: Suggestion }>

/**
 * In: `sources` with their root as the first step. Out: at most one suggestion for each source and target, the best first.
 * `cut`: not every target was compared with every source that is like it.
 */
export async function suggestEntries(
  sources: readonly Leaf[],
  targets: readonly Leaf[],
): Promise<Readonly<{ suggestions: readonly Suggestion[]; cut: boolean }>> {
  const budget: Budget = { left: UNITS, cut: false }
  const pause = createPause()
  const byName = new Map<string, Leaf[]>()
  for (const leaf of sources) {
    await pause()
    if (!spend(budget, countWords(leaf))) break
    for (const key of nameKeys(leaf.names)) {
      const list = byName.get(key) ?? []
      byName.set(key, list)
      if (list.length < MAX_COMPARED) list.push(leaf)
    }
  }
  const equals = new EqualValues(sources)
  const candidates: Candidate[] = []
  for (const to of targets) {
    await pause()
    const equal = equals.find(to)
    const named = nameKeys(to.names).flatMap((key) => byName.get(key) ?? [])
    for (const from of new Set([...equal.keys(), ...named])) {
      if (!spend(budget, countWords(from) + countWords(to))) break
      const candidate = compare(from, to, equal)
      if (candidate !== undefined) candidates.push(candidate)
    }
  }
  return { suggestions: pickBest(candidates), cut: budget.cut || equals.budget.cut }
}

/** Hardly more than one, of names that people choose. */
const countWords = ({ names }: Leaf): number => 1 + (listNames(names).parents.size >> 3)

const nameKeys = (steps: Leaf['names']): readonly string[] => {
  const { name, parent, words } = listNames(steps)
  const meaning = findMeaning(steps)
  const meant = meaning === undefined ? [] : [`meaning ${meaning}`]
  return name === ''
    ? []
    : [`place ${parent}.${name}`, `name ${name}`, ...meant, ...[...words].map((word) => `word ${word}`)]
}

/** Finds the sources with the value of a target, by the rules of examples, of which the message and the target are one. */
class EqualValues {
  readonly budget: Budget = { left: UNITS, cut: false }
  readonly #values = new Values()
  readonly #leaves: ReadonlyMap<Place, Leaf>
  readonly #scope: Scope
  /** Values that many sources have. */
  readonly #common = new Set<ValueId>()

  constructor(sources: readonly Leaf[]) {
    this.#leaves = new Map(sources.map((leaf) => [{ level: 0, steps: leaf.steps }, leaf]))
    const columns = [...this.#leaves].map(([place, { value }]): Column => ({ place, ids: [this.#values.id(value)] }))
    this.#scope = { level: 0, size: 1, columns, lists: [] }
  }

  /** Out: the function that converts the value, by source. Of few or short values, others are equal by accident. */
  find({ steps, value, types }: Leaf): ReadonlyMap<Leaf, string | undefined> {
    const id = this.#values.id(value)
    if (weigh(value) < MIN_BITS || this.#common.has(id)) return new Map()
    const search = new Search({ steps, ids: [id] }, this.#scope, this.#values, this.budget)
    findPaths(search)
    // Dates and lists are looked for in every source.
    const units = types.has('date') || Array.isArray(value) ? this.#scope.columns.length >> 3 : 1
    if (search.found.length === 0 && spend(this.budget, units)) findConversions(search)
    if (search.found.length > MAX_COMPARED) {
      this.#common.add(id)
      return new Map()
    }
    return new Map(
      search.found.flatMap(({ rule }) => {
        const leaf = rule.kind === 'path' ? this.#leaves.get(rule.place) : undefined
        return leaf === undefined || rule.kind !== 'path' ? [] : [[leaf, rule.transform]]
      }),
    )
  }
}

/** The best candidates first, those with equal values before others; each source and each target once. */
function pickBest(candidates: readonly Candidate[]): readonly Suggestion[] {
  const taken = new Set<Leaf>()
  const ranked = candidates.toSorted(
    (one, other) => Number(other.isEqual) - Number(one.isEqual) || other.score - one.score,
  )
  return ranked
    .filter(({ from, to }) => {
      const isFree = !taken.has(from) && !taken.has(to)
      if (isFree) taken.add(from).add(to)
      return isFree
    })
    .map(({ suggestion }) => suggestion)
    .sort((one, other) => other.score - one.score)
}

function compare(from: Leaf, to: Leaf, equal: ReadonlyMap<Leaf, string | undefined>): Candidate | undefined {
  const path = comparePaths(from, to)
  const type = matchTypes(from.types, to.types)
  // Lists of scalars are copied as they are.
  if (path === undefined || type === undefined || (from.isList && type.transform !== undefined)) return undefined
  const isEqual = equal.has(from) && equal.get(from) === type.transform
  const [one, other] = [listNames(from.names), listNames(to.names)]
  const parents = similarity(one.parents, other.parents)
  const meaning = findMeaning(from.names)
  const isMeant = meaning !== undefined && meaning === findMeaning(to.names)
  const isVague = VAGUE.has(one.name) && parents === 0
  if (isVague && !isMeant && !equal.has(from)) return undefined
  const named = Math.max(nameScore(from.names, to.names), isMeant ? MEANING + 0.2 * parents : 0)
  const alike = (1 - TYPE) * named + TYPE * type.score - path.cost
  const score = isEqual ? EQUAL + (1 - EQUAL) * alike : alike
  if (score < MIN_SCORE) return undefined
  const meant = isMeant ? 'a name of the same meaning' : ''
  const reasons = [
    one.name === other.name ? 'the same name' : one.words.isDisjointFrom(other.words) ? meant : 'a similar name',
    parents === 1 ? 'in the same place' : parents > 0 ? 'in a similar place' : '',
    isEqual ? 'the same value' : '',
    type.reason,
    path.reason,
  ]
  const appended = to.isList && !from.isList ? pathText([...to.steps, { kind: 'each' }]) : to.path
  // A last question mark would be a mark of the target.
  const key = appended.replace(/\?$/, '\\?')
  const suggestion = {
    source: from.path,
    target: key,
    to: type.transform === undefined ? key : { key, transform: type.transform },
    score: Math.round(score * 100) / 100,
    reason: reasons.filter((reason) => reason !== '').join(', '),
  }
  return { from, to, isEqual, score, suggestion }
}

/** How a mapping can write one place from the other, element by element. */
function comparePaths(from: Leaf, to: Leaf): Readonly<{ cost: number; reason: string }> | undefined {
  const [given, wanted] = [countLists(from.steps), countLists(to.steps)]
  // Lists within a list are joined to one when they are read.
  if (from.isList && (!to.isList || given > 0)) return undefined
  const appends = to.isList && !from.isList
  if (given > 1 || given > wanted || (appends && given > 0) || (given === 1 && wanted > 1)) return undefined
  if (appends) return { cost: UNLISTED, reason: 'appended to a list' }
  return given === wanted ? { cost: 0, reason: '' } : { cost: UNLISTED, reason: 'written to a first element' }
}

type TypeMatch = Readonly<{
  /** From 0 to 1. */
  score: number
  /** The function that converts the value. */
  transform?: string
  reason: string
}>

/** What converts to a type, and from which types beside strings of any form. */
const CONVERTED: Readonly<Record<string, Readonly<{ transform: string; from?: readonly LeafType[] }>>> = {
  string: { transform: 'stringify' },
  number: { transform: 'numberify', from: ['digits', 'number'] },
  boolean: { transform: 'booleanify', from: ['truth', 'boolean'] },
}

/** Out: undefined if a value of one type can't be written as another. */
function matchTypes(from: Leaf['types'], to: Leaf['types']): TypeMatch | undefined {
  if (from.size === 0 || to.size === 0) return { score: 0.5, reason: 'a type is not known' }
  const isAll = (types: Leaf['types'], expected: readonly LeafType[]) => types.isSubsetOf(new Set(expected))
  if (isAll(from, ['dateTime']) && isAll(to, ['date'])) {
    return { score: 0.7, transform: 'dateTimeToDate', reason: 'the date of a date and time' }
  }
  const [given, wanted] = [new Set([...from].map(toJsonType)), new Set([...to].map(toJsonType))]
  if (given.isSubsetOf(wanted)) return { score: 1, reason: `the same type (${[...given].join(' or ')})` }
  const [only] = wanted
  const converted = wanted.size > 1 || only === undefined ? undefined : CONVERTED[only]
  if (converted === undefined || !isAll(from, converted.from ?? [...from])) return undefined
  return { score: 0.5, transform: converted.transform, reason: `converted to a ${only}` }
}
