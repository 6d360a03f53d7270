/** The lists of a message that the elements of a list of the output may belong to, one to each. */
import { isObject, type Json } from '../../../core/json.ts'
import type { PathStep } from '../../../core/path-step.ts'
import { nameScore } from './names.ts'
import { expressionPath } from './rules.ts'
import { looseText, Search } from './search.ts'
import { type Budget, type ListColumn, type Scope, spend, type Values } from './source-values.ts'
import { innerPaths, readSteps } from './value-rules.ts'

export type Lists = readonly (readonly Json[] | undefined)[]

const MAX_SOURCES = 4

export const isScalar = (value: Json | undefined): boolean => typeof value !== 'object' || value === null

export type Source = Readonly<{
  list: ListColumn
  /** The elements that are mapped, in each row. */
  elements: Lists
  when?: string
  /** Other conditions that let the same elements through. */
  rivals: readonly string[]
  score: number
}>

/** Lists with an element for each of the target's, all of theirs or those that a condition lets through. */
export function findSources(
  { values, budget }: Readonly<{ values: Values; budget: Budget }>,
  scope: Scope,
  rows: Lists,
  steps: readonly PathStep[],
): readonly Source[] {
  const search = new Search({ steps, ids: rows.map((value) => values.id(value)) }, scope, values, budget)
  const sources: Source[] = []
  for (const [list, at] of search.lists(true)) {
    if (!spend(budget, rows.length)) break
    const all = rows.map((_row, row) => at(row))
    const isLonger = rows.some((wanted, row) => (wanted?.length ?? 0) > (all[row]?.length ?? 0))
    if (isLonger || search.isOwnElement(list.place)) continue
    const score = nameScore(list.place.steps, steps)
    const cost = Math.min(300, 10 * rows.length)
    if (rows.every((wanted, row) => (wanted?.length ?? 0) === (all[row]?.length ?? 0))) {
      if (!spend(budget, cost)) break
      const alike = likeness(rows, all)
      if (alike > 0) sources.push({ list, elements: all, rivals: [], score: alike + score })
      continue
    }
    const filtered: Source[] = []
    if (
      !spend(
        budget,
        10 *
          Math.min(
            300,
            all.reduce((sum, one) => sum + (one?.length ?? 0), 0),
          ),
      )
    )
      break
    for (const { when, test, weight } of findConditions(all, rows)) {
      if (!spend(budget, cost)) break
      const elements = all.map((one) => one?.filter(test))
      const alike = likeness(rows, elements)
      if (alike > 0) filtered.push({ list, elements, when, rivals: [], score: alike + score + weight / 1_000 })
    }
    const [first, ...others] = filtered.sort((one, other) => other.score - one.score)
    const rivals = others.flatMap((other) => (first && other.score > first.score - 0.02 ? [other.when ?? ''] : []))
    if (first !== undefined) sources.push({ ...first, rivals })
  }
  return sources.toSorted((one, other) => other.score - one.score).slice(0, MAX_SOURCES)
}

/** The share of the target's values that the elements beside them have, and with less weight how much of these the target has. */
function likeness(rows: Lists, elements: Lists): number {
  let [looked, found, offered] = [0, 0, 0]
  for (const [row, list] of rows.entries()) {
    for (const [at, wanted] of (list ?? []).slice(0, 5).entries()) {
      const given = elements[row]?.[at]
      const texts = new Set(leafTexts(given))
      offered += texts.size
      for (const text of leafTexts(wanted)) {
        looked += 1
        if (texts.has(text) || [...texts].some((one) => one.length > 2 && (text.includes(one) || one.includes(text)))) {
          found += 1
        }
      }
    }
    if (looked > 300) break
  }
  return looked === 0 ? 0 : (found / looked) * (1 + found / Math.max(offered, found))
}

const leafTexts = (value: Json | undefined): readonly string[] => {
  if (value === undefined) return []
  if (isScalar(value)) return [looseText(value) ?? '']
  return [...innerPaths(value)].slice(0, 60).map(([, leaf]) => looseText(leaf) ?? '')
}

/** `weight`: how much the field looks like one that elements are chosen by. */
type Condition = Readonly<{ when: string; test: (element: Json) => boolean; weight: number }>

const MAX_CODES = 8
const MAX_CONDITIONS = 40

/** What can be said of a field of the elements so that as many are left as the target has. */
function findConditions(lists: Lists, rows: Lists): readonly Condition[] {
  const fields = new Map<string, { steps: readonly PathStep[]; codes: Map<Json, number>; count: number }>()
  for (const element of lists.flatMap((list) => list ?? []).slice(0, 300)) {
    if (!isObject(element)) continue
    for (const [steps, value] of innerPaths(element)) {
      const key = expressionPath('item', steps)
      const field = fields.get(key) ?? { steps, codes: new Map<Json, number>(), count: 0 }
      fields.set(key, field)
      field.count += 1
      if (field.codes.size <= MAX_CODES) field.codes.set(value, (field.codes.get(value) ?? 0) + 1)
    }
  }
  const found: Condition[] = []
  for (const [path, { steps, codes, count }] of fields) {
    if (path.includes('`') && steps.some((step) => step.kind === 'name' && step.name.includes('`'))) continue
    const conditions: Condition[] = [
      { when: `$exists(${path})`, test: (element) => (readSteps(element, steps) ?? null) !== null, weight: 3 },
    ]
    for (const [code, times] of codes.size > MAX_CODES ? [] : codes) {
      const isCode = 2 * codes.size <= count
      // Of values that differ everywhere, one alone says nothing.
      const weight = typeof code === 'boolean' ? 5 : isCode ? 4 : times > 1 ? 2 : isWord(code) ? 1 : 0
      if (weight === 0) continue
      const text = JSON.stringify(code)
      conditions.push(
        { when: `${path} = ${text}`, test: (element) => readSteps(element, steps) === code, weight: weight + 0.5 },
        { when: `$not(${path} = ${text})`, test: (element) => readSteps(element, steps) !== code, weight },
      )
    }
    for (const condition of conditions) {
      const fits = rows.every(
        (wanted, row) => (lists[row] ?? []).filter(condition.test).length === (wanted?.length ?? 0),
      )
      if (fits) found.push(condition)
    }
  }
  return found.sort((one, other) => other.weight - one.weight).slice(0, MAX_CONDITIONS)
}

/** A text as codes are, and no number, date or sentence. */
const isWord = (value: Json | undefined): boolean =>
  typeof value === 'string' && /^[A-Za-z][A-Za-z_-]{0,19}$/.test(value)
