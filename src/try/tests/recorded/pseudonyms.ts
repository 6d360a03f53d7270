/**
 * Replaces the texts and numbers of a recorded message by others of the same form, so that its test shows no person. The
 * same input gives the same output everywhere in one case: an identifier stays the same in body, URL and lookups.
 */
import { createHmac } from 'node:crypto'
import { isObject, type Json } from '../../../core/json.ts'
import { DATE_FORMS, shiftYear } from './dates.ts'

export type Pseudonyms = Readonly<{
  /** A text of the same length and form. */
  text(value: string): string
  /** The same value with pseudonyms in place of its texts and numbers. Names of members stay, unless they hold data. */
  value(value: Json): Json
  /** The milliseconds by which dates are moved. */
  shiftMs: number
}>

export type PseudonymOptions = Readonly<{
  /** The secret of one case: another key gives other pseudonyms. */
  key: Uint8Array
  /** Texts that the document itself names, such as the values of an `enum`: they stay. */
  kept: ReadonlySet<string>
  /** Makes the pseudonym of a whole text match the patterns that the text matches. */
  fit?(text: string, pseudonym: string): string
  /** Changes the values in a text that is a document of its own; undefined if it is none. */
  nested?(text: string, change: (value: Json) => Json): string | undefined
}>

/** Weeks, so that the days of the week stay. */
const LEAST_WEEKS = 26
const MOST_WEEKS = 260

/** The attempts to find a pseudonym that no other input has. Two digits give no more than 90. */
const MOST_ATTEMPTS = 200

/** A name of a member that holds data: such as a map by number of patient. */
const NAME_WITH_DATA = /\d{4}|@/

/** Members whose values name a format, not a person. */
const OF_FORMAT = /^(?:xmlns(?::.*)?|resourceType)$/

const SCHEME = /^(?:urn:(?:oid|uuid|ietf|iso):|(?:https?|ftp|mailto|tel|sftp):)/i
/** Percent-encoded bytes, and references to characters of XML. */
const ESCAPE = /%[0-9a-f]{2}|&(?:#\d+|#x[0-9a-f]+|\w+);/iy
const UUID = /(?<![\p{L}\d])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\p{L}\d])/iuy
const HEX = /(?<![\p{L}\d])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{16,}(?![\p{L}\d])/iuy
const LETTERS = /\p{L}[\p{L}\p{M}]*/uy
const DIGITS = /\d+/y
/** Those of other scripts, such as Arabic. */
const OTHER_DIGITS = /(?:(?!\d)\p{Nd})+/uy
const OTHERS = /[^\p{L}\p{Nd}%&]+/uy
/** Scripts in which one character may be the name of a person; one letter of others is a code, such as M or F. */
const OF_WORDS = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u

/** Gives `length` bytes for a token. */
type BytesOf = (token: string, length: number, attempt: number) => Uint8Array

