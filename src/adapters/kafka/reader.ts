/**
 * Fetches the records of a topic, a partition only when it has room for more. It has connections of its own: a broker
 * answers one connection in order, and a fetch that waits for records would hold up heartbeats and commits.
 *
 * The client's own stream of messages is not used. It cannot leave out a partition that is behind, it hands on what
 * it had buffered of partitions that are no longer ours, and after a rebalance in which nothing was committed it goes
 * on behind the records that were not done.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Consumer, type FetchOptions } from '@platformatic/kafka'
import { clientOptions, type KafkaSettings } from './client-options.ts'
import { isProtocolError } from './faults.ts'
import type { Partition } from './partition.ts'
import { ignoreErrors, within } from './producer.ts'
import type { ConsumedRecord } from './record.ts'

type Fetched = Awaited<ReturnType<Consumer['fetch']>>
type FetchedPartition = Fetched['responses'][number]['partitions'][number]

/** Of the records fetched and not yet done, for each endpoint. */
const BUFFER_BYTES = 4 * 1024 * 1024
const MOST_PARTITION_BYTES = 256 * 1024
const LEAST_PARTITION_BYTES = 32 * 1024
/** A fetch answers when there is something, or after this long; soon where other partitions may want more meanwhile. */
const IDLE_WAIT_MS = 500
const BUSY_WAIT_MS = 20
const RETRY_MS = 500
const MOST_RETRIES = 20
const CLOSE_MS = 1_000
/** Bit of a batch's attributes (https://kafka.apache.org/documentation/#recordbatch). */
const IS_CONTROL = 0x20

export type ReaderEvents = Readonly<{
  /** Something went wrong that is tried again. */
  onTrouble: (error: unknown) => void
  onSound: () => void
  /** Records were deleted before they were read, by the retention of the topic. */
  onSkipped: (partition: number, from: bigint, to: bigint) => void
  /** Trying again has not helped. */
  onEnd: (error: unknown) => void
}>

export interface Reader {
  /** The partitions to read from now on. */
  assign(partitions: readonly Partition[]): void
  /** A partition may have room again. */
  wake(): void
  close(): Promise<void>
}

