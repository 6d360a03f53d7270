/** HL7 v2 messages in the encoding ER7, as values from which `buildHl7` makes the same bytes. */
import { isUtf8 } from 'node:buffer'
import type { Json, JsonObject } from '../core/json.ts'
import { Unreadable } from './body-faults.ts'
import {
  type Delimiters,
  decodeText as decodeEscapes,
  encodeText,
  findCharset,
  isPlain,
  LATIN_1,
  parseDelimiters,
  UTF_8,
} from './hl7v2-text.ts'
import { type NameLimits, tooManyNames } from './name-limits.ts'
import { decodeText } from './text.ts'

export const SEGMENT_NAME = /^[A-Z0-9]{3}$/

/**
 * What a value has beside segments, fields and components, and only where it differs from what is written without it. No name of
 * these is one of HL7.
 */
export const KEPT = {
  /** Of the message: the names of its segments in order; always there. */
  order: 'segments',
  /** Of the message: a byte order mark and line ends before MSH. */
  before: 'before',
  /** Of the message: how segments end, unless all end in a carriage return: all; or all but the last, and the last; or each. */
  ends: 'ends',
  /** Of the message: its charset, if MSH-18 names none and it is not UTF-8. */
  charset: 'charset',
  /** Of a segment: the number of its fields, if the last is empty. */
  fields: '|',
  /** Of a repetition: the number of its components, if the last is empty. */
  components: '^',
  /** Behind the number of a component: the number of its subcomponents, if the last is empty. */
  subcomponents: '&',
  /** Behind the key of a text: how it was written, if the same text is usually written otherwise. */
  raw: '\\',
} as const

type Fields = Record<string, Json>

/**
 * Reads a message. `charset`: of its media type, for a message that names none; without both it is UTF-8 if it is valid as that,
 * else ISO-8859-1.
 *
 * Throws Unreadable: `malformed` with the number of the segment, `too-many` beyond `limits`.
 */
export function readHl7(bytes: Uint8Array, charset: string | undefined, limits: NameLimits = {}): JsonObject {
  const start = findStart(bytes)
  const own = bytes.subarray(start)
  const { delimiters, named } = readHeader(own)
  const label = chooseCharset(own, named, hasMark(bytes) ? UTF_8 : charset)
  if (hasMark(bytes) && label !== UTF_8) {
    throw malformed('The message starts with the byte order mark of UTF-8, and its charset (MSH-18) is another.')
  }
  const segments = splitSegments(decodeText(own, label), delimiters)
  const before = Buffer.from(bytes.subarray(0, start)).toString()
  return {
    segments: segments.map(({ name }) => name),
    ...(before === '' ? {} : { before }),
    ...keptEnds(segments.map(({ end }) => end)),
    ...(named === '' && label !== UTF_8 ? { charset: label } : {}),
    ...readSegments(segments, delimiters, label, limits),
  }
}

const malformed = (what: string): Unreadable => new Unreadable('malformed', what)

const LF = 0x0a
const CR = 0x0d
const MARK = [0xef, 0xbb, 0xbf]

const hasMark = (bytes: Uint8Array): boolean => MARK.every((byte, index) => bytes[index] === byte)

/** Behind a byte order mark and line ends. */
function findStart(bytes: Uint8Array): number {
  let at = hasMark(bytes) ? MARK.length : 0
  while (bytes[at] === LF || bytes[at] === CR) at += 1
  if (bytes[at] === FRAME_START || bytes.includes(FRAME_END)) {
    throw malformed('The message has a control character that frames messages (MLLP); send it without its frame.')
  }
  if (Buffer.from(bytes.subarray(at, at + 3)).toString('latin1') !== 'MSH') {
    throw malformed('An HL7 v2 message starts with the segment MSH, and segment 1 is none.')
  }
  return at
}

/** Elsewhere it is the vertical tab of a text, as in a frame. */
const FRAME_START = 0x0b
const FRAME_END = 0x1c

/**
 * The delimiters, and what MSH-18 names: '' for nothing. Every charset that is read has ASCII in it, so that MSH can be read before
 * the charset is known.
 */
