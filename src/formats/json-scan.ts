/**
 * A walk over JSON text that builds no values. JSON.parse reports neither repeated names nor, without quoting the body,
 * the position of a fault.
 */

/** Called in the order of the text; `at` is the index of the bracket or comma. */
export type JsonVisitor = Readonly<{
  open(kind: Kind, at: number): void
  /** The name of the next member, as written: quoted, with its escapes; `at` is the index of its first quote. */
  name(literal: string, at: number): void
  /** A further element of an array; `open` announces the first. */
  item(at: number): void
  close(at: number): void
}>

type Kind = 'object' | 'array'
type Walk = Readonly<{ text: string; open: Kind[]; visitor: JsonVisitor | undefined }>

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const LITERALS = ['true', 'false', 'null']

/** The result of a scan function: the index after what it read, or `fault(index)` of the first wrong character. */
type Outcome = number
const fault = (index: number): Outcome => ~index
const isFault = (outcome: Outcome): boolean => outcome < 0

/**
 * Out: the index of the first wrong character, the length of the text if that ends too early; undefined if the text is
 * well-formed. Any depth; time linear in the length. RFC 8259 §2 to §7.
 */
export function scanJson(text: string, visitor?: JsonVisitor): number | undefined {
  return scanJsonInSlices(text, Number.POSITIVE_INFINITY, visitor).next().value
}

/** The same, with a pause about every `sliceCharacters` of the text. */
export function* scanJsonInSlices(
  text: string,
  sliceCharacters: number,
  visitor?: JsonVisitor,
): Generator<undefined, number | undefined> {
  const walk: Walk = { text, open: [], visitor }
  let at: Outcome = skipSpace(text, 0)
  let pauseAt = sliceCharacters
  do {
    if (at >= pauseAt) {
      yield
      pauseAt = at + sliceCharacters
    }
    at = scanToValueEnd(walk, at)
    if (!isFault(at)) at = scanToNextValue(walk, at)
  } while (!isFault(at) && walk.open.length > 0)
  if (isFault(at)) return ~at
  return at === text.length ? undefined : at
}

/** The index of the quote that ends the string opened at `start`; the length of the text if it does not end. */
export function closingQuote(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return quote
  }
  return text.length
}

const closingBracket = (kind: Kind): string => (kind === 'object' ? '}' : ']')

/** Reads a scalar; opens objects and arrays up to the first scalar within, or the closing bracket of an empty one. */
function scanToValueEnd({ text, open, visitor }: Walk, start: number): Outcome {
  let at: Outcome = start
  while (!isFault(at) && (text[at] === '{' || text[at] === '[')) {
    const kind = text[at] === '{' ? 'object' : 'array'
    open.push(kind)
    visitor?.open(kind, at)
    at = skipSpace(text, at + 1)
    if (text[at] === closingBracket(kind)) return at
    if (kind === 'object') at = scanName(text, at, visitor)
  }
  return isFault(at) ? at : scanScalar(text, at)
}

/** Closes objects and arrays up to the next value; with none open, up to the end of the text. */
function scanToNextValue({ text, open, visitor }: Walk, start: number): Outcome {
  let at = skipSpace(text, start)
  for (let kind = open.at(-1); kind !== undefined; kind = open.at(-1)) {
    if (text[at] === ',') {
      const next = skipSpace(text, at + 1)
      if (kind === 'object') return scanName(text, next, visitor)
      visitor?.item(at)
      return next
    }
    if (text[at] !== closingBracket(kind)) return fault(at)
    open.pop()
    visitor?.close(at)
    at = skipSpace(text, at + 1)
  }
  return at
}

function scanName(text: string, start: number, visitor: JsonVisitor | undefined): Outcome {
  if (text[start] !== '"') return fault(start)
  const end = scanString(text, start)
  if (isFault(end)) return end
  visitor?.name(text.slice(start, end), start)
  const colon = skipSpace(text, end)
  return text[colon] === ':' ? skipSpace(text, colon + 1) : fault(colon)
}

function scanScalar(text: string, start: number): Outcome {
  if (text[start] === '"') return scanString(text, start)
  const literal = LITERALS.find((word) => text.startsWith(word, start))
  if (literal !== undefined) return start + literal.length
  NUMBER.lastIndex = start
  return NUMBER.test(text) ? NUMBER.lastIndex : fault(start)
}

function scanString(text: string, start: number): Outcome {
  let at = start + 1
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (!(code >= 0x20)) return fault(at) // control characters, and NaN at the end of the text
    if (code === 0x5c) {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(text)) return fault(at)
      at = ESCAPE.lastIndex
    } else at++
  }
}

function skipSpace(text: string, start: number): number {
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at++
  }
}
