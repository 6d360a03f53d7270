/** The store of the counts of messages, by endpoint and minute. */

/** Numbers of messages by the index of the bucket of their duration histogram. */
export type Buckets = ReadonlyMap<number, number>

export type MinuteCount = Readonly<{
  endpointId: string
  /** Minutes since the epoch. */
  minute: number
  /** Messages that were completed in it. */
  count: number
  /** Those of them whose outcome is not `done`. */
  failures: number
  /** The durations of those that reached the pipeline. */
  buckets: Buckets
}>

/** The counts of all instances. Rejects with StoreUnavailable if the store does not answer. */
export interface StatsStore {
  /** Each count replaces the one that this instance wrote before for the same endpoint and minute. */
  write(instance: string, counts: readonly MinuteCount[]): Promise<void>
  /** The counts of every instance from that minute on; a minute occurs once for each instance that wrote it. */
  read(endpointId: string, fromMinute: number): Promise<readonly MinuteCount[]>
  /** The same for several endpoints at once. */
  readMany(endpointIds: readonly string[], fromMinute: number): Promise<readonly MinuteCount[]>
  /** Removes the counts of older minutes. */
  purge(beforeMinute: number): Promise<void>
}
