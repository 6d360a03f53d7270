/** The records of the message log. */
import type { Source } from '../origin.ts'
import type { MissedCode } from '../tables/table-reads.ts'
import type { StageName } from '../tracing/stages.ts'
import type { CallSpan, NotMade, StageSpan } from '../tracing/trace.ts'

/** One stage, in the order in which they ran. */
export type RecordedStage = Readonly<{ stage: StageName; ms: number }>

/** One outbound call. `target` has no query and no credentials. */
export type RecordedCall = Readonly<
  Pick<CallSpan, 'kind' | 'id' | 'method' | 'target'> & {
    item?: number
    /** Milliseconds after the message started. */
    startMs: number
    ms: number
    status?: number
    /** A note on an answer that was accepted, such as a body that cannot be read. */
    remark?: string
    /** The endpoint of its token, without the query, and where the token came from. */
    token?: NonNullable<CallSpan['token']>
    cached?: true
    stale?: NonNullable<CallSpan['stale']>
    fault?: NonNullable<CallSpan['fault']>
  }
>

export const OUTCOMES = ['done', 'partial', 'refused', 'failed'] as const
export type RecordedOutcome = (typeof OUTCOMES)[number]

/** Longer values of business keys are cut. */
export const MAX_KEY_CHARACTERS = 200

export type MessageRecord = Readonly<{
  /** Time-ordered (core/id.ts). */
  id: string
  /** Left out if no endpoint listens. */
  endpointId?: string
  /** Its name when the message arrived. */
  endpoint?: string
  endpointVersion?: number
  source: Source
  /** ISO 8601 with milliseconds and `Z`: the time in its id, which stores keep only once. */
  startedAt: string
  ms: number
  outcome: RecordedOutcome
  /** HTTP status of the answer. */
  status: number
  /** The code of the failure that was answered. */
  code?: string
  stage?: string
  path?: string
  error?: string
  /** The message is an attempt at a record of a topic, and another attempt followed. */
  triedAgain?: true
  stages: readonly RecordedStage[]
  /** In the order in which they started. */
  calls: readonly RecordedCall[]
  /** How many calls are left out. */
  callsOmitted?: number
  /** The requests that were not made although the message reached their stage, and why. */
  notMade?: readonly NotMade[]
  /** The requests that were stored to be delivered, in order. */
  deliveries?: readonly RecordedDelivery[]
  /** The versions of the tables that it read, by name. */
  tables?: Readonly<Record<string, number>>
  /** Codes that tables had nothing for. */
  missed?: readonly MissedCode[]
  /** Business keys, by the names of the endpoint's `messageKeys`; several values if the path found an array. */
  keys: Readonly<Record<string, string | readonly string[]>>
  /** The message that this one replays. */
  replayOf?: string
  /** The message whose cached response was replayed: this one was not processed. */
  answerOf?: string
  /** A capture of its endpoint recorded it, with all bodies. */
  captured?: true
  /** The recorded bodies, in the order of the stages. */
  bodies: readonly BodySummary[]
}>

/**
 * `incoming`, `lookup.<id>`, `transforms`, `mapped`, `response.<id>`, `answer`; and `request`: the rest of the incoming
 * message (`{ requestHeaders, query, urlParams }`), which its replay needs. `lookups`: status and headers of the answers of lookups.
 */
export type BodyName = string

export type BodySummary = Readonly<{
  which: BodyName
  contentType: string
  /** Bytes of the whole body. */
  size: number
  /** Only the start of the body is recorded. */
  cut?: true
  /** Parts of it are redacted. */
  masked?: true
  /** Why; records of earlier versions do not have it. */
  maskedFor?: readonly MaskCause[]
}>

/** A credential or secret; a value that `REDACT_PATHS` names; a body that had to be read for that and could not be. */
export const MASK_CAUSES = ['credential', 'redact-paths', 'unreadable'] as const
export type MaskCause = (typeof MASK_CAUSES)[number]

export type RecordedBody = Readonly<{ summary: BodySummary; content: Uint8Array }>

/** A record with its bodies, as the store gets it. */
export type Recorded = Readonly<{ record: MessageRecord; bodies: readonly RecordedBody[] }>

// The record of a message that ended done as one line of text. Stores keep many such lines in one row, so this is the
// format of stored data.

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
  source: Source,
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

/** `id`: of the delivery; `item`: the index of its item, in a forEach. */
export type RecordedDelivery = Readonly<{ id: string; request: string; item?: number }>

export type RecordRest = Pick<
  MessageRecord,
  | 'path'
  | 'error'
  | 'triedAgain'
  | 'keys'
  | 'calls'
  | 'callsOmitted'
  | 'notMade'
  | 'deliveries'
  | 'tables'
  | 'missed'
  | 'answerOf'
  | 'bodies'
>

/** The other properties that a record has, with a comma before them; empty if it has none of them. */
export function restText(rest: RecordRest): string {
  const { path, error, triedAgain, keys, calls, callsOmitted, notMade, deliveries, tables, missed, answerOf, bodies } =
    rest
  const text = JSON.stringify({
    path,
    error,
    triedAgain,
    keys: isEmpty(keys) ? undefined : keys,
    calls: calls.length === 0 ? undefined : calls,
    callsOmitted,
    notMade,
    deliveries,
    tables,
    missed,
    answerOf,
    bodies: bodies.length === 0 ? undefined : bodies,
  })
  return text === '{}' ? '' : `,${text}`
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}

/** No column may hold a character below U+0020: texts are written as JSON or as `keyText`. */
export const formatLine = (columns: readonly (string | number)[]): string => columns.join(COLUMN_END) + LINE_END

/** The inverse of `formatLine`, for many lines: the columns of each. */
export function* parseLines(text: string): Generator<string[]> {
  let start = 0
  for (let end = text.indexOf(LINE_END); end !== -1; end = text.indexOf(LINE_END, start)) {
    yield text.slice(start, end).split(COLUMN_END)
    start = end + 1
  }
}
