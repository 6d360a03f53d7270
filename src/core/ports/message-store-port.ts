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
  id?: readonly string[]
  endpointId?: readonly string[]
  outcome?: readonly RecordedOutcome[]
  code?: readonly string[]
  stage?: readonly string[]
  /** Where the failure happened, exactly. Selects only messages whose outcome is not done, as `error`. */
  path?: readonly string[]
  /** A part of the sentence of the failure; the case of the letters a to z does not count. */
  error?: readonly string[]
  /** Of the endpoint. */
  version?: readonly number[]
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
  /** Whether a capture recorded the message. */
  captured?: boolean
}>

/** What the failures of a group have in common. Records of earlier versions have no path here. */
export type GroupKey = Readonly<{
  endpointId: string | undefined
  stage: string | undefined
  code: string | undefined
  path: string | undefined
}>

export type MessageGroup = GroupKey &
  Readonly<{
    endpoint: string | undefined
    count: number
    /** ISO 8601. */
    firstSeen: string
    lastSeen: string
    /** The id of the newest message. */
    sampleId: string
    /** Messages of each minute that was asked for. */
    minutes: readonly number[]
  }>

/** `count` whole minutes; the first one starts at `from`, in milliseconds since the epoch. */
export type MinuteSpan = Readonly<{ from: number; count: number }>

/** Rejects with StoreUnavailable if the store does not answer. */
export interface MessageStore {
  /** Resolves when all records are stored. Records whose id is stored already stay as they are. */
  append(batch: readonly Recorded[]): Promise<void>
  /** The same for records whose outcome is done, as lines (core/records/message-record.ts) in UTF-8. */
  appendDone(lines: Uint8Array): Promise<void>
  /** Newest first, at most `limit`, all older than the id `before` if it is given. */
  find(filter: MessageFilter, limit: number, before?: string): Promise<readonly MessageRecord[]>
  get(id: string): Promise<MessageRecord | undefined>
  body(id: string, which: BodyName): Promise<RecordedBody | undefined>
  count(filter: MessageFilter): Promise<number>
  /** Groups of messages whose outcome is not done, the largest first, with their counts in these minutes. */
  groups(filter: MessageFilter, minutes: MinuteSpan): Promise<readonly MessageGroup[]>
  /**
   * Keeps these messages from every purge until the plan is released. Resolves to false, and keeps none of them, if all
   * messages that plans need would take more than `maxBytes`.
   */
  hold(planId: string, ids: readonly string[], maxBytes: number): Promise<boolean>
  /** Releases the plans whose ids are less than `before`, except for `planIds`. */
  release(planIds: readonly string[], before: string): Promise<void>
  /**
   * Removes a small batch of records: those older than `before` (milliseconds since the epoch), then, if all records take
   * more than `maxBytes`, the oldest of the endpoints that take more than their share. An endpoint below its share loses
   * none to the others. Resolves to their number; 0 if there is nothing left to remove.
   */
  purge(before: number, maxBytes: number): Promise<number>
  /** Rejects with StoreUnavailable also if records can be read and no new one can be stored. */
  ping(): Promise<void>
  close(): Promise<void>
}