function readHeader(bytes: Uint8Array): Readonly<{ delimiters: Delimiters; named: string }> {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1')
  const field = head.charAt(3)
  const encoding = head.slice(4, 16).split(/[\r\n]/, 1)[0] ?? ''
  const delimiters = parseDelimiters(field, field === '' ? '' : (encoding.split(field, 1)[0] ?? ''))
  if (delimiters === undefined) throw malformed(WITHOUT_DELIMITERS)
  const first = segmentEnds(head, delimiters).next().value
  const end = first?.index ?? head.length
  // What follows decides whether a line feed ends it.
  const isCut = bytes.length > HEAD_BYTES && (first === undefined || first.index + first.run.length > HEAD_BYTES - 4)
  if (isCut) throw malformed(`Segment 1 (MSH) is longer than ${HEAD_BYTES} bytes.`)
  const value = head.slice(0, end).split(field, MSH_18)[MSH_18 - 1] ?? ''
  const { component, repetition, subcomponent } = delimiters
  const ends = [component, repetition, subcomponent].flatMap((one) => (one === undefined ? [] : [value.indexOf(one)]))
  const length = Math.min(value.length, ...ends.filter((index) => index !== -1))
  return { delimiters, named: value.slice(0, length).trim() }
}

const MSH_18 = 18
const HEAD_BYTES = 65_536

function chooseCharset(bytes: Uint8Array, named: string, declared: string | undefined): string {
  if (named === '' && declared === undefined) return isUtf8(bytes) ? UTF_8 : LATIN_1
  const label = findCharset(named === '' ? (declared ?? '') : named)
  if (label !== undefined) return label
  const where = named === '' ? 'Content-Type' : 'MSH-18'
  throw malformed(
    `The charset that ${where} names is not one that this service reads; send the message as UNICODE UTF-8.`,
  )
}

const WITHOUT_DELIMITERS =
  'Segment 1 (MSH) does not begin with different punctuation marks as delimiters, such as "MSH|^~\\&|".'

/** `fields`: behind the name. `end`: what ends it. */
type Segment = Readonly<{ name: string; text: string; end: string }>

/** A line feed alone ends a segment only where another begins, or the message ends: some systems send texts with line feeds. */
function* segmentEnds(text: string, { nextSegment }: Delimiters): Generator<{ index: number; run: string }, undefined> {
  for (const { 0: run, index } of text.matchAll(/[\r\n]+/g)) {
    nextSegment.lastIndex = index + run.length
    if (run.includes('\r') || nextSegment.lastIndex === text.length || nextSegment.test(text)) yield { index, run }
  }
}

function splitSegments(text: string, delimiters: Delimiters): readonly Segment[] {
  const { field, encoding } = delimiters
  const segments: Segment[] = []
  const headerLength = 4 + encoding.length
  const add = (from: number, to: number, end: string): void => {
    const name = text.slice(from, from + 3)
    const at = `Segment ${segments.length + 1}`
    if (!SEGMENT_NAME.test(name) || (to > from + 3 && text[from + 3] !== field)) {
      throw malformed(`${at} does not begin with a name of three capital letters or digits and the field separator.`)
    }
    if (segments.length > 0 && name === 'MSH') {
      throw malformed(`${at} is the start of another message (MSH); send one message at a time.`)
    }
    const isCutHeader = segments.length === 0 && to > headerLength && text[headerLength] !== field
    if (isCutHeader) throw malformed(WITHOUT_DELIMITERS)
    segments.push({ name, text: text.slice(from, to), end })
  }
  let from = 0
  for (const { index, run } of segmentEnds(text, delimiters)) {
    add(from, index, run)
    from = index + run.length
  }
  if (from < text.length) add(from, text.length, '')
  return segments
}

function keptEnds(all: readonly string[]): JsonObject {
  const last = all.at(-1) ?? ''
  const others = new Set(all.slice(0, -1))
  const [first = last] = others
  if (others.size > 1) return { ends: all }
  if (first !== last) return { ends: [first, last] }
  return first === '\r' ? {} : { ends: [first] }
}

