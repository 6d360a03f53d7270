/** Values as HL7 v2 messages in the encoding ER7: the reverse of `readHl7`. */
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { TooLong, Unwritable } from './body-faults.ts'
import { KEPT, SEGMENT_NAME } from './hl7v2-read.ts'
import {
  DEFAULT_ENCODING,
  DEFAULT_FIELD,
  type Delimiters,
  decodeText,
  encodeCharset,
  encodeText,
  findCharset,
  parseDelimiters,
  UTF_8,
} from './hl7v2-text.ts'

const FORMAT = 'HL7V2'
/** Characters. The number of a field says how many come before it, so a short value may ask for any length. */
const LENGTH_MAX = 2 ** 28
const NUMBER = /^[1-9][0-9]{0,8}$/
const SUBCOMPONENT = /^([1-9][0-9]{0,8})&([1-9][0-9]{0,8})$/
const COUNTED_COMPONENT = /^[1-9][0-9]{0,8}&$/

/** Why a member of a value cannot have this key, whatever object it is in. */
export function keyFault(key: string): string | undefined {
  const plain = key.endsWith(KEPT.raw) ? key.slice(0, -KEPT.raw.length) : key
  const isKnown =
    SEGMENT_NAME.test(plain) ||
    SUBCOMPONENT.test(plain) ||
    NUMBER.test(plain) ||
    COUNTED_COMPONENT.test(key) ||
    Object.values<string>(KEPT).includes(key)
  if (isKnown) return undefined
  return `"${key}" is neither the name of a segment, such as PID, nor the number of a field or a component; choose one of these.`
}

/**
 * Writes a value: as text if it is UTF-8, else as bytes. In place of a list, its one element is taken; in place of a segment or a
 * repetition, the text of its first part.
 *
 * Throws Unwritable, with the place such as `PID[0].5[0].1`, and TooLong.
 */
export function buildHl7(value: Json, limitLength = LENGTH_MAX): string | Uint8Array {
  if (!isObject(value)) throw fault('', 'the value is not an object of segments')
  const { MSH } = value
  const headers = listOf(MSH)
  const header = headers[0] ?? null
  if (header === null) throw fault('', 'the value has no segment MSH')
  if (headers.length > 1) throw fault('MSH[1]', 'a message has one segment MSH')
  const delimiters = readDelimiters(header)
  const charset = chooseCharset(header, value)
  const write = { delimiters, charset, isChecked: false, limit: Math.min(limitLength, LENGTH_MAX) }
  const text = writeMessage(value, write)
  const written = encodeCharset(text, charset)
  if (written !== undefined) return written
  // Only now, since it takes time: the text that has the character is found.
  writeMessage(value, { ...write, isChecked: true })
  throw fault('', `the charset ${charset} cannot hold it`)
}

const fault = (place: string, problem: string): Unwritable => new Unwritable(FORMAT, place, problem)

const listOf = (value: Json | undefined): readonly Json[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]

/** The text at a field's first repetition and component. */
function firstText(segment: Json, field: string): string {
  let value: Json | undefined = isObject(segment) ? segment[field] : field === '1' ? segment : undefined
  value = listOf(value)[0]
  if (isObject(value)) value = value[1]
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}

function readDelimiters(header: Json): Delimiters {
  const field = isObject(header) ? firstText(header, '1') : ''
  const encoding = firstText(header, '2')
  const delimiters = parseDelimiters(field || DEFAULT_FIELD, encoding || DEFAULT_ENCODING)
  if (delimiters !== undefined) return delimiters
  throw fault(
    'MSH[0].2',
    'the delimiters are not different punctuation marks, such as "|" in MSH.1 and "^~\\&" in MSH.2',
  )
}

function chooseCharset(header: Json, value: JsonObject): string {
  const named = firstText(header, '18').trim()
  const kept = value[KEPT.charset]
  if (named === '' && kept === undefined) return UTF_8
  const label = findCharset(named === '' ? String(kept) : named)
  if (label !== undefined) return label
  throw fault(
    named === '' ? KEPT.charset : 'MSH[0].18',
    'the charset is not one that this service writes; name UNICODE UTF-8',
  )
}

type Writing = Readonly<{ delimiters: Delimiters; charset: string; isChecked: boolean; limit: number }>

function writeMessage(value: JsonObject, writing: Writing): string {
  const order = orderSegments(value)
  const ends = readEnds(value[KEPT.ends])
  const before = value[KEPT.before]
  let text = typeof before === 'string' ? before : ''
  if (!/^\uFEFF?[\r\n]*$/.test(text)) throw fault(KEPT.before, 'there is more than a byte order mark and line ends')
  for (const [at, { name, index, segment }] of order.entries()) {
    const isLast = at === order.length - 1
    text += writeSegment(name, segment, `${name}[${index}]`, { ...writing, limit: writing.limit - text.length })
    text += (isLast ? ends.at(-1) : ends[Math.min(at, Math.max(0, ends.length - 2))] || '\r') ?? '\r'
    if (text.length > writing.limit) throw new TooLong(FORMAT, `${name}[${index}]`, text.length, writing.limit)
  }
  return text
}

