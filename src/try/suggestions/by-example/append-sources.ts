/** Lists of the output that have values and the elements of lists of the message one after the other. */
import type { PathStep } from '../../../core/path-step.ts'
import { MIN_BITS } from './choose-rule.ts'
import type { Lists } from './list-sources.ts'
import type { AppendNode } from './nodes.ts'
import { Search } from './search.ts'
import { type Budget, type Place, pairsOf, type Scope, spend, type Values, weigh } from './source-values.ts'

const MAX_PARTS = 20

/** Values and elements of lists one after the other, those that are there; in the order that explains every row. */
export function findAppended(
  { values, budget }: Readonly<{ values: Values; budget: Budget }>,
  scope: Scope,
  rows: Lists,
  steps: readonly PathStep[],
): AppendNode | undefined {
  const ids = rows.map((list) => list?.map((item) => values.id(item)))
  const longest = ids.reduce((at, list, row) => ((list?.length ?? 0) > (ids[at]?.length ?? 0) ? row : at), 0)
  const wanted = ids[longest] ?? []
  if (wanted.length === 0 || wanted.length > 200) return undefined
  const search = new Search({ steps, ids: rows.map((value) => values.id(value)) }, scope, values, budget)
  type Part = Readonly<{ place: Place; isList: boolean; at: (row: number) => readonly number[] }>
  const parts: Part[] = []
  for (const [{ place }, at] of search.lists()) {
    const elements = rows.map((_row, row) => (at(row) ?? []).map((item) => values.id(item)))
    if (elements.some((list) => list.length > 0)) {
      parts.push({ place, isList: true, at: (row) => elements[row] ?? [] })
    }
  }
  for (const column of search.columns()) {
    if (column.place.level === 0 && column.place.steps.length < 2) continue
    if (search.isOwnElement(column.place) || Array.isArray(search.at(column, longest))) continue
    const at = (row: number) => {
      const value = search.at(column, row)
      return value === undefined || value === null ? [] : [values.id(value)]
    }
    if (rows.some((_row, row) => at(row).length > 0)) parts.push({ place: column.place, isList: false, at })
  }
  const fits = (part: Part, ends: readonly number[]): readonly number[] | undefined => {
    const next: number[] = []
    for (const [row, end] of ends.entries()) {
      const own = part.at(row)
      for (const [at, id] of own.entries()) if (ids[row]?.[end + at] !== id) return undefined
      next.push(end + own.length)
    }
    return next
  }
  const chosen: Part[] = []
  let ends: readonly number[] = rows.map(() => 0)
  while (chosen.length < MAX_PARTS) {
    if (ids.every((list, row) => (list?.length ?? 0) === ends[row])) break
    if (!spend(budget, parts.length)) return undefined
    // The one that explains the most of what is left: a part that is missing in a row must not be taken for another.
    let bestEnds: readonly number[] | undefined
    let bestPart: Part | undefined
    const total = (all: readonly number[]) => all.reduce((sum, end) => sum + end, 0)
    for (const part of parts) {
      if (chosen.includes(part)) continue
      const next = fits(part, ends)
      if (next === undefined || total(next) === total(ends)) continue
      if (bestEnds === undefined || total(next) > total(bestEnds)) {
        bestEnds = next
        bestPart = part
      }
    }
    if (bestEnds === undefined || bestPart === undefined) return undefined
    ends = bestEnds
    chosen.push(bestPart)
  }
  if (!ids.every((list, row) => (list?.length ?? 0) === ends[row])) return undefined
  const isAlways = rows.every((list) => list !== undefined) && rows.some((list) => list?.length === 0)
  const bits = [...new Set(ids.flatMap((list) => list ?? []))].reduce((sum, id) => sum + weigh(values.value(id)), 0)
  return {
    kind: 'append',
    steps,
    pairs: pairsOf(scope, rows),
    ...(bits < MIN_BITS && { doubt: 'accident' as const }),
    isAlways,
    parts: chosen.map(({ place, isList }) => ({ place, isList })),
  }
}
