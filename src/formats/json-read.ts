/** JSON of messages and endpoint documents: bounded in depth, with faults that name their line and column. */
import type { Json } from '../core/json.ts'
import { documentPath } from '../core/lint.ts'
import { letOthersRun } from '../core/slice.ts'
import { Unreadable } from './body-faults.ts'
import { closingQuote, type JsonVisitor, scanJson, scanJsonInSlices } from './json-scan.ts'
import { type NameLimits, refuseManyMembers, tooManyNames } from './name-limits.ts'

/** The levels of nesting that a message may have, in any format. */
export const MAX_DEPTH = 64

/**
 * JSON.parse takes some 50 ns for each level of nesting. In a longer text the levels are counted first, which is faster by the
 * factor of twenty if they are too many, but takes half as long as JSON.parse if they are not.
 */
export const SHORT_TEXT = 1_048_576
/** Some milliseconds of scanning. */
const SLICE_CHARACTERS = 131_072

/**
 * Parses a JSON text (RFC 8259). Names such as `__proto__` become plain own properties; the last of a repeated name counts.
 *
 * Throws Unreadable: `too-deep` beyond `levels` nested objects and arrays, even if the text is malformed after them;
 * else `malformed`, with the line and column of the first wrong character, or of a number beyond the range of doubles,
 * which would be written as null. `too-many` beyond `limits`.
 */
export function parseJson(text: string, levels = MAX_DEPTH, limits?: NameLimits): Json {
  if (limits?.parserMaxNames !== undefined) refuseManyMembers(text, limits.parserMaxNames)
  if (text.length > SHORT_TEXT) refuseTooDeep(text, levels, limits?.parserMaxNames)
  let value: Json
  try {
    value = JSON.parse(text)
  } catch {
    refuseTooDeep(text, levels)
    throw malformed(text, scanJson(text))
  }
  if (isBeyond(value, levels, limits?.parserMaxNamesPerObject ?? Infinity)) {
    refuseTooDeep(text, levels)
    refuseTooLarge(text)
  }
  return value
}

/**
 * True if a value is nested deeper than `levels` or has an infinite number. A text has far more characters than values.
 * Throws Unreadable for an object with more than `maxNames`.
 */
function isBeyond(value: Json, levels: number, maxNames: number): boolean {
  if (typeof value === 'number') return value === Infinity || value === -Infinity
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (isArray(value)) {
    for (let at = 0; at < value.length; at++) if (isBeyond(value[at] ?? null, levels - 1, maxNames)) return true
    return false
  }
  let names = 0
  for (const name in value) {
    names += 1
    if (names > maxNames) {
      throw tooManyNames('An object of the JSON has more members', maxNames, 'PARSER_MAX_NAMES_PER_OBJECT')
    }
    if (isBeyond(value[name] ?? null, levels - 1, maxNames)) return true
  }
  return false
}

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value)

/** Each object or array takes some 50 bytes, so a text of empty ones takes twenty times its length: no more than `max`. */
function refuseTooDeep(text: string, levels: number, max = Number.POSITIVE_INFINITY): void {
  let depth = 0
  let count = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = closingQuote(text, at)
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++count > max) throw tooManyNames('The JSON has more objects and arrays', max, 'PARSER_MAX_NAMES')
        if (++depth > levels) {
          throw new Unreadable(
            'too-deep',
            `The JSON is nested deeper than ${levels} levels ${position(text, at)}; send it in a flatter form.`,
          )
        }
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
    }
  }
}

/** The text is well-formed, so a digit or minus outside of strings starts a number. */
function refuseTooLarge(text: string): void {
  const stringOrNumber = /"|-?\d[\d.eE+-]*/g
  for (let token = stringOrNumber.exec(text); token !== null; token = stringOrNumber.exec(text)) {
    if (token[0] === '"') stringOrNumber.lastIndex = closingQuote(text, token.index) + 1
    else if (!Number.isFinite(Number(token[0]))) {
      throw new Unreadable(
        'malformed',
        `The JSON has a number beyond 1.8e308 ${position(text, token.index)}; send a smaller one, or send it as a text.`,
      )
    }
  }
}

/** `at`: what scanJson gives for the text. */
export function malformed(text: string, at: number | undefined): Unreadable {
  if (at === undefined) return new Unreadable('malformed', 'The JSON is not well-formed.')
  if (at < text.length) {
    const isClosing = text[at] === '}' || text[at] === ']'
    if (isClosing && text.slice(0, at).trimEnd().endsWith(',')) {
      const what = `there is a comma before the "${text[at]}" ${position(text, at)}; remove the comma.`
      return new Unreadable('malformed', `The JSON is not well-formed: ${what}`)
    }
    const missing = missingBefore(text, at)
    if (missing !== undefined) {
      const what = `there is no ${missing} before the '${text[at]}' ${position(text, at)}; add one.`
      return new Unreadable('malformed', `The JSON is not well-formed: ${what}`)
    }
    return new Unreadable('malformed', `The JSON is not well-formed: unexpected character ${position(text, at)}.`)
  }
  const fault = text.trim() === '' ? 'The JSON is empty' : 'The JSON ends before it is complete'
  return new Unreadable('malformed', `${fault}, ${position(text, at)}.`)
}

