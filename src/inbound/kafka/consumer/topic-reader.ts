/**
 * Fetches the records of a topic, each partition only while the policy has demand for it. It has connections of its own:
 * a broker answers one connection in order, and a fetch that waits for records would delay heartbeats and commits.
 *
 * The client's own stream of messages is not used. It cannot pause one partition, it hands on records that it had
 * buffered of revoked partitions, and after a rebalance without a commit it continues behind records that were not
 * processed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type KafkaSettings, within } from '../../../outbound/kafka/kafka-client.ts'
import { isProtocolError, TOPIC_REPLACED } from '../../../outbound/kafka/kafka-errors.ts'
import type { ConsumerListener, FetchDemand } from '../record-consumer.ts'
import { type FetchPosition, type FetchStart, fetchOptions, readOffsetRanges } from './fetch-options.ts'
import { type Fetched, type FetchedPartition, fetchedDespite, readFetched } from './fetch-response.ts'
import { openFetcher } from './fetcher.ts'
import { createRestingPartitions } from './resting-partitions.ts'
import { readLayout, type TopicLayout } from './topic-layout.ts'

const RETRY_MS = 500
const MOST_RETRIES = 20
const CLOSE_MS = 1_000
/** https://kafka.apache.org/protocol#protocol_error_codes */
const OFFSET_OUT_OF_RANGE = 1

/** As in ConsumerListener, but with the client's errors. */
type ReaderEvents = Pick<ConsumerListener, 'demand' | 'onRecords' | 'onEndOffset' | 'onOffsetReset' | 'onRecovered'> &
  Readonly<{
    onTrouble: (error: unknown) => void
    onReplaced: (error: unknown) => void
    /** The retries are used up. */
    onEnd: (error: unknown) => void
  }>

interface TopicReader {
  /** The partitions to fetch from now on, in place of the former ones. */
  assign(positions: readonly FetchPosition[]): void
  demandChanged(): void
  close(): Promise<void>
}

