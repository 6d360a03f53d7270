/**
 * Tests that show no person: the texts and numbers of what a message was given are replaced by others of the same shape, by
 * simple rules, and what is expected is what a run with them does.
 */
import { createHmac } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { MASK, REDACTED } from '../../core/secrets/secrets.ts'
import { STAMPS } from '../../core/stored-document.ts'
import { Unreadable, Unwritable } from '../../formats/body-faults.ts'
import type { Codec } from '../../formats/codec.ts'
import { codecForFormat, codecForHeader, FORMATS, sniff } from '../../formats/codecs.ts'
import { expectationFromRun, type WrittenExpectation } from './expectation-of-record.ts'

type WrittenTest = Readonly<{ given: JsonObject }> & WrittenExpectation

const ENDS_OTHERWISE = {
  path: 'given',
  reason:
    'With pseudonyms the message ends otherwise than it did, since the document depends on its values; the test expects what a run with them did.',
}

/**
 * In: the test with the values of the message; what a run of it did, undefined if there is none; the document; the run of
 * another `given`; a secret of this test. Out: the test with pseudonyms. If the message ends otherwise with them, `losses`
 * says so.
 */
export async function pseudonymise(
  written: WrittenTest,
  snapshot: JsonObject | undefined,
  document: JsonObject,
  run: (given: JsonObject) => Promise<JsonObject | undefined>,
  key: Uint8Array,
): Promise<WrittenTest> {
  const { tables } = written.given
  const kept = collectLiterals(tables === undefined ? document : { ...document, tables })
  const given = pseudonymousGiven(written.given, createPseudonyms(key, kept), document)
  const ran = await run(given)
  const losses = describeEnding(ran) === describeEnding(snapshot) ? written.losses : [...written.losses, ENDS_OTHERWISE]
  return { given, expect: written.expect.todo === true ? written.expect : expectationFromRun(ran), losses }
}

/** What two runs have in common that differ in values only. */
function describeEnding(snapshot: JsonObject | undefined): string {
  const { outcome, answer, calls, deliveries, failure } = snapshot ?? {}
  const { status, body = null } = isObject(answer) ? answer : {}
  const { code, stage, path } = isObject(failure) ? failure : {}
  const ids = [calls, deliveries].map((made) =>
    Array.isArray(made) ? made.map((one) => (isObject(one) ? [one.id, one.item] : [])) : [],
  )
  return JSON.stringify([outcome, status, code, stage, path, ids, toForm(body)])
}

/** A value without its texts and numbers, and without the names that get pseudonyms. */
const toForm = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(toForm)
  if (isObject(value))
    return Object.entries(value).map(([name, member]) => [NAME_WITH_DATA.test(name) ? '' : name, toForm(member)])
  return typeof value === 'boolean' || value === null ? value : typeof value
}

/** Headers that describe the exchange, not its content: others, such as `content-disposition`, may name a person. */
const OF_EXCHANGE =
  /^(?:accept(?:-.*)?|content-(?:type|length|encoding|language)|user-agent|cache-control|prefer|traceparent|tracestate)$/

type Pseudonyms = ReturnType<typeof createPseudonyms>

function pseudonymousGiven(given: JsonObject, { value, shiftMs }: Pseudonyms, document: JsonObject): JsonObject {
  const exchange = (parts: Json, undeclared?: Codec): Json =>
    changeMembers(parts, (part, name) => {
      if (name === 'body' && typeof part === 'string') {
        return changeInFormat(part, findDeclared(parts, document) ?? undeclared, value) ?? value(part)
      }
      if (name === 'headers')
        return changeMembers(part, (text, header) => (OF_EXCHANGE.test(header) ? text : value(text)))
      if (name === 'timestamps') return changeMembers(part, shifted)
      return name === 'body' || name === 'query' || name === 'urlParams' ? value(part) : part
    })
  const shifted = (at: Json) => new Date(Date.parse(String(at)) + shiftMs).toISOString()
  const answers = (all: Json): Json =>
    changeMembers(all, (answer) => (Array.isArray(answer) ? answer.map((one) => exchange(one)) : exchange(answer)))
  const { message = {}, lookups, responses, tables, now } = given
  return {
    message: exchange(message, inputCodec(document)),
    ...(lookups === undefined ? {} : { lookups: answers(lookups) }),
    ...(responses === undefined ? {} : { responses: answers(responses) }),
    ...(tables === undefined ? {} : { tables }),
    now: shifted(now ?? null),
  }
}

