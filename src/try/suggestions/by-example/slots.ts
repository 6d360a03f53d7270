/** Tells apart the objects of a list that may each be missing, by a field that has a value of its own in each. */
import type { Json } from '../../../core/json.ts'
import type { PathStep } from '../../../core/path-step.ts'
import type { Lists } from './list-sources.ts'
import { expressionPath } from './rules.ts'
import { innerPaths, readSteps } from './value-rules.ts'

const MAX_SLOTS = 16

type Slots = Readonly<{ keyOf: (element: Json, row: number) => string; names: readonly string[] }>

/** The slot of an element whose field has no value that others have. */
const ANY_OTHER = '*'

export function findSlots(rows: Lists): Slots | undefined {
  const fields = new Map<string, { steps: readonly PathStep[]; rows: Map<string, Set<number>> }>()
  for (const [row, list] of rows.entries()) {
    for (const element of list ?? []) {
      for (const [steps, value] of innerPaths(element)) {
        const key = expressionPath('', steps)
        const field = fields.get(key) ?? { steps, rows: new Map<string, Set<number>>() }
        fields.set(key, field)
        const seen = field.rows.get(String(value)) ?? new Set()
        field.rows.set(String(value), seen.add(row))
      }
    }
  }
  let best: Slots | undefined
  for (const { steps, rows: seen } of fields.values()) {
    const keyOf = (element: Json) => {
      const value = String(readSteps(element, steps))
      return (seen.get(value)?.size ?? 0) > 1 ? value : ANY_OTHER
    }
    const names = orderSlots(rows.map((list) => (list ?? []).map((element) => keyOf(element))))
    if (names !== undefined && names.length > (best?.names.length ?? 1)) best = { keyOf, names }
  }
  return best
}

/** One order of all names in which each row has some, each once; undefined if there is none. */
function orderSlots(rows: readonly (readonly string[])[]): readonly string[] | undefined {
  const names = new Set(rows.flat())
  if (names.size > MAX_SLOTS || rows.some((row) => new Set(row).size !== row.length)) return undefined
  const ordered: string[] = []
  while (ordered.length < names.size) {
    const next = [...names].find(
      (name) =>
        !ordered.includes(name) &&
        rows.every((row) => row.slice(0, Math.max(row.indexOf(name), 0)).every((before) => ordered.includes(before))),
    )
    if (next === undefined) return undefined
    ordered.push(next)
  }
  return ordered
}