/** What would make the value that starts at `at` possible. Only for texts that people write, since it reads them again. */
function missingBefore(text: string, at: number): string | undefined {
  if (at > SHORT_TEXT || !'"{['.includes(text.charAt(at))) return undefined
  const isMissing = (sign: string) => scanJson(`${text.slice(0, at)}${sign}`) === at + 1
  return isMissing(',') ? 'comma' : isMissing(':') ? 'colon' : undefined
}

/** `at line 2, column 7`; both count from 1. */
export function position(text: string, index: number): string {
  let line = 1
  let lineStart = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < index; end = text.indexOf('\n', lineStart)) {
    line++
    lineStart = end + 1
  }
  return `at line ${line}, column ${index - lineStart + 1}`
}

/**
 * The names that one object holds more than once, each with its path (`inputTransforms.age`), in the order of the text.
 * JSON.parse drops all members of a name but the last.
 *
 * In: well-formed JSON. Names are compared decoded, so `"\u0061"` repeats `"a"`.
 */
export function findDuplicateNames(text: string): readonly DuplicateName[] {
  return repeatedNames(text).map(toDuplicate)
}

/** The same, with others running in between. */
export async function findDuplicateNamesInSlices(text: string): Promise<readonly DuplicateName[]> {
  const repeated: RepeatedName[] = []
  for (const _ of scanJsonInSlices(text, SLICE_CHARACTERS, collectRepeated(repeated))) await letOthersRun()
  return repeated.map(toDuplicate)
}

export type DuplicateName = Readonly<{ place: string; name: string }>

const toDuplicate = ({ steps, name }: RepeatedName): DuplicateName => ({ place: documentPath('', ...steps), name })

/** A member that JSON.parse drops, since a later one has its name; `steps` lead to it from the outermost value. */
export type DroppedMember = Readonly<{ steps: readonly (string | number)[]; value: Json }>

/** In: well-formed JSON. Out: every dropped member, those of one name together. */
export function findDroppedMembers(text: string): readonly DroppedMember[] {
  return repeatedNames(text).flatMap(({ steps, literals }) =>
    literals.slice(0, -1).map((literal) => ({ steps, value: JSON.parse(textAfter(text, literal)) })),
  )
}

/** The text of a member of the outermost object, or undefined. In: well-formed JSON. */
export function memberText(text: string, wanted: string): string | undefined {
  let depth = 0
  let found: number | undefined
  scanJson(text, {
    open: () => void depth++,
    close: () => void depth--,
    name: (literal, at) => {
      if (depth === 1 && JSON.parse(literal) === wanted) found = at
    },
    item: () => {},
  })
  return found === undefined ? undefined : textAfter(text, found)
}

/** Of the value of the member whose name starts at `literal`. */
function textAfter(text: string, literal: number): string {
  const rest = text.slice(text.indexOf(':', closingQuote(text, literal)) + 1)
  return rest.slice(0, scanJson(rest))
}

type RepeatedName = Readonly<{ steps: readonly (string | number)[]; name: string; literals: readonly number[] }>

function repeatedNames(text: string): readonly RepeatedName[] {
  const repeated: RepeatedName[] = []
  scanJson(text, collectRepeated(repeated))
  return repeated
}

function collectRepeated(repeated: RepeatedName[]): JsonVisitor {
  // Most names occur once, so only a repeated one gets a list.
  const open: { step: string | number; names: Map<string, number | number[]> }[] = []
  return {
    open: (kind) => void open.push({ step: kind === 'array' ? 0 : '', names: new Map() }),
    close: () => void open.pop(),
    item: () => {
      const array = open.at(-1)
      if (typeof array?.step === 'number') array.step++
    },
    name: (literal, at) => {
      const object = open.at(-1)
      if (object === undefined) return
      // To parse each of many names takes longer than all else here.
      const name: string = literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1)
      const earlier = object.names.get(name)
      object.step = name
      if (earlier === undefined) object.names.set(name, at)
      else if (typeof earlier !== 'number') earlier.push(at)
      else {
        const literals = [earlier, at]
        object.names.set(name, literals)
        repeated.push({ steps: open.map(({ step }) => step), name, literals })
      }
    },
  }
}
