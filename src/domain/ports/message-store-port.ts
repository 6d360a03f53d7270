/** The store of message records: the message log. */
import type {
  BodyName,
  MessageRecord,
  Recorded,
  RecordedBody,
  RecordedOutcome,
  RecordedSource,
} from '../records/message-record.ts'

/** A record must match all fields; several values of one field are alternatives. */
export type MessageFilter = Readonly<{
  endpointId?: readonly string[]
  outcome?: readonly RecordedOutcome[]
  code?: readonly string[]
  stage?: readonly string[]
  source?: readonly RecordedSource[]
  status?: readonly number[]
  /** A business key with exactly this value; without a name, any key. */
  key?: readonly Readonly<{ name?: string; value: string }>[]
  /** The range of `startedAt`, in milliseconds since the epoch: from, inclusive; to, exclusive. */
  from?: number
  to?: number
  replayOf?: readonly string[]
  /**
   * Whether a replay, or a replay of a replay, has the outcome done. Both values select only messages whose outcome is not
   * done and that are not replays.
   */
  replayed?: boolean
}>

/** Failures with the same endpoint, stage and code. */
export type MessageGroup = Readonly<{
  endpointId: string | undefined
  endpoint: string | undefined
  stage: string | undefined
  code: string | undefined
  count: number
  /** ISO 8601. */
  firstSeen: string
  lastSeen: string
  /** The id of the newest message. */
  sampleId: string
}>

/** Rejects with StoreUnavailable if the store does not answer. */
export interface MessageStore {
  /** Resolves when all records are stored. Records whose id is stored already stay as they are. */
  append(batch: readonly Recorded[]): Promise<void>
  /** The same for records whose outcome is done, as lines (domain/records/done-line.ts) in UTF-8. */
  appendDone(lines: Uint8Array): Promise<void>
  /** Newest first, at most `limit`, all older than the id `before` if it is given. */
  find(filter: MessageFilter, limit: number, before?: string): Promise<readonly MessageRecord[]>
  get(id: string): Promise<MessageRecord | undefined>
  body(id: string, which: BodyName): Promise<RecordedBody | undefined>
  count(filter: MessageFilter): Promise<number>
  /** Groups of messages whose outcome is not done, the largest first. */
  groups(filter: MessageFilter): Promise<readonly MessageGroup[]>
  /**
   * Removes a small batch of the oldest records if one is older than `before` (milliseconds since the epoch) or all
   * records take more than `maxBytes`. Resolves to their number; 0 if there is nothing left to remove.
   */
  purge(before: number, maxBytes: number): Promise<number>
  close(): Promise<void>
}
