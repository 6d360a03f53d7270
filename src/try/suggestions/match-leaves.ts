/** Finds for each target the source that is most like it by name, place and type. Values play no part. */
import { setImmediate as nextIteration } from 'node:timers/promises'
import { pathText } from '../../language/paths/path-steps.ts'
import { type Leaf, type LeafNames, listNames, matchTypes, similarity, type TypeMatch } from './leaves.ts'

/** A proposed entry of `inputMapping`: `{ [source]: to }`. */
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

/** `cut`: the processor time was over before every target was compared. */
type Matches = Readonly<{ suggestions: readonly Suggestion[]; cut: boolean }>

/** The weights of a score; they add up to 1. */
const NAME = 0.6
const PARENTS = 0.25
const TYPE = 0.15
/** What a place in a list costs if the value is in none. */
const UNLISTED = 0.1
const MIN_SCORE = 0.5
/** Sources that one target is compared with by one name or word: many fields of a message may be called `code`. */
const MAX_COMPARED = 30
/** Messages run after so many milliseconds of comparing. */
const SLICE_MS = 5

type Named = Readonly<{ leaf: Leaf; names: LeafNames }>
type Candidate = Readonly<{ from: Named; to: Named; score: number; suggestion: Suggestion }>

/**
 * In: `sources` with their root as the first step; `maxMs` of processor time. Out: at most one suggestion for each source
 * and target, the best first.
 */
export async function matchLeaves(sources: Iterable<Leaf>, targets: Iterable<Leaf>, maxMs: number): Promise<Matches> {
  const slices = createSlices(maxMs)
  const bySource = new Map<string, Named[]>()
  const index = (key: string, one: Named): void => {
    const list = bySource.get(key)
    if (list === undefined) bySource.set(key, [one])
    else if (list.length < MAX_COMPARED) list.push(one)
  }
  for (const leaf of sources) {
    if (slices.isDue() && !(await slices.next())) break
    const one = { leaf, names: listNames(leaf, 1) }
    const { parent, name, words } = one.names
    index(`place ${parent}.${name}`, one)
    index(`name ${name}`, one)
    for (const word of words) index(`word ${word}`, one)
  }
  const candidates: Candidate[] = []
  for (const leaf of targets) {
    if (slices.isDue() && !(await slices.next())) break
    const to = { leaf, names: listNames(leaf, 0) }
    const { name, parent, words } = to.names
    if (name === '') continue
    const keys = [`place ${parent}.${name}`, `name ${name}`, ...[...words].map((word) => `word ${word}`)]
    for (const from of new Set(keys.flatMap((key) => bySource.get(key) ?? []))) {
      if (slices.isDue() && !(await slices.next())) break
      const candidate = compare(from, to)
      if (candidate !== undefined) candidates.push(candidate)
    }
  }
  return { suggestions: pickBest(candidates), cut: slices.isOver() }
}

/** Work in slices, between which messages run, as long as the processor time lasts. */
function createSlices(maxMs: number) {
  let usedMs = 0
  let sliceAt = performance.now()
  const isOver = () => usedMs > maxMs
  return {
    isOver,
    isDue: () => isOver() || performance.now() - sliceAt > SLICE_MS,
    /** Out: whether there is time for one more. */
    next: async (): Promise<boolean> => {
      usedMs += performance.now() - sliceAt
      if (!isOver()) await nextIteration()
      sliceAt = performance.now()
      return !isOver()
    },
  }
}

/** The best candidates first; each source and each target once. */
function pickBest(candidates: readonly Candidate[]): readonly Suggestion[] {
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
  const pathMatch = comparePaths(from, to)
  const type = pathMatch && matchTypes(from.leaf, to.leaf)
  if (pathMatch === undefined || type === undefined) return undefined
  // Lists of scalars are copied as they are.
  if (from.leaf.isList && type.transform !== undefined) return undefined
  const isSame = from.names.name === to.names.name
  const words = similarity(from.names.words, to.names.words)
  const name = isSame ? 1 : words * 0.8
  const parents = similarity(from.names.parents, to.names.parents)
  const score = NAME * name + PARENTS * parents + TYPE * type.score - pathMatch.cost
  if (score < MIN_SCORE) return undefined
  const reasons = [
    isSame ? 'the same name' : 'a similar name',
    ...(parents === 1 ? ['in the same place'] : parents > 0 ? ['in a similar place'] : []),
    type.reason,
    ...(pathMatch.reason === undefined ? [] : [pathMatch.reason]),
  ]
  return { from, to, score, suggestion: toSuggestion(from.leaf, to.leaf, type, score, reasons.join(', ')) }
}

type PathMatch = Readonly<{ cost: number; reason?: string }>

/** How a mapping can write one place from the other, element by element. */
function comparePaths(from: Named, to: Named): PathMatch | undefined {
  // Lists within a list are joined to one when they are read.
  if (from.leaf.isList && (!to.leaf.isList || from.names.lists > 0)) return undefined
  const appends = to.leaf.isList && !from.leaf.isList
  if (from.names.lists > 1 || from.names.lists > to.names.lists || (appends && from.names.lists > 0)) return undefined
  if (from.names.lists === 1 && to.names.lists > 1) return undefined
  if (appends) return { cost: UNLISTED, reason: 'appended to a list' }
  return from.names.lists === to.names.lists ? { cost: 0 } : { cost: UNLISTED, reason: 'written to a first element' }
}

function toSuggestion(from: Leaf, to: Leaf, { transform }: TypeMatch, score: number, reason: string): Suggestion {
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
