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

export type CountTotals = Readonly<{ endpointId: string; count: number; failures: number; recent: number }>

/** The counts of all instances. Rejects with StoreUnavailable if the store does not answer. */
export interface StatsStore {
  /** Each count replaces the one that this instance wrote before for the same endpoint and minute. */
  write(instance: string, counts: readonly MinuteCount[]): Promise<void>
  /** The counts of every instance from that minute on; a minute occurs once for each instance that wrote it. */
  read(endpointId: string, fromMinute: number): Promise<readonly MinuteCount[]>
  /**
   * The sums over all instances, of the endpoints that have counts from `fromMinute` on. `recent`: the messages of the minutes
   * from `recent.from` to `recent.to`, both included.
   */
  totals(
    endpointIds: readonly string[],
    fromMinute: number,
    recent: Readonly<{ from: number; to: number }>,
  ): Promise<readonly CountTotals[]>
  /** Removes the counts of older minutes. */
  purge(beforeMinute: number): Promise<void>
}
