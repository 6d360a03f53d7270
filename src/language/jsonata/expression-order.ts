/**
 * Sorting and removing duplicates in place of the engine, whose merge sort keeps every remainder of both halves (gigabytes
 * for 40,000 items) and whose `$distinct` compares each item with all before it.
 */
import { LimitReached } from './expression-fault.ts'
import { isFunction, sizeOf } from './expression-size.ts'

export type Callable = (...args: unknown[]) => unknown

type OrderTerm = Readonly<{ keyOf: Callable; descending: boolean }>

/** `$sort`, stable. `comesAfter(a, b)`: whether `a` belongs after `b`. */
export async function sortBy(list: readonly unknown[], comesAfter: Callable | undefined): Promise<unknown[]> {
  if (comesAfter === undefined) return sortPlain(list)
  let from = [...list]
  let to: unknown[] = new Array(list.length)
  for (let width = 1; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) await mergeRuns(from, to, start, width, comesAfter)
    ;[from, to] = [to, from]
  }
  return from
}

async function mergeRuns(from: unknown[], to: unknown[], start: number, width: number, comesAfter: Callable) {
  const middle = Math.min(start + width, from.length)
  const end = Math.min(start + 2 * width, from.length)
  let left = start
  let right = middle
  for (let index = start; index < end; index++) {
    const takeRight = left >= middle || (right < end && (await comesAfter(from[left], from[right])))
    to[index] = takeRight ? from[right++] : from[left++]
  }
}

function sortPlain(list: readonly unknown[]): unknown[] {
  const numbers = list.every((item) => typeof item === 'number')
  if (!numbers && !list.every((item) => typeof item === 'string')) {
    throw new LimitReached('$sort without a function takes a list of numbers or a list of texts')
  }
  return [...list].sort(compare)
}

/** Texts by UTF-16 code units, as `<` compares them. */
const compare = (a: unknown, b: unknown): number => {
  if (a === b) return 0
  return (a as string) < (b as string) ? -1 : 1
}

/** `list^(terms)`: stable; items without a key come last whatever the direction. */
export async function orderBy(list: readonly unknown[], terms: readonly OrderTerm[]): Promise<unknown[]> {
  const rows: { item: unknown; keys: unknown[] }[] = []
  for (const item of list) {
    const keys: unknown[] = []
    for (const { keyOf } of terms) keys.push(checkedKey(await keyOf(item)))
    rows.push({ item, keys })
  }
  terms.forEach((_, index) => {
    checkOneType(rows.map(({ keys }) => keys[index]))
  })
  rows.sort((a, b) => compareRows(a.keys, b.keys, terms))
  return rows.map(({ item }) => item)
}

function compareRows(a: readonly unknown[], b: readonly unknown[], terms: readonly OrderTerm[]): number {
  for (const [index, { descending }] of terms.entries()) {
    const [left, right] = [a[index], b[index]]
    if (left === right) continue
    if (left === undefined) return 1
    if (right === undefined) return -1
    return descending ? -compare(left, right) : compare(left, right)
  }
  return 0
}

function checkedKey(key: unknown): unknown {
  if (key === undefined || typeof key === 'string' || typeof key === 'number') return key
  throw new LimitReached('The terms of an order-by must be numbers or texts')
}

function checkOneType(keys: readonly unknown[]): void {
  const types = new Set(keys.filter((key) => key !== undefined).map((key) => typeof key))
  if (types.size > 1) throw new LimitReached('A term of an order-by gives numbers for some items and texts for others')
}

/** The list without items that equal an earlier one; the order of an object's names makes no difference. */
export function distinctItems(list: readonly unknown[]): unknown[] {
  sizeOf(list, new WeakMap())
  const seen = new Set<unknown>()
  return list.filter((item) => {
    const key = isFunction(item) ? item : identityOf(item)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** A key that is the same for equal JSON values, whatever the order of an object's names, and differs for all others. */
export function identityOf(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' && value !== null ? canonicalText(value) : value
}

function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${canonicalText(item)}`).join(',')}}`
}