/** The format that a message or an answer declares, if the names in its texts must stay. */
function findDeclared(parts: Json, document: JsonObject): Codec | undefined {
  const { contentType, headers } = isObject(parts) ? parts : {}
  const declared = contentType ?? (isObject(headers) ? headers['content-type'] : undefined)
  return typeof declared === 'string' ? codecForHeader(declared, document) : undefined
}

/** A message without a type is in the format of its endpoint. */
function inputCodec(document: JsonObject): Codec | undefined {
  const { input } = isObject(document.transformation) ? document.transformation : {}
  const format = FORMATS.find((name) => name === input)
  return format && codecForFormat(format, document)
}

const changeMembers = (value: Json, change: (member: Json, name: string) => Json): Json =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member, name)]))
    : value

/** Weeks, so that the days of the week stay. */
const MIN_WEEKS = 26
const MAX_WEEKS = 260

/** The attempts to find a pseudonym that no other input has. Two digits give no more than 90. */
const MAX_ATTEMPTS = 200

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

// What only looks like a date or a time, such as 4567-12-89 or 99:88:77, is a number of something and must not stay.
const YEAR = '(?:1[89]|20)\\d\\d'
const MONTH = '(?:0[1-9]|1[0-2])'
const DAY = '(?:0[1-9]|[12]\\d|3[01])'
const HOUR = '(?:[01]\\d|2[0-3])'
const SIXTIETH = '[0-5]\\d'
const FRACTION = '(?:\\.\\d{1,9})?'
const ZONE = '(?:[+-](?:0\\d|1[0-4]):?(?:00|15|30|45))?'

/** Digits before or behind a date or a time show that it is a part of a longer number, such as that of a phone. */
const START = '(?<!\\d|\\d-)'
const END = '(?!\\d|-\\d)'
/** A date of XML may have a zone: 1985-03-04-05:00. */
const END_OR_ZONE = `(?!\\d|-\\d(?!\\d:${SIXTIETH}${END}))`

/** References to characters that XML and HTML have: not each `&name;`, which may be a name. */
const REFERENCE =
  '&(?:#\\d{2,6}|#x[0-9a-f]{2,5}|amp|lt|gt|quot|apos|nbsp|szlig|[a-z]{1,2}(?:uml|acute|grave|circ|tilde|cedil|ring|slash|lig));'

