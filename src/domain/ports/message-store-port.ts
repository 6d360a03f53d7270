/** The store of message records: the message log. */
import type {
  BodyName,
  MessageRecord,
  Recorded,
  RecordedBody,
  RecordedOutcome,
  RecordedSource,
} from '../message-record.ts'

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
