/** Newline-delimited JSON: a JSON value in each line (https://github.com/ndjson/ndjson-spec). */
import { isUtf8 } from 'node:buffer'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { TooLong, Unreadable } from './body-faults.ts'
import type { Codec } from './codec.ts'
import { findDuplicateNames, MAX_DEPTH, parseJson } from './json-read.ts'
import { type NameLimits, tooManyNames } from './name-limits.ts'
import { rewriteBody } from './rewrite-body.ts'
import { takeRows } from './rows.ts'
import { decodeText } from './text.ts'

export const NDJSON_CODEC = {
  name: 'NDJSON',
  title: 'JSON, one value in each line (NDJSON)',
  mediaType: 'application/x-ndjson',
  profiles: {},
  aliases: ['application/ndjson', 'application/jsonl', 'application/x-jsonlines'],
  suffix: 'ndjson',
  fileEndings: ['.ndjson', '.jsonl'],
  sample: '{ "id": "17" }\n{ "id": "18" }\n',
  accept: 'application/x-ndjson, application/json;q=0.9, */*;q=0.8',
  read,
  // Each line begins as JSON does.
  looksLike: undefined,
  detect: () => undefined,
  build,
  buildFailure: (body) => `${JSON.stringify(body)}\n`,
  findRoot: () => undefined,
  hasTypes: true,
  schemaNotes: {
    read: 'The schema describes the value that the lines are read as: `rows` is the list of their values.',
    written: 'The schema describes the value that is written: a line for each element of `rows`.',
  },
  failureKeywords: {},
  emptyAnswer: '',
  nullBody: undefined,
  rewrite,
  pathFault: undefined,
  markers: [],
  keyFault: () => undefined,
} as const satisfies Codec

/** `rows` is around each value. */
const ROW_DEPTH = MAX_DEPTH - 2

/** Of shorter bodies, no names can be too many, and what is empty takes little memory. */
const SHORT_BYTES = 1_048_576
const MIN_BYTES_PER_NAME = 5

function read(bytes: Uint8Array, charset: string | undefined, limits: NameLimits = {}): JsonObject {
  const { parserMaxNames: max = Number.POSITIVE_INFINITY } = limits
  const isCounted = bytes.byteLength > SHORT_BYTES || bytes.byteLength >= MIN_BYTES_PER_NAME * max
  const total = { names: 0, containers: 0 }
  const rows: Json[] = []
  for (const { text, line } of linesIn(bytes, charset)) {
    const row = parseLine(text, line, limits)
    rows.push(row)
    if (!isCounted) continue
    count(row, total)
    if (total.names > max)
      throw tooManyNames('The lines have more members', max, 'PARSER_MAX_NAMES', ` at line ${line}`)
    if (bytes.byteLength > SHORT_BYTES && Math.max(total.containers, rows.length) > max) {
      throw tooManyNames('The lines have more objects and arrays', max, 'PARSER_MAX_NAMES', ` at line ${line}`)
    }
  }
  return { rows }
}

/** For the parser, each line is a text whose places are in its first line. */
function parseLine(text: string, line: number, limits: NameLimits): Json {
  try {
    return parseJson(text, ROW_DEPTH, limits)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    const located = (sentence: string) => sentence.replace(/\bat line 1, column (\d+)/, `at line ${line}, column $1`)
    throw new Unreadable(thrown.reason, located(thrown.message), located(thrown.unquoted))
  }
}

function count(value: Json, total: { names: number; containers: number }): void {
  if (typeof value !== 'object' || value === null) return
  total.containers += 1
  const members = Object.values(value)
  if (isObject(value)) total.names += members.length
  for (const member of members) count(member, total)
}

const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf)

/** The lines that are not blank, counted from 1. Only one of them is a text at a time: all together may be very long. */
function* linesIn(bytes: Uint8Array, charset: string | undefined): Generator<Readonly<{ text: string; line: number }>> {
  const isPlain = (charset === undefined || charset === 'utf-8') && isUtf8(bytes)
  const buffer = isPlain
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : Buffer.from(decodeText(bytes, charset))
  let start = buffer.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  for (let line = 1; start < buffer.length; line++) {
    const found = buffer.indexOf(LINE_FEED, start)
    const end = found === -1 ? buffer.length : found
    const text = buffer.toString('utf8', start, end)
    if (text.trim() !== '') yield { text, line }
    start = end + 1
  }
}

function build(value: Json, limitLength = Number.POSITIVE_INFINITY): string {
  const lines: string[] = []
  let length = 0
  takeRows(NDJSON_CODEC.name, value).forEach((row, index) => {
    const line = JSON.stringify(row)
    length += line.length + 1
    if (length > limitLength) throw new TooLong(NDJSON_CODEC.name, `rows[${index}]`, length, limitLength)
    lines.push(line, '\n')
  })
  return lines.join('')
}

/** As with JSON, a repeated name hides all its values but the last. */
function rewrite(
  bytes: Uint8Array,
  charset: string | undefined,
  change: (value: Json) => Json,
  limits?: NameLimits,
): Uint8Array | undefined {
  const value = read(bytes, charset, limits)
  for (const { text } of linesIn(bytes, charset)) if (findDuplicateNames(text).length > 0) return undefined
  return rewriteBody(bytes, value, change, build)
}
