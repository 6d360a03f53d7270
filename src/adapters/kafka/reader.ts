/**
 * Fetches the records of a topic, a partition only when it has room for more. It has connections of its own: a broker
 * answers one connection in order, and a fetch that waits for records would hold up heartbeats and commits.
 *
 * The client's own stream of messages is not used. It cannot leave out a partition that is behind, it hands on what
 * it had buffered of partitions that are no longer ours, and after a rebalance in which nothing was committed it goes
 * on behind the records that were not done.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Consumer, FetchIsolationLevels, type FetchOptions, ListOffsetTimestamps } from '@platformatic/kafka'
import { clientOptions, type KafkaSettings } from './client-options.ts'
import { isProtocolError } from './faults.ts'
import { type Fetched, fetchedDespite, readFetched } from './fetched.ts'
import type { Partition } from './partition.ts'
import { ignoreErrors, within } from './patience.ts'
import { readLayout, type TopicLayout } from './topic-layout.ts'

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
/** https://kafka.apache.org/protocol#protocol_error_codes */
const OFFSET_OUT_OF_RANGE = 1

export type ReaderEvents = Readonly<{
  /** Something went wrong that is tried again. */
  onTrouble: (error: unknown) => void
  onSound: () => void
  /** What was to be read next is not there: records were deleted before they were read, or the topic was cut. */
  onMoved: (partition: number, from: bigint, to: bigint) => void
  /** The topic was deleted and made anew: offsets of the former mean nothing in it. */
  onReplaced: (error: unknown) => void
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

type Start = Readonly<{ partition: Partition; offset: bigint }>

export function openReader(settings: KafkaSettings, groupId: string, topic: string, events: ReaderEvents): Reader {
  const client = new Consumer({ ...clientOptions(settings), groupId, autocommit: false, retries: 0 })
  ignoreErrors(client)
  const busyNodes = new Set<number>()
  let partitions: ReadonlyMap<number, Partition> = new Map()
  let layout: TopicLayout | undefined
  let topicId: string | undefined
  let closed = false
  let failures = 0
  let isPlanning = false
  let again = false
  /** Partitions that could not be read when last tried, and those of them that are not to be tried yet. */
  const troubled = new Set<number>()
  const resting = new Set<number>()
  let rest: NodeJS.Timeout | undefined

  const wanted = (): Partition[] => {
    const all = [...partitions.values()]
    const buffered = all.reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0)
    if (buffered >= BUFFER_BYTES) return []
    const low = partitionBytes(all.length) / 2
    return all.filter(({ number, bufferedBytes }) => bufferedBytes < low && !resting.has(number))
  }

  /** Starts a fetch from each broker that leads partitions with room and has none under way. */
  const plan = async (): Promise<void> => {
    const wants = wanted()
    if (closed || wants.length === 0) return
    layout ??= await readLayout(client, topic)
    if (closed) return
    topicId ??= layout.id
    if (layout.id !== topicId) return events.onReplaced(new Error('the topic was made anew'))
    const { leaders } = layout
    const byNode = Map.groupBy(wants, ({ number }) => leaders[number] ?? -1)
    for (const [node, group] of byNode) {
      if (node < 0) {
        const numbers = group.map(({ number }) => number)
        setAside(numbers, new Error(`the partitions ${numbers.join(', ')} of the topic have no leader`))
      } else if (!busyNodes.has(node)) {
        busyNodes.add(node)
        void fetchFrom(node, topicId, group)
      }
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
  const forget = () => {
    layout = undefined
    client.clearMetadata()
  }
  /** Tries nothing more: whoever is told may need a while before this is closed. */
  const end = (error: unknown) => {
    closed = true
    events.onEnd(error)
  }
  const recover = async (error: unknown): Promise<void> => {
    if (closed) return
    failures += 1
    if (failures > MOST_RETRIES) return end(error)
    events.onTrouble(error)
    forget()
    await sleep(RETRY_MS)
  }
  /** Partitions that cannot be read rest for a while, so that the others need not. */
  const setAside = (numbers: readonly number[], error: unknown): void => {
    if (closed) return
    for (const number of numbers) {
      troubled.add(number)
      resting.add(number)
    }
    events.onTrouble(error)
    rest ??= setTimeout(() => {
      rest = undefined
      resting.clear()
      forget()
      wake()
    }, RETRY_MS)
  }

  const fetchFrom = async (node: number, id: string, group: readonly Partition[]): Promise<void> => {
    const starts = new Map(group.map((partition) => [partition.number, { partition, offset: partition.fetchOffset }]))
    const isIdle = [...partitions.values()].every(({ bufferedBytes }) => bufferedBytes === 0)
    try {
      const response = await client.fetch(fetchOptions(node, id, starts, partitions.size, isIdle))
      deliver(response, starts)
    } catch (error) {
      if (!closed) await makeDo(error, starts).catch((fault) => failWhole(fault, starts))
    }
    busyNodes.delete(node)
    wake()
  }

  /** One broker that cannot be reached is no reason to leave the others. */
  const failWhole = (error: unknown, starts: ReadonlyMap<number, Start>): void => {
    failures += 1
    if (failures > MOST_RETRIES) end(error)
    else setAside([...starts.keys()], error)
  }

  /** Hands each partition its records, unless it was closed or moved in the meantime. */
  const deliver = ({ responses }: Fetched, starts: ReadonlyMap<number, Start>): void => {
    failures = 0
    for (const fetched of responses.flatMap((one) => one.partitions)) {
      const start = starts.get(fetched.partitionIndex)
      if (fetched.errorCode !== 0 || start === undefined || !isCurrent(start)) continue
      troubled.delete(fetched.partitionIndex)
      if (fetched.highWatermark >= 0n) start.partition.endOffset = fetched.highWatermark
      const { records, next } = readFetched(topic, fetched, start.offset)
      if (next > start.offset) start.partition.offer(records, next)
    }
    for (const number of troubled) if (!partitions.has(number)) troubled.delete(number)
    if (troubled.size === 0) events.onSound()
  }
  const isCurrent = ({ partition, offset }: Start): boolean =>
    !closed && partitions.get(partition.number) === partition && partition.fetchOffset === offset

  /** An error of some partitions is none of the others. Rejects where it is one of the whole fetch. */
  const makeDo = async (error: unknown, starts: ReadonlyMap<number, Start>): Promise<void> => {
    const response = fetchedDespite(error)
    if (response === undefined) {
      // The client asks anew by itself: an error of some partitions has left it behind with its session.
      if (!isProtocolError(error, 'INVALID_FETCH_SESSION_EPOCH') || failures > 0) throw error
      failures += 1
      return
    }
    const failed = response.responses.flatMap((one) => one.partitions).filter(({ errorCode }) => errorCode !== 0)
    const [lost, others] = [
      failed.filter(({ errorCode }) => errorCode === OFFSET_OUT_OF_RANGE),
      failed.filter(({ errorCode }) => errorCode !== OFFSET_OUT_OF_RANGE),
    ].map((part) => part.map(({ partitionIndex }) => partitionIndex)) as [number[], number[]]
    if (others.length > 0) setAside(others, error)
    deliver(response, starts)
    if (lost.length > 0) {
      await relocate(
        lost.flatMap((number) => starts.get(number) ?? []),
        error,
      )
    }
  }

  /** Goes on at the earliest record there is where the one to read next is not there. */
  const relocate = async (lost: readonly Start[], error: unknown): Promise<void> => {
    const numbers = lost.map(({ partition }) => partition.number)
    const offsetsAt = async (timestamp: bigint) => {
      const isolationLevel = FetchIsolationLevels.READ_UNCOMMITTED
      const asked = { topics: [topic], partitions: { [topic]: numbers }, timestamp, isolationLevel }
      return (await client.listOffsets(asked)).get(topic) ?? []
    }
    const [earliest, latest] = [
      await offsetsAt(ListOffsetTimestamps.EARLIEST),
      await offsetsAt(ListOffsetTimestamps.LATEST),
    ]
    for (const start of lost) {
      const { partition, offset } = start
      const [first, end] = [earliest[partition.number], latest[partition.number]]
      if (first === undefined || end === undefined) throw error
      if (!isCurrent(start) || (offset >= first && offset <= end)) continue
      const wasBegun = partition.isBegun
      // Records under way that are no more would be committed over those that are there now.
      if (!partition.moveTo(first)) return events.onReplaced(error)
      if (wasBegun) events.onMoved(partition.number, offset, first)
    }
  }

  return {
    assign: (next) => {
      partitions = new Map(next.map((partition) => [partition.number, partition]))
      wake()
    },
    wake,
    close: async () => {
      closed = true
      clearTimeout(rest)
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
    isolationLevel: FetchIsolationLevels.READ_COMMITTED,
  }
}