export function createPseudonyms({
  key,
  kept,
  nested,
  fit = (_text, pseudonym) => pseudonym,
}: PseudonymOptions): Pseudonyms {
  const bytesOf: BytesOf = (token, length, attempt) => {
    // A token may be as long as the body: it is hashed once, not for each block.
    const own = createHmac('sha256', key).update(`${attempt} ${token}`).digest()
    if (length <= own.length) return own
    const blocks = Array.from({ length: Math.ceil(length / own.length) }, (_, block) =>
      createHmac('sha256', own).update(String(block)).digest(),
    )
    return Buffer.concat(blocks)
  }
  const random = Buffer.from(bytesOf('days', 4, 0)).readUInt32BE()
  const days = -7 * (LEAST_WEEKS + (random % (MOST_WEEKS - LEAST_WEEKS + 1)))
  const known = new Map<string, number>()
  const taken = new Map<string, string>()

  /** The same token in other letters gets the same pseudonym in these letters. */
  function pseudonymOf(token: string, write: (bytes: Uint8Array) => string): string {
    const canonical = token.toLowerCase()
    const found = known.get(canonical)
    if (found !== undefined) return write(bytesOf(canonical, token.length, found))
    let attempt = 0
    let written = write(bytesOf(canonical, token.length, attempt))
    const isTaken = () => {
      const other = written.toLowerCase()
      return other === canonical || kept.has(written) || taken.has(other)
    }
    while (isTaken() && attempt < MOST_ATTEMPTS) {
      attempt += 1
      written = write(bytesOf(canonical, token.length, attempt))
    }
    known.set(canonical, attempt)
    taken.set(written.toLowerCase(), canonical)
    return written
  }

  const forms: readonly Readonly<{ pattern: RegExp; change(groups: readonly string[]): string | undefined }>[] = [
    { pattern: ESCAPE, change: ([text]) => text },
    { pattern: OTHERS, change: ([text]) => text },
    { pattern: UUID, change: ([text = '']) => pseudonymOf(text, (bytes) => inHex(text, bytes, 14, 19)) },
    ...DATE_FORMS.map(({ pattern, shift }) => ({
      pattern,
      change: (groups: readonly string[]) => shift(groups, days),
    })),
    { pattern: HEX, change: ([text = '']) => pseudonymOf(text, (bytes) => inHex(text, bytes)) },
    { pattern: LETTERS, change: ([text = '']) => word(text) },
    { pattern: DIGITS, change: ([text = '']) => digits(text) },
    { pattern: OTHER_DIGITS, change: ([text = '']) => word(text) },
  ]

  const word = (text: string): string =>
    ([...text].length === 1 && !OF_WORDS.test(text)) || kept.has(text)
      ? text
      : pseudonymOf(text, (bytes) => inLetters(text, bytes))

  /** Zeros at the start stay: a number that is filled up with zeros is still the same number. */
  function digits(text: string): string {
    if (text.length === 1 || kept.has(text)) return text
    const number = text.replace(/^0+(?=\d)/, '')
    const zeros = text.slice(number.length === text.length ? text.length : 0, text.length - number.length)
    if (number.length === 1 || kept.has(number)) return text
    return zeros + pseudonymOf(number, (bytes) => inDigits(number, bytes))
  }

  function changed(text: string): string {
    const [scheme = ''] = SCHEME.exec(text) ?? []
    let written = scheme
    let at = scheme.length
    while (at < text.length) {
      const [length, next] = step(text, at)
      written += next
      at += length
    }
    return written
  }

  function step(text: string, at: number): readonly [length: number, written: string] {
    for (const { pattern, change } of forms) {
      pattern.lastIndex = at
      const found = pattern.exec(text)
      const next = found === null ? undefined : change(found)
      if (found !== null && next !== undefined) return [found[0].length, next]
    }
    return [1, text.charAt(at)]
  }

  function text(given: string): string {
    if (kept.has(given) || kept.has(given.trim())) return given
    return nested?.(given, value) ?? fit(given, shiftYear(given, days) ?? changed(given))
  }

  /** Exponents and values of one digit stay. */
  function number(given: number): number {
    if (Number.isInteger(given) && Math.abs(given) < 10) return given
    const written = String(Math.abs(given))
    if (!/^\d+(?:\.\d+)?$/.test(written) || kept.has(String(given))) return given
    const [whole = '', fraction] = text(written).split('.')
    // A last zero would not be written.
    const changedText = fraction === undefined ? whole : `${whole}.${fraction.replace(/0$/, '5')}`
    return Number(changedText) * (given < 0 ? -1 : 1)
  }

  function value(given: Json): Json {
    if (typeof given === 'string') return text(given)
    if (typeof given === 'number') return number(given)
    if (Array.isArray(given)) return given.map(value)
    if (!isObject(given)) return given
    return Object.fromEntries(
      Object.entries(given).map(([name, member]) => [
        NAME_WITH_DATA.test(name) && !kept.has(name) ? fit(name, changed(name)) : name,
        OF_FORMAT.test(name) ? member : value(member),
      ]),
    )
  }

  return { text, value, shiftMs: days * 86_400_000 }
}

function inDigits(text: string, bytes: Uint8Array): string {
  return [...text].map((_, index) => (index === 0 ? 1 + ((bytes[index] ?? 0) % 9) : (bytes[index] ?? 0) % 10)).join('')
}

/** `fixed`: places that stay, such as the version of a UUID. */
function inHex(text: string, bytes: Uint8Array, ...fixed: readonly number[]): string {
  const isUpper = /[A-F]/.test(text)
  return [...text]
    .map((char, index) => {
      if (char === '-' || fixed.includes(index)) return char
      const digit = ((bytes[index] ?? 0) % 16).toString(16)
      return isUpper ? digit.toUpperCase() : digit
    })
    .join('')
}

function inLetters(text: string, bytes: Uint8Array): string {
  let index = 0
  return [...text]
    .map((char) => {
      const byte = bytes[index] ?? 0
      index += char.length
      if (/[a-z]/.test(char)) return String.fromCharCode(97 + (byte % 26))
      if (/[A-Z]/.test(char)) return String.fromCharCode(65 + (byte % 26))
      return inBlock(char, byte)
    })
    .join('')
}

const CATEGORIES = [/\p{Lu}/u, /\p{Ll}/u, /\p{Lo}/u, /\p{Lm}/u, /\p{Lt}/u, /\p{Nd}/u]

/** Another letter or digit of the same kind from the same 64 code points, which have the same length in UTF-8 and UTF-16. */
function inBlock(char: string, byte: number): string {
  const category = CATEGORIES.find((one) => one.test(char))
  if (category === undefined) return char
  const start = (char.codePointAt(0) ?? 0) & ~63
  // Most bytes find a letter at once; the search goes on from there.
  for (let offset = 0; offset < 64; offset += 1) {
    const other = String.fromCodePoint(start + ((byte + offset) & 63))
    if (category.test(other)) return other
  }
  return char
}