function readEnds(value: Json | undefined): readonly string[] {
  const ends = listOf(value)
  const isEnd = (end: Json, at: number): end is string =>
    typeof end === 'string' && /^[\r\n]*$/.test(end) && (end !== '' || at === ends.length - 1)
  if (ends.every(isEnd)) return ends as readonly string[]
  throw fault(KEPT.ends, 'the end of a segment is made of carriage returns and line feeds')
}

type Placed = Readonly<{ name: string; index: number; segment: Json }>

/** The segments in the order of `segments`, those that it does not have behind the last of their name. MSH comes first. */
function orderSegments(value: JsonObject): readonly Placed[] {
  const left = new Map<string, Placed[]>()
  for (const [name, segments] of Object.entries(value)) {
    if (SEGMENT_NAME.test(name)) {
      const placed = listOf(segments).map((segment, index) => ({ name, index, segment }))
      left.set(name, placed.filter(({ segment }) => segment !== null).reverse())
    } else if (name !== KEPT.order && name !== KEPT.before && name !== KEPT.ends && name !== KEPT.charset) {
      throw fault('', `"${name}" cannot be the name of a segment, which has three capital letters or digits`)
    }
  }
  const order = ['MSH', ...listOf(value[KEPT.order])]
  const last = new Map(order.map((name, at) => [name, at]))
  const placed: Placed[] = []
  const take = (name: string, count: number): void => {
    const segments = left.get(name)
    for (let taken = 0; taken < count; taken += 1) {
      const segment = segments?.pop()
      if (segment === undefined) return
      placed.push(segment)
    }
  }
  for (const [at, name] of order.entries()) {
    if (typeof name === 'string') take(name, last.get(name) === at ? Infinity : 1)
  }
  for (const name of left.keys()) take(name, Infinity)
  return placed
}

function writeSegment(name: string, segment: Json, place: string, writing: Writing): string {
  const text = joinFields(name, segment, place, writing, true)
  // What was kept of a text may begin a segment only where it was not read.
  const isSound = !text.includes('\n') || !writing.delimiters.endsSegment.test(text)
  return isSound ? text : joinFields(name, segment, place, writing, false)
}

function joinFields(name: string, segment: Json, place: string, writing: Writing, keepsRaw: boolean): string {
  const { field, encoding } = writing.delimiters
  const isHeader = name === 'MSH'
  const fields: JsonObject = isObject(segment) ? segment : { [isHeader ? 3 : 1]: segment }
  if (Array.isArray(segment)) throw fault(place, 'a segment is an object of field numbers')
  let text = isHeader ? name + field + encoding : name
  let number = isHeader ? 2 : 0
  const addSeparators = (to: number): void => {
    if (text.length + to - number > writing.limit) {
      throw new TooLong(FORMAT, place, text.length + to - number, writing.limit)
    }
    text += field.repeat(to - number)
    number = to
  }
  // In the order of the numbers: so objects list them.
  for (const key of Object.keys(fields)) {
    if (key === KEPT.fields) continue
    if (!NUMBER.test(key)) throw fault(place, `"${key}" is not the number of a field`)
    const inner = fields[key]
    if ((isHeader && Number(key) <= 2) || inner === null || inner === undefined) continue
    const written = writeField(inner, `${place}.${key}`, writing, keepsRaw)
    if (written === '') continue
    addSeparators(Number(key))
    text += written
  }
  const count = countOf(fields[KEPT.fields])
  if (count > number) addSeparators(count)
  return text
}

/** A count that is none says nothing. */
const countOf = (value: Json | undefined): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0

function writeField(value: Json, place: string, writing: Writing, keepsRaw: boolean): string {
  if (!Array.isArray(value)) return writeRepetition(value, place, writing, keepsRaw)
  if (value.length === 1) return writeRepetition(value[0] ?? null, `${place}[0]`, writing, keepsRaw)
  const { repetition } = writing.delimiters
  if (repetition === undefined && value.length > 1) {
    throw fault(place, 'the field has several repetitions, and the message has no delimiter for these')
  }
  return value.map((one: Json, at) => writeRepetition(one, `${place}[${at}]`, writing, keepsRaw)).join(repetition)
}

function writeRepetition(value: Json, place: string, writing: Writing, keepsRaw: boolean): string {
  if (value === null) return ''
  if (Array.isArray(value)) throw fault(place, 'a repetition is an object of component numbers')
  if (!isObject(value)) return writeText(value, undefined, place, writing)
  return writeComponents(value, writing) ?? writeParts(value, place, writing, keepsRaw)
}