/** The kinds of parts of a text; the first that matches at a place holds. What none matches stays. */
const PARTS = [
  // Percent-encoded bytes, references to characters, and the schemes of URLs and names.
  `(?<kept>%[0-9a-f]{2}|${REFERENCE}|^(?:urn:(?:oid|uuid|ietf|iso):|(?:https?|ftp|mailto|tel|sftp):))`,
  '(?<hex>(?<![\\p{L}\\d])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\\p{L}\\d]))',
  // Before digits and words: of 9f8e7d6c5b4a3f2e, each digit and each letter alone would stay.
  '(?<hex>(?<![\\p{L}\\d])(?=[a-f]*\\d)(?=\\d*[a-f])[0-9a-f]{16,}(?![\\p{L}\\d]))',
  // These stand for no date.
  `(?<kept>${START}(?:9999-12-31|0001-01-01)${END})`,
  `${START}(?<isoYear>${YEAR})(?<isoMark>[-/.])(?<isoMonth>${MONTH})\\k<isoMark>(?<isoDay>${DAY})(?!\\k<isoMark>\\d(?!\\d:))${END_OR_ZONE}`,
  `${START}(?<isoYear>${YEAR})(?<isoMark>-)(?<isoMonth>${MONTH})${END}`,
  `${START}(?<hl7Year>${YEAR})(?<hl7Month>${MONTH})(?<hl7Day>${DAY})(?<hl7Time>(?:${HOUR}${SIXTIETH}(?:${SIXTIETH}${FRACTION})?${ZONE})?)${END}`,
  `(?<weekday>(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?)${START}(?<day>${DAY}|[1-9])(?<mark>[ -])(?<month>${MONTHS.join('|')})\\k<mark>(?<year>${YEAR})(?<zone>(?: ${HOUR}:${SIXTIETH}(?::${SIXTIETH})?(?!:?\\d))?(?: (?:GMT|UTC))?)${END}`,
  `${START}(?<first>${DAY}|[1-9])(?<sign>[./-])(?<second>${DAY}|[1-9])\\k<sign>(?<ofYear>${YEAR})(?!\\k<sign>\\d)${END}`,
  // No address of a device, such as 12:34:56:78:90:ab.
  `(?<kept>${START}(?<!\\d:|\\b[\\da-f]{2}:)${HOUR}:${SIXTIETH}(?::${SIXTIETH}${FRACTION})?(?:Z|${ZONE})${END}(?!:[\\da-f]))`,
  // A number that is filled up with zeros is still the same number.
  '(?<kept>0+(?=\\d))',
  '(?<digits>\\p{Nd}+)',
  '(?<word>\\p{L}[\\p{L}\\p{M}]*)',
]
const PART = new RegExp(PARTS.join('|'), 'giu')

/** A name of a member that holds data: such as a map by number of patient. */
const NAME_WITH_DATA = /\d{4}|@/

/** Members whose values name a format, not a person. */
const OF_FORMAT = /^(?:xmlns(?::.*)?|resourceType)$/

/**
 * The same input gives the same output everywhere in one test: an identifier stays the same in body, URL and lookups. Dates
 * whose parts are certain move by the same number of days; in 05/06/1980, day and month change up to 12. `kept`: texts that the
 * document itself names.
 */
export function createPseudonyms(key: Uint8Array, kept: ReadonlySet<string>) {
  const computeHash = (text: string): Buffer => createHmac('sha256', key).update(text).digest()
  const days = -7 * (MIN_WEEKS + (computeHash('days').readUInt32BE() % (MAX_WEEKS - MIN_WEEKS + 1)))
  const known = new Map<string, string>()
  const taken = new Set<string>()

  /** The same token in other letters gets the same pseudonym in these letters. */
  function pseudonym(token: string, isHex = false): string {
    const canonical = token.toLowerCase()
    let found = known.get(canonical)
    for (let attempt = 0; found === undefined; attempt += 1) {
      const other = inShapeOf(canonical, computeHash(`${attempt} ${canonical}`), isHex)
      const isFree = other !== canonical && !kept.has(other) && !taken.has(other)
      if (isFree || (attempt >= MAX_ATTEMPTS && other !== canonical)) found = other
    }
    known.set(canonical, found)
    taken.add(found)
    return isHex && /[A-F]/.test(token) ? found.toUpperCase() : matchCase(token, found)
  }

  /** One digit is a code or an exponent. */
  const digitsOf = (digits: string): string => (digits.length === 1 || kept.has(digits) ? digits : pseudonym(digits))

  function part(all: string, groups: Groups): string {
    const { kept: constant, hex, digits, word } = groups
    if (constant !== undefined) return all
    if (hex !== undefined) return pseudonym(hex, true)
    if (digits !== undefined) return digitsOf(digits)
    // One letter of an alphabet is a code, such as M or F.
    if (word !== undefined) return kept.has(word) || /^(?!\p{Lo})\p{L}$/u.test(word) ? word : pseudonym(word)
    // The calendar has no 30 February.
    return moveDate(groups, days) ?? all.replace(/[1-9]\d+/g, digitsOf)
  }

  function text(given: string): string {
    if (kept.has(given) || kept.has(given.trim())) return given
    if (/^(?:19|20)\d\d$/.test(given)) return String(movedYear(Number(given), days))
    const nested = changeNested(given, value)
    return nested ?? given.replace(PART, (all: string, ...rest) => part(all, rest.at(-1)))
  }

  function number(given: number): number {
    if (Number.isInteger(given) && Math.abs(given) < 10) return given
    const written = String(Math.abs(given))
    if (!/^\d+(?:\.\d+)?$/.test(written) || kept.has(String(given))) return given
    // A last zero would not be written.
    return Number(text(written).replace(/(\.\d*)0$/, '$15')) * (given < 0 ? -1 : 1)
  }

  function value(given: Json): Json {
    if (typeof given === 'string') return text(given)
    if (typeof given === 'number') return number(given)
    if (Array.isArray(given)) return given.map(value)
    if (!isObject(given)) return given
    return Object.fromEntries(
      Object.entries(given).map(([name, member]) => [
        NAME_WITH_DATA.test(name) ? text(name) : name,
        OF_FORMAT.test(name) ? member : value(member),
      ]),
    )
  }

  return { value, shiftMs: days * 86_400_000 }
}

