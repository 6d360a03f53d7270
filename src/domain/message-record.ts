/** What is kept of a message after it was answered: the message log. */
import type { CallSpan, StageName } from './trace.ts'

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

/** All that is given must hold; several values of one name are alternatives. */
export type MessageFilter = Readonly<{
  endpointId?: readonly string[]
  outcome?: readonly RecordedOutcome[]
  code?: readonly string[]
  stage?: readonly string[]
  source?: readonly RecordedSource[]
  status?: readonly number[]
  /** A business key that has exactly this value; without a name, whichever key has it. */
  key?: readonly Readonly<{ name?: string; value: string }>[]
  /** Of `startedAt`, in milliseconds since the epoch: from, inclusive; to, exclusive. */
  from?: number
  to?: number
  replayOf?: readonly string[]
  /**
   * Whether a replay, or a replay of a replay, ended done. Either way of messages that did not end done, and that are
   * themselves no replays.
   */
  replayed?: boolean
}>

/** Failures that are alike. */
export type MessageGroup = Readonly<{
  endpointId: string | undefined
  endpoint: string | undefined
  stage: string | undefined
  code: string | undefined
  count: number
  /** ISO 8601. */
  firstSeen: string
  lastSeen: string
  /** The newest of them. */
  sampleId: string
}>

/** Where records live. Rejects with StoreUnavailable where the store does not answer. */
export interface MessageStore {
  /** Resolves when all of them are stored. Records that are there already (by id) are left as they are. */
  append(batch: readonly Recorded[]): Promise<void>
  /** The same for records of messages that ended done, as lines (domain/done-line.ts) in UTF-8. */
  appendDone(lines: Uint8Array): Promise<void>
  /** Newest first, at most `limit`, all of them older than `before` (an id) where it is given. */
  find(filter: MessageFilter, limit: number, before?: string): Promise<readonly MessageRecord[]>
  get(id: string): Promise<MessageRecord | undefined>
  body(id: string, which: BodyName): Promise<RecordedBody | undefined>
  count(filter: MessageFilter): Promise<number>
  /** Of messages that did not end done, the largest group first. */
  groups(filter: MessageFilter): Promise<readonly MessageGroup[]>
  /**
   * Removes a small batch of the oldest records where one is older than `before` (milliseconds since the epoch) or all
   * of them take more than `maxBytes`. Resolves to how many; 0 where there is nothing left to remove.
   */
  purge(before: number, maxBytes: number): Promise<number>
  close(): Promise<void>
}