export function openReader(settings: KafkaSettings, groupId: string, topic: string, events: ReaderEvents): TopicReader {
  const client = openFetcher(settings, groupId)
  const busyNodes = new Set<number>()
  let positions: ReadonlyMap<number, FetchPosition> = new Map()
  let layout: TopicLayout | undefined
  let topicId: string | undefined
  let closed = false
  let failures = 0
  let isPlanning = false
  let planAgain = false
  const resting = createRestingPartitions(() => {
    forgetLayout()
    plan()
  })

  /** Starts a fetch from each broker that leads partitions with demand and has no fetch under way. */
  const startFetches = async (): Promise<void> => {
    const demand = events.demand()
    const wanted = [...positions.values()].filter(
      ({ partition }) => demand.partitionBytes.has(partition) && !resting.has(partition),
    )
    if (closed || wanted.length === 0) return
    layout ??= await readLayout(client, topic)
    if (closed) return
    topicId ??= layout.id
    if (layout.id !== topicId) return events.onReplaced(new Error(TOPIC_REPLACED))
    const { leaders } = layout
    const byNode = Map.groupBy(wanted, ({ partition }) => leaders[partition] ?? -1)
    for (const [node, group] of byNode) {
      if (node < 0) {
        const numbers = group.map(({ partition }) => partition)
        setAside(numbers, new Error(`the partitions ${numbers.join(', ')} of the topic have no leader`))
      } else if (!busyNodes.has(node)) {
        busyNodes.add(node)
        void fetchFrom(node, topicId, group, demand)
      }
    }
  }
  const plan = () => {
    if (closed) return
    planAgain = true
    if (isPlanning) return
    isPlanning = true
    void planWhileNeeded()
  }
  const planWhileNeeded = async (): Promise<void> => {
    while (planAgain && !closed) {
      planAgain = false
      try {
        await startFetches()
      } catch (error) {
        await recover(error)
        planAgain = true
      }
    }
    isPlanning = false
  }
  const forgetLayout = () => {
    layout = undefined
    client.clearMetadata()
  }
  /** No further tries: the policy may need a while until it closes the session. */
  const end = (error: unknown) => {
    closed = true
    events.onEnd(error)
  }
  const recover = async (error: unknown): Promise<void> => {
    if (closed) return
    failures += 1
    if (failures > MOST_RETRIES) return end(error)
    events.onTrouble(error)
    forgetLayout()
    await sleep(RETRY_MS)
  }
  const setAside = (partitions: readonly number[], error: unknown): void => {
    if (closed) return
    resting.add(partitions)
    events.onTrouble(error)
  }

  const fetchFrom = async (node: number, id: string, group: readonly FetchPosition[], demand: FetchDemand) => {
    const starts = new Map(group.map((position) => [position.partition, { position, offset: position.offset }]))
    const isIdle = [...positions.keys()].every((partition) => demand.partitionBytes.has(partition))
    try {
      deliver(await client.fetch(fetchOptions(node, id, starts, demand, isIdle)), starts)
    } catch (error) {
      if (!closed) await deliverDespite(error, starts).catch((fault) => failAll(fault, starts))
    }
    busyNodes.delete(node)
    plan()
  }

  /** The partitions of one unreachable broker rest; those of the others go on. */
  const failAll = (error: unknown, starts: ReadonlyMap<number, FetchStart>): void => {
    failures += 1
    if (failures > MOST_RETRIES) end(error)
    else setAside([...starts.keys()], error)
  }

  /** Hands over the records of each partition, unless it was revoked or reset during the fetch. */
  const deliver = ({ responses }: Fetched, starts: ReadonlyMap<number, FetchStart>): void => {
    failures = 0
    for (const fetched of responses.flatMap((one) => one.partitions)) {
      const { partitionIndex: partition } = fetched
      const start = starts.get(partition)
      if (fetched.errorCode !== 0 || start === undefined || !isCurrent(start)) continue
      resting.recovered(partition)
      if (fetched.highWatermark >= 0n) events.onEndOffset(partition, fetched.highWatermark)
      const { records, next } = readFetched(topic, fetched, start.offset)
      if (next <= start.offset) continue
      start.position.offset = next
      events.onRecords(partition, records, next)
    }
    if (resting.areRecovered((partition) => positions.has(partition))) events.onRecovered()
  }
  const isCurrent = ({ position, offset }: FetchStart): boolean =>
    !closed && positions.get(position.partition) === position && position.offset === offset

  /** Delivers the partitions that did not fail. Rejects if the whole fetch failed. */
  const deliverDespite = async (error: unknown, starts: ReadonlyMap<number, FetchStart>): Promise<void> => {
    const response = fetchedDespite(error)
    if (response === undefined) {
      // The client opens a new fetch session by itself: an error of some partitions made the broker drop the former one.
      if (!isProtocolError(error, 'INVALID_FETCH_SESSION_EPOCH') || failures > 0) throw error
      failures += 1
      return
    }
    const failed = response.responses.flatMap((one) => one.partitions).filter(({ errorCode }) => errorCode !== 0)
    const others = failed.filter(({ errorCode }) => errorCode !== OFFSET_OUT_OF_RANGE)
    const lost = failed.filter(({ errorCode }) => errorCode === OFFSET_OUT_OF_RANGE)
    if (others.length > 0) setAside(others.map(indexOf), error)
    deliver(response, starts)
    const lostStarts = lost.flatMap((one) => starts.get(indexOf(one)) ?? [])
    if (lostStarts.length > 0) await resetOffsets(lostStarts, error)
  }

  /** Continues at the earliest record of each partition whose next record does not exist any more. */
  const resetOffsets = async (lost: readonly FetchStart[], error: unknown): Promise<void> => {
    const numbers = lost.map(({ position }) => position.partition)
    const rangeOf = await readOffsetRanges(client, topic, numbers)
    for (const start of lost) {
      const { position, offset } = start
      const range = rangeOf(position.partition)
      if (range === undefined) throw error
      if (!isCurrent(start) || (offset >= range.first && offset <= range.end)) continue
      // A commit of queued records that do not exist any more would skip records that exist now.
      if (!events.onOffsetReset(position.partition, range.first)) return events.onReplaced(error)
      position.offset = range.first
    }
  }

  return {
    assign: (next) => {
      positions = new Map(next.map((position) => [position.partition, position]))
      plan()
    },
    demandChanged: plan,
    close: async () => {
      closed = true
      resting.close()
      await within(CLOSE_MS, client.close(true))
    },
  }
}

const indexOf = ({ partitionIndex }: FetchedPartition): number => partitionIndex
