/** Finds for each target the source that is most like it by name, place and type. Values play no part. */
import { pathText } from '../language/paths/path-steps.ts'
import type { Leaf } from './leaf.ts'
import { type LeafNames, namesOf, similarity } from './leaf-names.ts'
import { matchTypes, type TypeMatch } from './leaf-types.ts'

/** An entry of `inputMapping` that somebody may want: `{ [source]: to }`. */
export type Suggestion = Readonly<{
  source: string
  target: string
  /** The value of the entry. */
  to: string | Readonly<{ key: string; transform: string }>
  /** From 0.5 to 1. */
  score: number
  /** What is alike, as a phrase. */
  reason: string
}>

/** `cut`: the time was over before every target was compared. */
export type Matches = Readonly<{ suggestions: readonly Suggestion[]; cut: boolean }>

/** The weights of a score; they add up to 1. */
const NAME = 0.6
const PARENTS = 0.25
const TYPE = 0.15
/** What a place in a list costs if the value is in none. */
const UNLISTED = 0.1
const LEAST_SCORE = 0.5
/** Sources that one target is compared with: many fields of a message may be called `code` or `value`. */
const MOST_COMPARED = 200

type Named = Readonly<{ leaf: Leaf; names: LeafNames }>
type Candidate = Readonly<{ from: Named; to: Named; score: number; suggestion: Suggestion }>

/**
 * In: `sources` with their root as the first step; `isOver`: whether the time is over. Out: at most one suggestion for each
 * source and target, the best first.
 */
export function matchLeaves(sources: readonly Leaf[], targets: readonly Leaf[], isOver: () => boolean): Matches {
  const named = sources.map((leaf) => ({ leaf, names: namesOf(leaf, 1) }))
  const byName = Map.groupBy(named, ({ names }) => names.name)
  const byWord = new Map<string, Named[]>()
  for (const one of named) {
    for (const word of one.names.words) {
      const list = byWord.get(word)
      if (list === undefined) byWord.set(word, [one])
      else list.push(one)
    }
  }
  const candidates: Candidate[] = []
  let cut = false
  for (const leaf of targets) {
    if (isOver()) {
      cut = true
      break
    }
    const to = { leaf, names: namesOf(leaf, 0) }
    if (to.names.name === '') continue
    const alike = [...to.names.words].flatMap((word) => byWord.get(word)?.slice(0, MOST_COMPARED) ?? [])
    const compared = new Set([...(byName.get(to.names.name)?.slice(0, MOST_COMPARED) ?? []), ...alike])
    for (const from of compared) {
      const candidate = compare(from, to)
      if (candidate !== undefined) candidates.push(candidate)
    }
  }
  return { suggestions: bestOf(candidates), cut }
}

/** The best candidates first; each source and each target once. */
function bestOf(candidates: readonly Candidate[]): readonly Suggestion[] {
  const taken = new Set<Leaf>()
  const best: Suggestion[] = []
  for (const { from, to, suggestion } of candidates.toSorted((one, other) => other.score - one.score)) {
    if (taken.has(from.leaf) || taken.has(to.leaf)) continue
    taken.add(from.leaf)
    taken.add(to.leaf)
    best.push(suggestion)
  }
  return best
}

function compare(from: Named, to: Named): Candidate | undefined {
  const type = matchTypes(from.leaf, to.leaf)
  const place = comparePlaces(from, to)
  if (type === undefined || place === undefined) return undefined
  // Lists of scalars are copied as they are.
  if (from.leaf.isList && type.transform !== undefined) return undefined
  const isSame = from.names.name === to.names.name
  const words = similarity(from.names.words, to.names.words)
  const name = isSame ? 1 : words * 0.8
  const parents = similarity(from.names.parents, to.names.parents)
  const score = NAME * name + PARENTS * parents + TYPE * type.score - place.cost
  if (score < LEAST_SCORE) return undefined
  const reasons = [
    isSame ? 'the same name' : 'a similar name',
    ...(parents === 1 ? ['in the same place'] : parents > 0 ? ['in a similar place'] : []),
    type.reason,
    ...(place.reason === undefined ? [] : [place.reason]),
  ]
  return { from, to, score, suggestion: suggestionOf(from.leaf, to.leaf, type, score, reasons.join(', ')) }
}

type Place = Readonly<{ cost: number; reason?: string }>

/** Whether a mapping can write one place from the other, element by element. */
function comparePlaces(from: Named, to: Named): Place | undefined {
  // Lists within a list are joined to one when they are read.
  if (from.leaf.isList && (!to.leaf.isList || from.names.lists > 0)) return undefined
  const appends = to.leaf.isList && !from.leaf.isList
  if (from.names.lists > 1 || from.names.lists > to.names.lists || (appends && from.names.lists > 0)) return undefined
  if (from.names.lists === 1 && to.names.lists > 1) return undefined
  if (appends) return { cost: UNLISTED, reason: 'appended to a list' }
  return from.names.lists === to.names.lists ? { cost: 0 } : { cost: UNLISTED, reason: 'written to a first element' }
}

function suggestionOf(from: Leaf, to: Leaf, { transform }: TypeMatch, score: number, reason: string): Suggestion {
  const appends = to.isList && !from.isList
  const written = appends ? pathText([...to.steps, { kind: 'each' }]) : to.path
  // A last question mark would be a mark of the target.
  const key = written.endsWith('?') ? `${written.slice(0, -1)}\\?` : written
  return {
    source: from.path,
    target: key,
    to: transform === undefined ? key : { key, transform },
    score: Math.round(score * 100) / 100,
    reason,
  }
}