/** Changes the values in a text of a known format; undefined for any other text. */
const changeNested = (text: string, change: (value: Json) => Json): string | undefined =>
  changeInFormat(text, sniff(text), change)

/** Undefined if the text is not in the format. */
function changeInFormat(text: string, codec: Codec | undefined, change: (value: Json) => Json): string | undefined {
  try {
    const changed = codec?.rewrite(
      Buffer.from(text),
      undefined,
      (value) => codec.keepKind?.(change(value), value) ?? change(value),
    )
    return changed && Buffer.from(changed).toString()
  } catch (thrown) {
    if (thrown instanceof Unreadable || thrown instanceof Unwritable) return undefined
    throw thrown
  }
}

/** A lower-case text with other digits and letters; those of other scripts become Latin ones. */
function inShapeOf(text: string, hash: Buffer, isHex: boolean): string {
  let bytes = hash
  return [...text]
    .map((char, index) => {
      if (index > 0 && index % bytes.length === 0) bytes = createHmac('sha256', hash).update(`${index}`).digest()
      const byte = bytes[index % bytes.length] ?? 0
      if (char === '-') return char
      if (/\p{Nd}/u.test(char)) return index === 0 ? String(1 + (byte % 9)) : String(byte % 10)
      return String.fromCharCode(97 + (byte % (isHex ? 6 : 26)))
    })
    .join('')
}

function matchCase(text: string, pseudonym: string): string {
  const chars = [...text]
  return [...pseudonym].map((char, index) => (/\p{Lu}/u.test(chars[index] ?? '') ? char.toUpperCase() : char)).join('')
}

type Groups = Readonly<Record<string, string | undefined>>

/** The date of a part of a text, moved; undefined if it is not valid. */
function moveDate(groups: Groups, days: number): string | undefined {
  const { isoYear, isoMark, isoMonth, isoDay, hl7Year, hl7Month, hl7Day, hl7Time } = groups
  if (isoYear !== undefined) {
    return moved([isoYear, isoMonth, isoDay ?? '15'], days)
      ?.slice(0, isoDay === undefined ? 2 : 3)
      .join(isoMark)
  }
  if (hl7Year !== undefined) {
    const date = moved([hl7Year, hl7Month, hl7Day], days)
    return date && `${date.join('')}${hl7Time}`
  }
  const { weekday, day = '', mark, month = '', year, zone, first = '', sign, second = '', ofYear } = groups
  if (year !== undefined) {
    const index = MONTHS.findIndex((name) => name.toLowerCase() === month.toLowerCase())
    const [newYear, newMonth, newDay] = moved([year, String(index + 1), day], days) ?? []
    return (
      newYear &&
      `${weekday}${[inWidthOf(day, Number(newDay)), MONTHS[Number(newMonth) - 1], newYear].join(mark)}${zone}`
    )
  }
  const isDayFirst = Number(first) > 12 || (sign === '.' && Number(second) <= 12)
  if (isDayFirst || Number(second) > 12) {
    const date = moved([ofYear, isDayFirst ? second : first, isDayFirst ? first : second], days)
    if (date === undefined) return undefined
    const [newYear, ...others] = date
    const [one, other] = isDayFirst ? others.reverse() : others
    return [inWidthOf(first, Number(one)), inWidthOf(second, Number(other)), newYear].join(sign)
  }
  // Some write the day first, others the month: so both become at most 12.
  const turned = (text: string) => inWidthOf(text, 1 + ((Number(text) - days) % 12))
  return [turned(first), turned(second), movedYear(Number(ofYear), days)].join(sign)
}

