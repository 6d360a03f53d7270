/** How the messages of endpoints went, by minute: what is counted, and where the counts are kept. */

/** Numbers of messages, by the position of the bucket that their time falls into. */
export type Buckets = ReadonlyMap<number, number>

/** One endpoint in one minute. */
export type MinuteCount = Readonly<{
  endpointId: string
  /** Minutes since the epoch. */
  minute: number
  /** Messages that ended in it. */
  count: number
  /** Those of them that did not end `done`. */
  failures: number
  /** Of those that came as far as the pipeline. */
  buckets: Buckets
}>

/** Where the counts of all instances are kept. Rejects with StoreUnavailable where the store does not answer. */
export interface StatsStore {
  /** Each count takes the place of the one that this instance wrote for the same endpoint and minute before. */
  write(instance: string, counts: readonly MinuteCount[]): Promise<void>
  /** Those of every instance, from that minute on; several of one minute where several instances wrote. */
  read(endpointId: string, fromMinute: number): Promise<readonly MinuteCount[]>
  /** Removes what is older. */
  purge(beforeMinute: number): Promise<void>
}
