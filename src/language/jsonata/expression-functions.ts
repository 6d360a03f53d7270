/**
 * The engine's built-ins behind guards: its own limits are looked at between steps of an expression only, so that one
 * call of `$pad`, `$join` or `$toMillis` could fill the memory or never return.
 */
import { LimitReached } from './expression-fault.ts'
import { type Callable, distinctItems, orderBy, sortBy } from './expression-order.ts'
import { isFunction, sizeOf, TEXT_LIMIT, tooLong } from './expression-size.ts'

/** A built-in as the engine keeps it. */
export type BuiltIn = { implementation: (this: Focus, ...args: unknown[]) => unknown; signature?: unknown }

/** `this` of a built-in. */
export type Focus = { createSequence(...items: unknown[]): unknown[]; input: unknown; environment: unknown }

/** What a guard may ask of the evaluation under way. */
export type ArgumentGuard = Readonly<{ maxSequence: number; checkTime(): void }>

export const BUILT_INS = (
  'abs append assert average base64decode base64encode boolean ceil clone contains count decodeUrl decodeUrlComponent ' +
  'distinct each encodeUrl encodeUrlComponent error eval exists filter floor formatBase formatInteger formatNumber ' +
  'fromMillis join keys length lookup lowercase map match max merge millis min not now number pad parseInteger power ' +
  'random reduce replace reverse round shuffle sift single sort split spread sqrt string substring substringAfter ' +
  'substringBefore sum toMillis trim type uppercase zip'
).split(' ')

/** Name of the built-in that stands for `^( … )`; no expression can write it. */
export const ORDER_BY = '\0orderBy'

const PICTURE_LIMIT = 256

/** Looked at before a call; each throws LimitReached for arguments that the built-in would not survive. */
const BEFORE: Readonly<Record<string, (...args: unknown[]) => void>> = {
  clone: (value) => sizeOf(value, new WeakMap()),
  string: (value) => sizeOf(value, new WeakMap()),
  pad: (_text, width, filler) => {
    if (Math.abs(Number(width)) * Math.max(1, textOf(filler).length) > TEXT_LIMIT) throw tooLong()
  },
  join: (list, separator) => {
    if (!Array.isArray(list)) return
    let length = textOf(separator).length * list.length
    for (const item of list) length += textOf(item).length
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

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Pictures name widths: `[Y,9-999999999]` would be written out. */
function checkPicture(picture: unknown): void {
  const text = textOf(picture)
  if (text.length > PICTURE_LIMIT) {
    throw new LimitReached(`A picture may have at most ${PICTURE_LIMIT} characters`)
  }
  if (/\d{4,}/.test(text.replace(/\[Y0001\]|0+/g, ''))) {
    throw new LimitReached('A width in a picture may have at most three digits')
  }
}

/** The engine loops for ever on some symbols that are not one character (XPath functions 3.1, section 4.7.1). */
function checkSymbols(symbols: unknown): void {
  if (typeof symbols !== 'object' || symbols === null) return
  for (const [name, symbol] of Object.entries(symbols)) {
    const words = name === 'infinity' || name === 'NaN'
    if (typeof symbol === 'string' && (words ? symbol.length <= 32 : symbol.length === 1)) continue
    throw new LimitReached(`The symbol "${name.slice(0, 32)}" of $formatNumber must be one character`)
  }
}

/** The engine parses by a backtracking expression made from the picture: what is ambiguous takes time by a power. */
function checkParsing(text: unknown, picture: unknown): void {
  if (textOf(text).length > 100)
    throw new LimitReached('A date, time or number to parse may have at most 100 characters')
  checkPicture(picture)
  const open = textOf(picture).match(/\[[^\]]*\](?=\d)|\[(?![^\]]*\d\d)[^\]]*\](?=\[|[A-Za-z])/g)
  if ((open?.length ?? 0) > 3) {
    throw new LimitReached('The parts of the picture run into each other; give them widths, such as [Y0001][M01]')
  }
}

/** What replaces the engine's own implementation. */
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

/** `$orderBy(list, key, descending, key, descending, …)`, called by the tree that harden makes of `list^( … )`. */
export function orderByBuiltIn(): BuiltIn {
  return {
    implementation(list, ...rest) {
      if (list === undefined) return undefined
      const terms = []
      for (let index = 0; index < rest.length; index += 2) {
        terms.push({ keyOf: bindTo(this, rest[index] as Callable), descending: rest[index + 1] === true })
      }
      return orderBy(Array.isArray(list) ? list : [list], terms).then((items) => inSequence(this, items))
    },
  }
}

/** The built-in with its guards around it: same signature, same parameters, for the engine reads those from its text. */
export function guarded(name: string, original: BuiltIn, guard: ArgumentGuard): BuiltIn {
  const inner = INSTEAD[name] ?? original.implementation
  const before = BEFORE[name]
  const implementation = function (this: Focus, ...args: unknown[]): unknown {
    guard.checkTime()
    for (const argument of args) if (typeof argument === 'string' && argument.length > TEXT_LIMIT) throw tooLong()
    before?.(...args)
    const result = inner.apply(this, args)
    return result instanceof Promise ? result.then((value) => checkResult(value, guard)) : checkResult(result, guard)
  }
  Object.defineProperty(implementation, 'length', { value: original.implementation.length })
  implementation.toString = () => original.implementation.toString()
  return { ...original, implementation }
}

function checkResult(value: unknown, guard: ArgumentGuard): unknown {
  if (typeof value === 'string' && value.length > TEXT_LIMIT) throw tooLong()
  if (Array.isArray(value) && value.length > guard.maxSequence) {
    throw new LimitReached(`The expression builds a list of more than ${guard.maxSequence.toLocaleString('en')} items`)
  }
  return value
}
