/**
 * The record of a message that ended done as a line of text. Most records are of that kind, and hold nothing but the
 * course of the message: as bytes they wait and travel for a fraction of what objects cost while they are waiting.
 */

import type { MessageRecord, RecordedSource } from '../message-record.ts'
import { STAGE_NAMES, type StageName } from '../tracing/stages.ts'
import type { StageSpan } from '../tracing/trace.ts'
import { MOST_DIGITS, writeDigits } from './ascii.ts'

/** None of the values can hold the characters that part them: JSON escapes both. */
const COLUMN_END = '\u001f'
const LINE_END = '\n'

export type DoneLine = Readonly<{
  /** Of `doneHead`: what the messages of an endpoint have in common. */
  head: Uint8Array
  id: string
  ms: number
  stages: readonly StageSpan[]
  /** Of `restText`; left out where there is none. */
  rest?: string
}>

export function doneHead(
  endpointId: string,
  source: RecordedSource,
  status: number,
  endpoint: string | undefined,
  version: number | undefined,
): Uint8Array {
  const columns = ['', endpointId, source, status, courseStart(endpoint, version)]
  return Buffer.from(columns.join(COLUMN_END))
}

/** The name of the endpoint and its version. */
export const courseStart = (endpoint: string | undefined, version: number | undefined): string =>
  `[${endpoint === undefined ? null : JSON.stringify(endpoint)},${version ?? null},`

export const microseconds = (ms: number): number => Math.round(ms * 1000)

type Rest = Pick<
  MessageRecord,
  'path' | 'error' | 'triedAgain' | 'keys' | 'calls' | 'callsOmitted' | 'answerOf' | 'bodies'
>

/** What a record has beside its course, with the comma before it; empty where there is nothing. */
export function restText({ path, error, triedAgain, keys, calls, callsOmitted, answerOf, bodies }: Rest): string {
  const saysNothing = path === undefined && error === undefined && answerOf === undefined
  if (saysNothing && calls.length === 0 && bodies.length === 0 && isEmpty(keys)) return ''
  return `,${JSON.stringify({ path, error, triedAgain, keys, calls, callsOmitted, answerOf, bodies })}`
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}

const ID_BYTES = 24
/** A character of UTF-16 takes at most so many in UTF-8. */
const MOST_OF_CHARACTER = 3
const STAGE_STARTS = Object.fromEntries(STAGE_NAMES.map((stage) => [stage, Buffer.from(`["${stage}",`)])) as Record<
  StageName,
  Buffer
>
const MOST_OF_STAGE = 20 + MOST_DIGITS
const MOST_OF_END = 8 + MOST_DIGITS

/** How many bytes a line takes at most. */
export const mostBytes = ({ head, stages, rest = '' }: DoneLine): number =>
  ID_BYTES + head.length + MOST_OF_END + stages.length * MOST_OF_STAGE + rest.length * MOST_OF_CHARACTER

/** Writes a line into a buffer that has room for it; gives where it ends. Times are in microseconds there. */
export function writeDone({ head, id, ms, stages, rest = '' }: DoneLine, buffer: Buffer, start: number): number {
  let at = start + buffer.write(id, start, ID_BYTES, 'latin1')
  buffer.set(head, at)
  at = writeDigits(buffer, at + head.length, microseconds(ms))
  buffer[at++] = 0x2c // ,
  buffer[at++] = 0x5b // [
  for (let index = 0; index < stages.length; index += 1) {
    const { stage, startMs, endMs } = stages[index] as StageSpan
    if (index > 0) buffer[at++] = 0x2c
    buffer.set(STAGE_STARTS[stage], at)
    at = writeDigits(buffer, at + STAGE_STARTS[stage].length, microseconds(endMs - startMs))
    buffer[at++] = 0x5d // ]
  }
  buffer[at++] = 0x5d
  if (rest !== '') at += buffer.write(rest, at)
  buffer[at++] = 0x5d
  buffer[at++] = 0x0a
  return at
}

/** The columns of each line. */
export function* columnsOf(text: string): Generator<string[]> {
  let start = 0
  for (let end = text.indexOf(LINE_END); end !== -1; end = text.indexOf(LINE_END, start)) {
    yield text.slice(start, end).split(COLUMN_END)
    start = end + 1
  }
}