function readSegments(
  segments: readonly Segment[],
  delimiters: Delimiters,
  charset: string,
  { parserMaxNames = Infinity, parserMaxNamesPerObject = Infinity }: NameLimits,
): JsonObject {
  const { field, component, repetition, subcomponent } = delimiters
  const read: Record<string, Json[]> = {}
  let names = 0
  let segmentNumber = 0

  /** Out: how many of the names of one object there are now. */
  const count = (inObject: number): number => {
    names += 1
    const where = ` at segment ${segmentNumber}`
    if (names > parserMaxNames)
      throw tooManyNames(
        'The message has more segments, fields and components',
        parserMaxNames,
        'PARSER_MAX_NAMES',
        where,
      )
    if (inObject < parserMaxNamesPerObject) return inObject + 1
    const what = 'A segment or a field of the message has more parts'
    throw tooManyNames(what, parserMaxNamesPerObject, 'PARSER_MAX_NAMES_PER_OBJECT', where)
  }

  const addText = (target: Fields, key: string, raw: string): void => {
    if (isPlain(raw, delimiters)) {
      target[key] = raw
      return
    }
    const text = decodeEscapes(raw, delimiters, charset)
    target[key] = text
    // Nothing was decoded: what makes the text special would be written as an escape.
    if (text === raw || encodeText(text, delimiters) !== raw) target[key + KEPT.raw] = raw
  }

  /** Adds the subcomponents of a component. Out: the number of names. */
  const addComponent = (target: Fields, key: string, raw: string, before: number): number => {
    if (subcomponent === undefined || !raw.includes(subcomponent)) {
      addText(target, key, raw)
      return count(before)
    }
    let inObject = before
    const last = eachPart(raw, subcomponent, (part, number) => {
      inObject = count(inObject)
      addText(target, number === 1 ? key : `${key}&${number}`, part)
    })
    if (last === undefined) return inObject
    target[key + KEPT.subcomponents] = last
    return count(inObject)
  }

  const readRepetition = (raw: string): Json => {
    const target: Fields = {}
    if (component === undefined || !raw.includes(component)) {
      if (raw !== '') addComponent(target, '1', raw, 0)
      return target
    }
    let inObject = 0
    const last = eachPart(raw, component, (part, number) => {
      inObject = addComponent(target, String(number), part, inObject)
    })
    if (last !== undefined) target[KEPT.components] = last
    return target
  }

  const readField = (raw: string): readonly Json[] => {
    if (repetition === undefined || !raw.includes(repetition)) return [readRepetition(raw)]
    const list: Json[] = []
    for (let at = 0; at <= raw.length; ) {
      const end = raw.indexOf(repetition, at)
      const to = end === -1 ? raw.length : end
      count(0)
      list.push(readRepetition(raw.slice(at, to)))
      at = to + 1
    }
    return list
  }

  for (const { name, text } of segments) {
    segmentNumber += 1
    count(0)
    const isHeader = segmentNumber === 1
    const target: Fields = isHeader ? { 1: [{ 1: field }], 2: [{ 1: delimiters.encoding }] } : {}
    // MSH-1 is the separator itself: the first field behind the encoding characters is MSH-3.
    const first = isHeader ? 5 + delimiters.encoding.length : 4
    const shift = isHeader ? 2 : 0
    let inObject = 0
    if (text.length >= first) {
      const last = eachPart(text.slice(first), field, (part, number) => {
        inObject = count(inObject)
        target[String(number + shift)] = readField(part)
      })
      if (last !== undefined) target[KEPT.fields] = last + shift
    }
    const list = read[name]
    if (list === undefined) read[name] = [target]
    else list.push(target)
  }
  return read
}

/** Calls `visit` for each part that is not empty, numbered from 1. Out: the number of parts, if the last one is empty. */
function eachPart(text: string, separator: string, visit: (part: string, number: number) => void): number | undefined {
  let number = 1
  let at = 0
  for (let end = text.indexOf(separator); end !== -1; end = text.indexOf(separator, at)) {
    if (end > at) visit(text.slice(at, end), number)
    number += 1
    at = end + 1
  }
  if (at === text.length) return number
  visit(text.slice(at), number)
  return undefined
}
