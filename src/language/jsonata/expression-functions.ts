/**
 * The engine's built-ins with limits: the engine checks its own limits between the steps of an expression only, so that one
 * call of `$pad`, `$join` or `$toMillis` could fill the memory or never return. Its merge sort keeps every remainder of
 * both halves (gigabytes for 40,000 items), and its `$distinct` compares each item with all before it: both are replaced.
 */
import { Failure } from '../../core/failure.ts'
import type { Json } from '../../core/json.ts'
import type { Translate } from '../../core/tables/table-reads.ts'
import {
  isFunction,
  LimitReached,
  measureSize,
  NotTranslated,
  Rejected,
  TEXT_LIMIT,
  tooLong,
} from './expression-limits.ts'

export type BuiltIn = { implementation: (this: Focus, ...args: unknown[]) => unknown; signature?: unknown }

/** `this` of a built-in. */
export type Focus = { createSequence(...items: unknown[]): unknown[]; input: unknown; environment: unknown }

export type Environment = Readonly<{ lookup(name: string | symbol): unknown }>

/** The limits of the running evaluation that hold for each call. */
export type CallLimits = Readonly<{ maxSequence: number; checkTime(): void }>

const ENGINE_BUILT_INS =
  'abs append assert average base64decode base64encode boolean ceil clone contains count decodeUrl decodeUrlComponent ' +
  'distinct each encodeUrl encodeUrlComponent error eval exists filter floor formatBase formatInteger formatNumber ' +
  'fromMillis join keys length lookup lowercase map match max merge millis min not now number pad parseInteger power ' +
  'random reduce replace reverse round shuffle sift single sort split spread sqrt string substring substringAfter ' +
  'substringBefore sum toMillis trim type uppercase zip'

/** Name of the built-in for `^( … )`; no expression can write it. */
export const ORDER_BY = '\0orderBy'

/** Name of the variable that holds what `$table` asks, a `Translate`; no expression can write it. */
export const TABLES = '\0tables'

const PICTURE_LIMIT = 256

/** Characters of the message of `$fail`, and of its details as JSON. */
const FAIL_LIMIT = 8_192

/** Built-ins that the engine does not have, with their signatures as JSONata writes them. */
export const OWN_BUILT_INS = [
  {
    name: 'fail',
    signature: '<nsx?:x>',
    implementation(status: unknown, message: unknown, details?: unknown): never {
      if (!Number.isInteger(status) || Number(status) < 400 || Number(status) > 599)
        throw new LimitReached('The status of $fail must be a whole number from 400 to 599')
      if (typeof message !== 'string' || message.trim() === '')
        throw new LimitReached('$fail needs a message, a text that is not empty')
      if (message.length > FAIL_LIMIT)
        throw new LimitReached(`The message of $fail has more than ${FAIL_LIMIT.toLocaleString('en')} characters`)
      throw new Rejected(message, { status: Number(status), details: plainDetails(details) })
    },
  },
  {
    name: 'table',
    signature: '<s(snbl)s?x?:x>',
    async implementation(this: Focus, table?: string, code?: unknown, column?: string, missing?: unknown) {
      if (table === undefined) throw new LimitReached('The first argument of $table, the name of a table, is nothing')
      if (code === undefined || code === null || code === '') return undefined
      const translate = (this.environment as Environment).lookup(TABLES) as Translate | undefined
      if (translate === undefined) throw new LimitReached('There are no tables here')
      const mustFind = missing === undefined || missing === 'fail'
      try {
        const found = await translate(sent(table), column && sent(column), sent(String(code)), mustFind)
        return found ?? (missing === 'keep' ? code : missing)
      } catch (thrown) {
        throw thrown instanceof Failure ? new NotTranslated(thrown) : thrown
      }
    },
  },
] as const

export const BUILT_INS = [...ENGINE_BUILT_INS.split(' '), ...OWN_BUILT_INS.map(({ name }) => name)]

/** No table has a longer name, column or code: the rest need not be sent to where the tables are. */
const sent = (text: string): string => text.slice(0, 65_536)

function plainDetails(details: unknown): Json | undefined {
  if (details === undefined) return undefined
  measureSize(details, new WeakMap())
  const text = JSON.stringify(details, (_name, value) => {
    if (isFunction(value)) throw new LimitReached('The details of $fail hold a function')
    return value
  })
  if (text.length > FAIL_LIMIT)
    throw new LimitReached(`The details of $fail have more than ${FAIL_LIMIT.toLocaleString('en')} characters as JSON`)
  return JSON.parse(text)
}

/**
 * Checks before a call: each throws LimitReached for arguments that would take the built-in too long or too much memory.
 */
