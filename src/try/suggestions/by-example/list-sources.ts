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
  for (const [list, at] of search.lists()) {
    if (!spend(budget, rows.length)) break
    const all = rows.map((_row, row) => at(row))
    const isLonger = rows.some((wanted, row) => (wanted?.length ?? 0) > (all[row]?.length ?? 0))
    if (isLonger || search.isOwnElement(list.place)) continue
    const score = nameScore(list.place.steps, steps)
    const add = (elements: Lists, when?: string) => {
      if (!spend(budget, Math.min(300, 10 * rows.length))) return
      const alike = likeness(rows, elements)
      if (alike > 0) sources.push({ list, elements, score: alike + score, ...(when && { when }) })
    }
    if (rows.every((wanted, row) => (wanted?.length ?? 0) === (all[row]?.length ?? 0))) add(all)
    else if (
      spend(
        budget,
        10 *
          Math.min(
            300,
            all.reduce((sum, list) => sum + (list?.length ?? 0), 0),
          ),
      )
    )
      for (const { when, test } of findConditions(all, rows)) add(filter(all, test), when)
  }
  return sources.toSorted((one, other) => other.score - one.score).slice(0, MAX_SOURCES)
}

const filter = (lists: Lists, test: (element: Json) => boolean): Lists => lists.map((list) => list?.filter(test))

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

type Condition = Readonly<{ when: string; test: (element: Json) => boolean }>

const MAX_CODES = 8

/** What can be said of a field of the elements so that as many are left as the target has. */
function findConditions(lists: Lists, rows: Lists): readonly Condition[] {
  const fields = new Map<string, { steps: readonly PathStep[]; codes: Set<Json> }>()
  let looked = 0
  for (const element of lists.flatMap((list) => list ?? [])) {
    looked += 1
    if (looked > 300) break
    if (!isObject(element)) continue
    for (const [steps, value] of innerPaths(element)) {
      const key = expressionPath('item', steps)
      const field = fields.get(key) ?? { steps, codes: new Set() }
      fields.set(key, field)
      if (field.codes.size <= MAX_CODES) field.codes.add(value)
    }
  }
  const found: Condition[] = []
  for (const [path, { steps, codes }] of fields) {
    if (path.includes('`')) continue
    const conditions: Condition[] = [
      ...(codes.size > MAX_CODES
        ? []
        : [...codes].map((code) => ({
            when: `${path} = ${JSON.stringify(code)}`,
            test: (element: Json) => readSteps(element, steps) === code,
          }))),
      { when: `$exists(${path})`, test: (element) => (readSteps(element, steps) ?? null) !== null },
      ...(codes.size > MAX_CODES
        ? []
        : [...codes].map((code) => ({
            when: `$not(${path} = ${JSON.stringify(code)})`,
            test: (element: Json) => readSteps(element, steps) !== code,
          }))),
    ]
    for (const condition of conditions) {
      const fits = rows.every(
        (wanted, row) => (lists[row] ?? []).filter(condition.test).length === (wanted?.length ?? 0),
      )
      if (fits) found.push(condition)
      if (found.length >= MAX_CODES) return found
    }
  }
  return found
}