/** Most repetitions have texts under small numbers alone, in whose order objects list them. Undefined for any other, or a fault. */
function writeComponents(value: JsonObject, { delimiters, isChecked }: Writing): string | undefined {
  if (isChecked) return undefined
  let text = ''
  let number = 1
  for (const key of Object.keys(value)) {
    const inner = value[key]
    if (typeof inner !== 'string' || !SMALL_NUMBER.test(key)) return undefined
    const written = encodeText(inner, delimiters)
    const at = Number(key)
    if (written === undefined || (at > 1 && delimiters.component === undefined)) return undefined
    if (written === '') continue
    text += at === number ? written : (delimiters.component ?? '').repeat(at - number) + written
    number = at
  }
  return text
}

const SMALL_NUMBER = /^[1-9][0-9]?$/

function writeParts(value: JsonObject, place: string, writing: Writing, keepsRaw: boolean): string {
  const parts = new Map<number, Map<number, string>>()
  const counts = new Map<number, number>()
  let components = 0
  for (const [key, inner] of Object.entries(value)) {
    if (key === KEPT.components) components = countOf(inner)
    else if (COUNTED_COMPONENT.test(key)) counts.set(Number(key.slice(0, -1)), countOf(inner))
    else if (!key.endsWith(KEPT.raw) && inner !== null) {
      const [component, subcomponent] = readPlace(key, place)
      const raw = keepsRaw ? value[key + KEPT.raw] : undefined
      const text = writeText(inner, raw, `${place}.${key}`, writing)
      const subcomponents = parts.get(component)
      if (subcomponents === undefined) parts.set(component, new Map([[subcomponent, text]]))
      else subcomponents.set(subcomponent, text)
    }
  }
  const { component, subcomponent } = writing.delimiters
  const texts = new Map<number, string>()
  for (const number of new Set([...parts.keys(), ...counts.keys()])) {
    const written = join(parts.get(number), counts.get(number) ?? 0, subcomponent, place, writing)
    if (written !== '') texts.set(number, written)
  }
  return join(texts, components, component, place, writing)
}

function readPlace(key: string, place: string): readonly [component: number, subcomponent: number] {
  if (NUMBER.test(key)) return [Number(key), 1]
  const [, component, subcomponent] = SUBCOMPONENT.exec(key) ?? []
  if (subcomponent === undefined || subcomponent === '1') {
    throw fault(place, `"${key}" is not the number of a component, such as "4", or of a subcomponent, such as "4&2"`)
  }
  return [Number(component), Number(subcomponent)]
}

/** Joins parts by their numbers; the last one has the number `count` at least. */
function join(
  parts: ReadonlyMap<number, string> | undefined,
  count: number,
  separator: string | undefined,
  place: string,
  { limit }: Writing,
): string {
  let text = ''
  let number = 1
  const addSeparators = (to: number): void => {
    if (separator === undefined && to > 1) throw fault(place, 'the message has no delimiter for so many parts')
    if (text.length + to - number > limit) throw new TooLong(FORMAT, place, text.length + to - number, limit)
    text += (separator ?? '').repeat(to - number)
    number = to
  }
  const sorted = parts === undefined ? [] : [...parts].sort(([one], [other]) => one - other)
  for (const [at, part] of sorted) {
    if (part === '') continue
    addSeparators(at)
    text += part
  }
  if (count > number) addSeparators(count)
  return text
}

/** `raw`: how the text was written, which is used as long as it says the same. */
function writeText(value: Json, raw: Json | undefined, place: string, writing: Writing): string {
  if (typeof value === 'object') throw fault(place, 'the value is no text, number or flag')
  const text = String(value)
  const { delimiters, charset } = writing
  if (writing.isChecked) refuseUnheld(text, charset, place)
  if (typeof raw === 'string' && isRaw(raw, delimiters) && decodeText(raw, delimiters, charset) === text) return raw
  const encoded = encodeText(text, delimiters)
  if (encoded !== undefined) return encoded
  throw fault(place, 'the text needs an escape sequence, and the delimiters of the message have no escape character')
}

/** Nothing in it would end the part, or the message. */
const isRaw = (raw: string, { field, component, repetition, subcomponent }: Delimiters): boolean =>
  ![field, component, repetition, subcomponent, '\r', '\x1c'].some((one) => one !== undefined && raw.includes(one))

function refuseUnheld(text: string, charset: string, place: string): void {
  if (encodeCharset(text, charset) !== undefined) return
  for (const character of text) {
    if (encodeCharset(character, charset) !== undefined) continue
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    throw fault(place, `the charset ${charset} cannot hold the character U+${code}`)
  }
}
