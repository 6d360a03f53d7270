/** What is kept of a message after it was answered: the message log. */

import type { StageName } from './tracing/stages.ts'
import type { CallSpan } from './tracing/trace.ts'

/** One stage, in the order in which they ran. */
export type RecordedStage = Readonly<{ stage: StageName; ms: number }>

/** One outbound call. `target` has no query and no credentials. */
export type RecordedCall = Readonly<
  Pick<CallSpan, 'kind' | 'id' | 'method' | 'target'> & {
    item?: number
    /** Milliseconds after the message began. */
    startMs: number
    ms: number
    status?: number
    /** A note on an answer that was accepted, such as a body that cannot be read. */
    remark?: string
    fault?: NonNullable<CallSpan['fault']>
  }
>

export const OUTCOMES = ['done', 'partial', 'refused', 'failed'] as const
export type RecordedOutcome = (typeof OUTCOMES)[number]

export const SOURCES = ['http', 'broker', 'replay'] as const
export type RecordedSource = (typeof SOURCES)[number]

export type MessageRecord = Readonly<{
  /** Time-ordered (domain/id.ts). */
  id: string
  /** Left out where no endpoint listens. */
  endpointId?: string
  /** Its name at the time. */
  endpoint?: string
  endpointVersion?: number
  source: RecordedSource
  /** ISO 8601 with milliseconds and `Z`: the time in its id, which stores keep only once. */
  startedAt: string
  ms: number
  outcome: RecordedOutcome
  /** HTTP status of the answer. */
  status: number
  /** Of the failure, as it was answered (section 11). */
  code?: string
  stage?: string
  path?: string
  error?: string
  /** It is an attempt at a record of a topic, and was followed by another one. */
  triedAgain?: true
  stages: readonly RecordedStage[]
  /** In the order in which they began. */
  calls: readonly RecordedCall[]
  /** How many more there were than are kept. */
  callsOmitted?: number
  /** Business keys, by the names of the endpoint's `messageKeys`; several where the path found an array. */
  keys: Readonly<Record<string, string | readonly string[]>>
  /** The message that this one repeats. */
  replayOf?: string
  /** The message whose kept answer was given again: this one was not worked on. */
  answerOf?: string
  /** Which bodies were kept, in the order of the stages. */
  bodies: readonly BodySummary[]
}>

/**
 * Which body: `incoming`, `lookup.<id>`, `transforms`, `mapped`, `response.<id>`, `answer`; and `request`, what came
 * beside the incoming body (`{ requestHeaders, query, urlParams }`), without which a message could not be replayed.
 */
export type BodyName = string

export type BodySummary = Readonly<{
  which: BodyName
  contentType: string
  /** Of the whole body, in bytes. */
  size: number
  /** Only its beginning was kept. */
  cut?: true
  /** Parts of it were masked. */
  masked?: true
}>

export type RecordedBody = Readonly<{ summary: BodySummary; content: Uint8Array }>

/** A record with what was kept of its bodies, as it goes to the store. */
export type Recorded = Readonly<{ record: MessageRecord; bodies: readonly RecordedBody[] }>
