/**
 * The record of a message that ended done as a line of text. Most records are of that kind, and hold nothing but the
 * course of the message: as bytes they wait and travel for a fraction of what objects cost while they are waiting.
 */
import type { RecordedSource } from './message-record.ts'
import type { StageSpan } from './trace.ts'

const COLUMN_END = '\u001f'
const LINE_END = '\n'

/** None of the values can hold the characters that part them: JSON escapes both. */
export const doneLine = (
  id: string,
  endpointId: string,
  source: RecordedSource,
  status: number,
  course: string,
): string => `${id}\u001f${endpointId}\u001f${source}\u001f${status}\u001f${course}\n`

/** `start`: of `courseStart`. Times are in microseconds there. */
export function courseOf(start: string, ms: number, stages: readonly StageSpan[]): string {
  let text = `${start}${microseconds(ms)},[`
  for (let at = 0; at < stages.length; at += 1) {
    const { stage, startMs, endMs } = stages[at] as StageSpan
    text += `${at === 0 ? '' : ','}["${stage}",${microseconds(endMs - startMs)}]`
  }
  return `${text}]]`
}

/** The name of the endpoint and its version. */
export const courseStart = (endpoint: string | undefined, version: number | undefined): string =>
  `[${endpoint === undefined ? null : JSON.stringify(endpoint)},${version ?? null},`

export const microseconds = (ms: number): number => Math.round(ms * 1000)

/** The columns of each line. */
export function* columnsOf(text: string): Generator<string[]> {
  let start = 0
  for (let end = text.indexOf(LINE_END); end !== -1; end = text.indexOf(LINE_END, start)) {
    yield text.slice(start, end).split(COLUMN_END)
    start = end + 1
  }
}