const inWidthOf = (text: string, number: number): string => String(number).padStart(text.length, '0')

const movedYear = (year: number, days: number): number => year + Math.round(days / 365 - 0.5)

/** In and out: year, month and day. Undefined if they are no date. */
function moved(date: readonly (string | undefined)[], days: number): readonly string[] | undefined {
  const [year = 0, month = 0, day = 0] = date.map(Number)
  const time = Date.UTC(year, month - 1, day)
  if (new Date(time).getUTCMonth() !== month - 1 || day === 0) return undefined
  return new Date(time + days * 86_400_000).toISOString().slice(0, 10).split('-')
}

/** Texts of JSON that stand for other values, and what stands in place of redacted ones. */
const ALWAYS = ['true', 'false', 'null', REDACTED, MASK]

/** The texts and numbers within an expression or a path. */
const IN_TEXTS = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(?<![\w.])(-?\d+(?:\.\d+)?)(?![\w.])/g

/** What is written about the document, which no message is compared with. */
const ABOUT = new Set([...STAMPS, 'name', 'description'])

/**
 * The values that a document itself names: enums of its schema, codes of its mapping, texts in its expressions, words in the
 * patterns of its schema. Out: texts, and numbers as texts. Values of messages that equal one of them say nothing about a person.
 */
export function collectLiterals(document: JsonObject): ReadonlySet<string> {
  const found = new Set(ALWAYS)
  const add = (value: Json, part: string): void => {
    if (typeof value === 'number') found.add(String(value))
    else if (typeof value === 'string') {
      found.add(value)
      for (const [, double, single, number] of value.matchAll(IN_TEXTS)) found.add(double ?? single ?? number ?? '')
    } else if (Array.isArray(value)) for (const item of value) add(item, part)
    else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        // The names are the codes that `mapCodes` maps.
        if (name === 'parameters' && isObject(member)) for (const code of Object.keys(member)) found.add(code)
        // Digits of a pattern are mostly counts and ranges. Paths and topics name no values.
        if (name !== 'pattern' || typeof member !== 'string' || !WITH_PATTERNS.has(part))
          add(member, part === 'requests' && name === 'validation' ? 'inputValidation' : part)
        else if (part === 'inputValidation') for (const word of wordsOfPattern(member)) found.add(word)
      }
    }
  }
  for (const [name, member] of Object.entries(document)) if (!ABOUT.has(name)) add(member, name)
  return found
}

/** The parts of a document whose members `pattern` are patterns, not values. */
const WITH_PATTERNS = new Set(['inputValidation', 'endpoint', 'requests'])

/** The parts of a pattern whose letters stand for others, such as `\d`, `[abc]` and the names of groups. */
const NO_WORDS = /\\p\{[^}]*\}|\\.|\[(?:[^\]\\]|\\.)*\]|\(\?P?<\w+>/giu

/** Shorter ones are more often a part of a name than a code. */
const wordsOfPattern = (pattern: string): readonly string[] => pattern.replace(NO_WORDS, ' ').match(/\p{L}{3,}/gu) ?? []