export function openReader(settings: KafkaSettings, groupId: string, topic: string, events: ReaderEvents): Reader {
  const client = new Consumer({ ...clientOptions(settings), groupId, autocommit: false, retries: 0 })
  ignoreErrors(client)
  client.topics.track(topic)
  const busyNodes = new Set<number>()
  let partitions: ReadonlyMap<number, Partition> = new Map()
  let closed = false
  let failures = 0
  let isPlanning = false
  let again = false

  const wanted = (): Partition[] => {
    const all = [...partitions.values()]
    const buffered = all.reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0)
    if (buffered >= BUFFER_BYTES) return []
    const low = partitionBytes(all.length) / 2
    return all.filter(({ bufferedBytes }) => bufferedBytes < low)
  }

  /** Starts a fetch from each broker that leads partitions with room and has none under way. */
  const plan = async (): Promise<void> => {
    const wants = wanted()
    if (closed || wants.length === 0) return
    const metadata = await client.metadata({ topics: [topic] })
    const info = metadata.topics.get(topic)
    if (closed || info === undefined) return
    const byNode = Map.groupBy(wants, ({ number }) => info.partitions[number]?.leader ?? -1)
    for (const [node, group] of byNode) {
      if (node < 0) throw new Error('a partition has no leader')
      if (busyNodes.has(node)) continue
      busyNodes.add(node)
      void fetchFrom(node, info.id, group)
    }
  }
  const wake = () => {
    if (closed) return
    again = true
    if (isPlanning) return
    isPlanning = true
    void replan()
  }
  const replan = async (): Promise<void> => {
    while (again && !closed) {
      again = false
      try {
        await plan()
      } catch (error) {
        await recover(error)
        again = true
      }
    }
    isPlanning = false
  }
  const recover = async (error: unknown): Promise<void> => {
    if (closed) return
    failures += 1
    if (failures > MOST_RETRIES) return events.onEnd(error)
    events.onTrouble(error)
    client.clearMetadata()
    await sleep(RETRY_MS)
  }

  const fetchFrom = async (node: number, topicId: string, group: readonly Partition[]): Promise<void> => {
    const starts = new Map(group.map((partition) => [partition.number, { partition, offset: partition.fetchOffset }]))
    const isIdle = [...partitions.values()].every(({ bufferedBytes }) => bufferedBytes === 0)
    try {
      const response = await client.fetch(fetchOptions(node, topicId, starts, partitions.size, isIdle))
      failures = 0
      events.onSound()
      deliver(response, starts)
    } catch (error) {
      if (!closed && !restart(error, starts)) await recover(error)
    }
    busyNodes.delete(node)
    wake()
  }

  type Starts = ReadonlyMap<number, { partition: Partition; offset: bigint }>

  /** Hands each partition its records, unless it was closed or moved in the meantime. */
  const deliver = ({ responses }: Fetched, starts: Starts) => {
    for (const fetched of responses.flatMap((one) => one.partitions)) {
      const start = starts.get(fetched.partitionIndex)
      if (start === undefined || !isCurrent(start.partition, start.offset)) continue
      if (fetched.highWatermark >= 0n) start.partition.endOffset = fetched.highWatermark
      const { records, next } = readBatches(topic, fetched, start.offset)
      if (next > start.offset) start.partition.offer(records, next)
    }
  }
  const isCurrent = (partition: Partition, offset: bigint): boolean =>
    partitions.get(partition.number) === partition && partition.fetchOffset === offset

  /** Goes on at the earliest record where the one to read next was deleted. False: that was not the fault. */
  const restart = (error: unknown, starts: Starts): boolean => {
    if (!isProtocolError(error, 'OFFSET_OUT_OF_RANGE')) return false
    const { response } = error as { response?: Fetched }
    let moved = false
    for (const { partitionIndex, errorCode, logStartOffset, highWatermark } of response?.responses.flatMap(
      (one) => one.partitions,
    ) ?? []) {
      const start = starts.get(partitionIndex)
      if (errorCode !== 1 || start === undefined || logStartOffset < 0n) continue
      moved = true
      if (!isCurrent(start.partition, start.offset)) continue
      // Beyond the end: the topic was made anew under the same name, so that all of it is new.
      const target = start.offset > highWatermark || start.offset < logStartOffset ? logStartOffset : start.offset
      events.onSkipped(partitionIndex, start.offset, target)
      start.partition.moveTo(target)
    }
    return moved
  }

  return {
    assign: (next) => {
      partitions = new Map(next.map((partition) => [partition.number, partition]))
      wake()
    },
    wake,
    close: async () => {
      closed = true
      await within(CLOSE_MS, client.close(true))
    },
  }
}

const partitionBytes = (count: number): number =>
  Math.max(LEAST_PARTITION_BYTES, Math.min(MOST_PARTITION_BYTES, Math.floor(BUFFER_BYTES / Math.max(count, 1))))

function fetchOptions(
  node: number,
  topicId: string,
  starts: ReadonlyMap<number, { offset: bigint }>,
  count: number,
  isIdle: boolean,
): FetchOptions<Buffer, Buffer, Buffer, Buffer> {
  const partitions = [...starts].map(([partition, { offset }]) => ({
    partition,
    fetchOffset: offset,
    partitionMaxBytes: partitionBytes(count),
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
  }))
  return {
    node,
    topics: [{ topicId, partitions }],
    minBytes: 1,
    maxBytes: BUFFER_BYTES / 2,
    maxWaitTime: isIdle ? IDLE_WAIT_MS : BUSY_WAIT_MS,
  }
}

/** The records from `start` on, and the offset behind the last batch: a batch may begin before what was asked for. */
function readBatches(
  topic: string,
  { partitionIndex: partition, records: batches }: FetchedPartition,
  start: bigint,
): { records: ConsumedRecord[]; next: bigint } {
  const records: ConsumedRecord[] = []
  let next = start
  for (const batch of batches ?? []) {
    next = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n
    if ((batch.attributes & IS_CONTROL) !== 0) continue
    for (const { offsetDelta, timestampDelta, key, value, headers } of batch.records) {
      const offset = batch.firstOffset + BigInt(offsetDelta)
      if (offset < start) continue
      const timestamp = Number(batch.firstTimestamp + timestampDelta)
      records.push({ topic, partition, offset, timestamp, key, value, headers })
    }
  }
  return { records, next }
}
