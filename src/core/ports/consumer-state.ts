/** The state of consumers, as `GET /consumers` and health report it. */

/** The records of a partition, or of all partitions of a consumer, that were started. */
export type StartedRecords = Readonly<{
  /** Started and not done, without those of `retrying`. */
  underWay: number
  /** Records that wait for their next attempt, or for a change of the endpoint. */
  retrying: number
  /** Gaps of records that are not done, before the last record that is done. */
  holes: number
  /** When the oldest record that is not done was started; undefined without one. */
  oldestAt?: string
}>

/** The state of one partition, in offsets and numbers of records. */
export type PartitionStatus = Readonly<{
  partition: number
  /** waiting: for the next attempt at a record; stopped: at a record that cannot be processed. */
  state: 'running' | 'waiting' | 'stopped'
  /** The next offset to be committed, and the end of the log. */
  committed: number
  end: number
  lag: number
}> &
  StartedRecords

/** connecting: not a member of the group; waiting: for the next attempt at a record; stopped: a partition cannot go on. */
export const CONSUMER_STATES = ['connecting', 'running', 'waiting', 'stopped'] as const

export type ConsumerStatus = Readonly<{
  endpointId: string
  endpoint: string
  topic: string
  groupId: string
  state: (typeof CONSUMER_STATES)[number]
  /** Records that wait in the partitions of this instance. */
  lag: number
  inFlight: number
  partitions: readonly PartitionStatus[]
  lastError?: Readonly<{ message: string; at: string }>
}> &
  StartedRecords