const BEFORE: Readonly<Record<string, (...args: unknown[]) => void>> = {
  clone: (value) => measureSize(value, new WeakMap()),
  string: (value) => measureSize(value, new WeakMap()),
  pad: (_text, width, filler) => {
    if (Math.abs(Number(width)) * Math.max(1, asText(filler).length) > TEXT_LIMIT) throw tooLong()
  },
  join: (list, separator) => {
    if (!Array.isArray(list)) return
    let length = asText(separator).length * list.length
    for (const item of list) length += asText(item).length
    if (length > TEXT_LIMIT) throw tooLong()
  },
  formatNumber: (_number, picture, symbols) => {
    checkPicture(picture)
    checkSymbols(symbols)
  },
  formatInteger: (_number, picture) => checkPicture(picture),
  parseInteger: (text, picture) => checkParsing(text, picture),
  fromMillis: (_millis, picture) => checkPicture(picture),
  now: (picture) => checkPicture(picture),
  toMillis: (text, picture) => checkParsing(text, picture),
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The engine writes out the widths of a picture: `[Y,9-999999999]` would fill the memory. */
function checkPicture(picture: unknown): void {
  const text = asText(picture)
  if (text.length > PICTURE_LIMIT) {
    throw new LimitReached(`A picture may have at most ${PICTURE_LIMIT} characters`)
  }
  if (/\d{4,}/.test(text.replace(/\[Y0001\]|0+/g, ''))) {
    throw new LimitReached('A width in a picture may have at most three digits')
  }
}

/** The engine never returns for some symbols of more than one character (XPath functions 3.1, section 4.7.1). */
function checkSymbols(symbols: unknown): void {
  if (typeof symbols !== 'object' || symbols === null) return
  for (const [name, symbol] of Object.entries(symbols)) {
    const words = name === 'infinity' || name === 'NaN'
    if (typeof symbol === 'string' && (words ? symbol.length <= 32 : symbol.length === 1)) continue
    throw new LimitReached(`The symbol "${name.slice(0, 32)}" of $formatNumber must be one character`)
  }
}

/** The engine parses with a backtracking expression made from the picture; an ambiguous one takes exponential time. */
function checkParsing(text: unknown, picture: unknown): void {
  if (asText(text).length > 100)
    throw new LimitReached('A date, time or number to parse may have at most 100 characters')
  checkPicture(picture)
  const open = asText(picture).match(/\[[^\]]*\](?=\d)|\[(?![^\]]*\d\d)[^\]]*\](?=\[|[A-Za-z])/g)
  if ((open?.length ?? 0) > 3) {
    throw new LimitReached('The parts of the picture run into each other; give them widths, such as [Y0001][M01]')
  }
}

/** Implementations that replace those of the engine. */
const INSTEAD: Readonly<Record<string, BuiltIn['implementation']>> = {
  distinct(list) {
    if (!Array.isArray(list) || list.length <= 1) return list
    const items = distinctItems(list)
    return 'sequence' in list ? inSequence(this, items) : items
  },
  sort(list, comparator) {
    if (!Array.isArray(list) || list.length <= 1) return list
    return sortBy(list, typeof comparator === 'function' ? bindTo(this, comparator as Callable) : undefined)
  },
  spread(value) {
    return spread(this, value)
  },
}

const bindTo =
  (focus: Focus, callable: Callable): Callable =>
  (...args) =>
    callable.apply(focus, args)

function inSequence(focus: Focus, items: readonly unknown[]): unknown[] {
  const sequence = focus.createSequence()
  for (const item of items) sequence.push(item)
  return sequence
}

function spread(focus: Focus, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isFunction(value)) return value
  if (!Array.isArray(value))
    return inSequence(
      focus,
      Object.entries(value).map(([name, item]) => ({ [name]: item })),
    )
  const parts = value.map((item) => spread(focus, item)).filter((part) => part !== undefined)
  return inSequence(focus, parts.flat(1))
}

/** `$orderBy(list, key, descending, key, descending, …)`; `harden` turns `list^( … )` into a call of it. */
export function orderByBuiltIn(): BuiltIn {
  return {
    implementation(list, ...rest) {
      if (list === undefined) return undefined
      const terms = []
      for (let index = 0; index < rest.length; index += 2) {
        terms.push({ sortKey: bindTo(this, rest[index] as Callable), descending: rest[index + 1] === true })
      }
      return orderBy(Array.isArray(list) ? list : [list], terms).then((items) => inSequence(this, items))
    },
  }
}

/**
 * The built-in with its limits. The engine reads a function's parameters from its text, so the text stays the original's.
 */
export function withLimits(name: string, original: BuiltIn, limits: CallLimits): BuiltIn {
  const inner = INSTEAD[name] ?? original.implementation
  const before = BEFORE[name]
  const implementation = function (this: Focus, ...args: unknown[]): unknown {
    limits.checkTime()
    for (const argument of args) if (typeof argument === 'string' && argument.length > TEXT_LIMIT) throw tooLong()
    before?.(...args)
    const result = inner.apply(this, args)
    return result instanceof Promise ? result.then((value) => checkResult(value, limits)) : checkResult(result, limits)
  }
  Object.defineProperty(implementation, 'length', { value: original.implementation.length })
  implementation.toString = () => original.implementation.toString()
  return { ...original, implementation }
}

function checkResult(value: unknown, { maxSequence }: CallLimits): unknown {
  if (typeof value === 'string' && value.length > TEXT_LIMIT) throw tooLong()
  if (Array.isArray(value) && value.length > maxSequence) {
    throw new LimitReached(`The expression builds a list of more than ${maxSequence.toLocaleString('en')} items`)
  }
  return value
}

type Callable = (...args: unknown[]) => unknown

type OrderTerm = Readonly<{ sortKey: Callable; descending: boolean }>

/** `$sort`, stable. `comesAfter(a, b)`: whether `a` belongs after `b`. */
async function sortBy(list: readonly unknown[], comesAfter: Callable | undefined): Promise<unknown[]> {
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
async function orderBy(list: readonly unknown[], terms: readonly OrderTerm[]): Promise<unknown[]> {
  const rows: { item: unknown; keys: unknown[] }[] = []
  for (const item of list) {
    const keys: unknown[] = []
    for (const { sortKey } of terms) keys.push(checkedKey(await sortKey(item)))
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
function distinctItems(list: readonly unknown[]): unknown[] {
  measureSize(list, new WeakMap())
  const seen = new Set<unknown>()
  return list.filter((item) => {
    const key = isFunction(item) ? item : toEqualityKey(item)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** A key that is the same for equal JSON values, whatever the order of an object's names, and differs for all others. */
export function toEqualityKey(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' && value !== null ? canonicalText(value) : value
}

function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${canonicalText(item)}`).join(',')}}`
}
