/** The state of consuming topics, as people see it (`GET /consumers`, health). */

/** How consuming goes in one partition. Offsets and counts of records. */
export type PartitionStatus = Readonly<{
  partition: number
  /** waiting: for the next attempt at a record; stopped: at a record that cannot be done. */
  state: 'running' | 'waiting' | 'stopped'
  /** The next offset to be committed, and where the log ends. */
  committed: number
  end: number
  lag: number
}>

/** How the consumer of an endpoint is doing, for people. */
export type ConsumerStatus = Readonly<{
  endpointId: string
  endpoint: string
  topic: string
  groupId: string
  /** connecting: not in the group yet, or not any more; stopped: a partition cannot go on. */
  state: 'connecting' | 'running' | 'waiting' | 'stopped'
  /** Records that wait in the partitions of this instance. */
  lag: number
  inFlight: number
  partitions: readonly PartitionStatus[]
  lastError?: Readonly<{ message: string; at: string }>
}>
