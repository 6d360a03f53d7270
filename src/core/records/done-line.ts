/**
 * The record of a message that ended done as one line of text. Stores keep many such lines in one row, so this is the
 * format of stored data.
 */

import type { StageName } from '../tracing/stages.ts'
import type { StageSpan } from '../tracing/trace.ts'
import type { MessageRecord, RecordedSource } from './message-record.ts'

/** JSON escapes both characters, so no column holds one. */
const COLUMN_END = '\u001f'
const LINE_END = '\n'

type DoneLine = Readonly<{
  /** Of `doneHead`. */
  head: string
  id: string
  ms: number
  stages: readonly StageSpan[]
  /** Of `restText`. */
  rest?: string
}>

/** The part of a line that the messages of an endpoint share: all between the id and the duration. */
export function doneHead(
  endpointId: string,
  source: RecordedSource,
  status: number,
  endpoint: string | undefined,
  version: number | undefined,
): string {
  return ['', endpointId, source, status, detailStart(endpoint, version)].join(COLUMN_END)
}

/** Gives the line with its line end. Its last column is the detail of the record: `detailStart`, durations, `restText`. */
export function doneLine({ head, id, ms, stages, rest = '' }: DoneLine): string {
  let durations = ''
  for (const { stage, startMs, endMs } of stages) {
    if (durations !== '') durations += ','
    durations += stageText(stage, endMs - startMs)
  }
  return `${id}${head}${microseconds(ms)},[${durations}]${rest}]${LINE_END}`
}

/** The name of the endpoint and its version. */
export const detailStart = (endpoint: string | undefined, version: number | undefined): string =>
  `[${endpoint === undefined ? null : JSON.stringify(endpoint)},${version ?? null},`

export const stageText = (stage: StageName, ms: number): string => `["${stage}",${microseconds(ms)}]`

/** Rounded; 0 for a negative duration. */
export const microseconds = (ms: number): number => (ms > 0 ? Math.round(ms * 1000) : 0)

export type RecordRest = Pick<
  MessageRecord,
  'path' | 'error' | 'triedAgain' | 'keys' | 'calls' | 'callsOmitted' | 'answerOf' | 'bodies'
>

/** The other properties of a record, with a comma before them; empty if the record has none of them. */
export function restText({ path, error, triedAgain, keys, calls, callsOmitted, answerOf, bodies }: RecordRest): string {
  const isShort = path === undefined && error === undefined && answerOf === undefined
  if (isShort && calls.length === 0 && bodies.length === 0 && isEmpty(keys)) return ''
  return `,${JSON.stringify({ path, error, triedAgain, keys, calls, callsOmitted, answerOf, bodies })}`
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}

/** No column may hold a character below U+0020: texts are written as JSON or as `keyText`. */
export const lineOf = (columns: readonly (string | number)[]): string => columns.join(COLUMN_END) + LINE_END

/** The columns of each line. */
export function* columnsOf(text: string): Generator<string[]> {
  let start = 0
  for (let end = text.indexOf(LINE_END); end !== -1; end = text.indexOf(LINE_END, start)) {
    yield text.slice(start, end).split(COLUMN_END)
    start = end + 1
  }
}
