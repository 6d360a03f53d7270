/**
 * Fetches the records of a topic, each partition only while the policy has demand for it. It has connections of its own:
 * a broker answers one connection in order, and a fetch that waits for records would delay heartbeats and commits.
 *
 * The client's own stream of messages is not used. It cannot pause one partition, it hands on records that it had
 * buffered of revoked partitions, and after a rebalance without a commit it continues behind records that were not
 * processed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Callback,
  type CommitOptionsPartition,
  Consumer,
  FetchIsolationLevels,
  kGetApi,
  ListOffsetTimestamps,
} from '@platformatic/kafka'
import { within } from '../../core/within.ts'
import { clientOptions, ignoreErrors, type KafkaSettings } from '../../outbound/kafka/kafka-client.ts'
import { isProtocolError, TOPIC_REPLACED } from '../../outbound/kafka/kafka-errors.ts'
import type { ConsumedRecord, ConsumerListener, FetchDemand } from './record-consumer.ts'

const RETRY_MS = 500
const MAX_RETRIES = 20
const CLOSE_MS = 1_000
/** A fetch returns as soon as there are records, or after this long; after the short one if a partition is paused. */
const IDLE_WAIT_MS = 500
const BUSY_WAIT_MS = 20
/** https://kafka.apache.org/protocol#protocol_error_codes */
const OFFSET_OUT_OF_RANGE = 1

/** One object for each assignment of a partition, so that a response for a former one is recognised. */
export type FetchPosition = { readonly partition: number; offset: bigint }

/** A position with the offset that a request started at. */
type FetchStart = Readonly<{ position: FetchPosition; offset: bigint }>
type FetchStarts = ReadonlyMap<number, FetchStart>

/** As in ConsumerListener, but with the client's errors. */
type ReaderEvents = Pick<ConsumerListener, 'demand' | 'onRecords' | 'onEndOffset' | 'onOffsetReset' | 'onRecovered'> &
  Readonly<{
    onTrouble: (error: unknown) => void
    onReplaced: (error: unknown) => void
    /** The retries are used up. */
    onEnd: (error: unknown) => void
  }>

export class TopicReader {
  readonly #client: GroupClient
  readonly #topic: string
  readonly #events: ReaderEvents
  readonly #busyNodes = new Set<number>()
  readonly #resting = new RestingPartitions(() => {
    this.#forgetLayout()
    this.#plan()
  })
  #positions: ReadonlyMap<number, FetchPosition> = new Map()
  #layout: TopicLayout | undefined
  #topicId: string | undefined
  #isClosed = false
  #failures = 0
  #isPlanning = false
  #planAgain = false

  constructor(settings: KafkaSettings, groupId: string, topic: string, events: ReaderEvents) {
    this.#client = new GroupClient(settings, groupId)
    this.#topic = topic
    this.#events = events
  }

  /** The partitions to fetch from now on, in place of the former ones. */
  assign(positions: readonly FetchPosition[]): void {
    this.#positions = new Map(positions.map((position) => [position.partition, position]))
    this.#plan()
  }

  demandChanged(): void {
    this.#plan()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#resting.close()
    await within(CLOSE_MS, this.#client.close(true))
  }

  #plan(): void {
    if (this.#isClosed) return
    this.#planAgain = true
    if (this.#isPlanning) return
    this.#isPlanning = true
    void this.#planWhileNeeded()
  }

  async #planWhileNeeded(): Promise<void> {
    while (this.#planAgain && !this.#isClosed) {
      this.#planAgain = false
      try {
        await this.#startFetches()
      } catch (error) {
        await this.#recover(error)
        this.#planAgain = true
      }
    }
    this.#isPlanning = false
  }

  /** Starts a fetch from each broker that leads partitions with demand and has no fetch in progress. */
  async #startFetches(): Promise<void> {
    const demand = this.#events.demand()
    const wanted = [...this.#positions.values()].filter(
      ({ partition }) => demand.partitionBytes.has(partition) && !this.#resting.has(partition),
    )
    if (this.#isClosed || wanted.length === 0) return
    this.#layout ??= await this.#client.readLayout(this.#topic)
    if (this.#isClosed) return
    const { id, leaders } = this.#layout
    this.#topicId ??= id
    if (id !== this.#topicId) return this.#events.onReplaced(new Error(TOPIC_REPLACED))
    for (const [node, group] of Map.groupBy(wanted, ({ partition }) => leaders[partition] ?? -1)) {
      if (node < 0) {
        const numbers = group.map(({ partition }) => partition)
        this.#setAside(numbers, new Error(`the partitions ${numbers.join(', ')} of the topic have no leader`))
      } else if (!this.#busyNodes.has(node)) {
        this.#busyNodes.add(node)
        void this.#fetchFrom(node, id, group, demand)
      }
    }
  }

  async #fetchFrom(node: number, topicId: string, group: readonly FetchPosition[], demand: FetchDemand): Promise<void> {
    const starts = new Map(group.map((position) => [position.partition, { position, offset: position.offset }]))
    const { maxBytes, partitionBytes } = demand
    // Then no partition waits for the next fetch.
    const isIdle = [...this.#positions.keys()].every((partition) => partitionBytes.has(partition))
    const partitions = [...starts].map(([partition, { offset }]) => ({
      partition,
      fetchOffset: offset,
      partitionMaxBytes: partitionBytes.get(partition) ?? maxBytes,
      currentLeaderEpoch: -1,
      lastFetchedEpoch: -1,
    }))
    try {
      const fetched = await this.#client.fetch({
        node,
        topics: [{ topicId, partitions }],
        minBytes: 1,
        maxBytes,
        maxWaitTime: isIdle ? IDLE_WAIT_MS : BUSY_WAIT_MS,
        // What GroupClient replaces, so that the library leaves out nothing.
        isolationLevel: FetchIsolationLevels.READ_UNCOMMITTED,
      })
      this.#deliver(fetched, starts)
    } catch (error) {
      if (!this.#isClosed) await this.#deliverDespite(error, starts).catch((fault) => this.#failAll(fault, starts))
    }
    this.#busyNodes.delete(node)
    this.#plan()
  }

  /** Hands over the records of each partition, unless it was revoked or reset during the fetch. */
  #deliver({ responses }: Fetched, starts: FetchStarts): void {
    this.#failures = 0
    for (const fetched of responses.flatMap((one) => one.partitions)) {
      const { partitionIndex: partition } = fetched
      const start = starts.get(partition)
      if (fetched.errorCode !== 0 || start === undefined || !this.#isCurrent(start)) continue
      this.#resting.recovered(partition)
      if (fetched.highWatermark >= 0n) this.#events.onEndOffset(partition, fetched.highWatermark)
      const { records, next } = readFetched(this.#topic, fetched, start.offset)
      if (next <= start.offset) continue
      start.position.offset = next
      this.#events.onRecords(partition, records, next)
    }
    if (this.#resting.areRecovered((partition) => this.#positions.has(partition))) this.#events.onRecovered()
  }

  #isCurrent({ position, offset }: FetchStart): boolean {
    return !this.#isClosed && this.#positions.get(position.partition) === position && position.offset === offset
  }

  /** Delivers the partitions that did not fail. Rejects if the whole fetch failed. */
  async #deliverDespite(error: unknown, starts: FetchStarts): Promise<void> {
    const response = fetchedDespite(error)
    if (response === undefined) {
      // The client opens a new fetch session by itself: an error of some partitions made the broker drop the former one.
      if (!isProtocolError(error, 'INVALID_FETCH_SESSION_EPOCH') || this.#failures > 0) throw error
      this.#failures += 1
      return
    }
    const failed = response.responses.flatMap((one) => one.partitions).filter(({ errorCode }) => errorCode !== 0)
    const { lost = [], others = [] } = Object.groupBy(failed, ({ errorCode }) =>
      errorCode === OFFSET_OUT_OF_RANGE ? 'lost' : 'others',
    )
    if (others.length > 0) {
      this.#setAside(
        others.map(({ partitionIndex }) => partitionIndex),
        error,
      )
    }
    this.#deliver(response, starts)
    const lostStarts = lost.flatMap(({ partitionIndex }) => starts.get(partitionIndex) ?? [])
    if (lostStarts.length > 0) await this.#resetOffsets(lostStarts, error)
  }

  /** Continues at the earliest record of each partition whose next record does not exist any more. */
  async #resetOffsets(lost: readonly FetchStart[], error: unknown): Promise<void> {
    const numbers = lost.map(({ position }) => position.partition)
    const earliest = await this.#client.readOffsets(this.#topic, ListOffsetTimestamps.EARLIEST, numbers)
    const latest = await this.#client.readOffsets(this.#topic, ListOffsetTimestamps.LATEST, numbers)
    for (const start of lost) {
      const { position, offset } = start
      const [first, end] = [earliest[position.partition], latest[position.partition]]
      if (first === undefined || end === undefined) throw error
      if (!this.#isCurrent(start) || (offset >= first && offset <= end)) continue
      // A commit of queued records that do not exist any more would skip records that exist now.
      if (!this.#events.onOffsetReset(position.partition, first)) return this.#events.onReplaced(error)
      position.offset = first
    }
  }

  /** The partitions of one unreachable broker rest; those of the others are fetched. */
  #failAll(error: unknown, starts: FetchStarts): void {
    this.#failures += 1
    if (this.#failures > MAX_RETRIES) this.#end(error)
    else this.#setAside([...starts.keys()], error)
  }

  #setAside(partitions: readonly number[], error: unknown): void {
    if (this.#isClosed) return
    this.#resting.add(partitions)
    this.#events.onTrouble(error)
  }

  async #recover(error: unknown): Promise<void> {
    if (this.#isClosed) return
    this.#failures += 1
    if (this.#failures > MAX_RETRIES) return this.#end(error)
    this.#events.onTrouble(error)
    this.#forgetLayout()
    await sleep(RETRY_MS)
  }

  #forgetLayout(): void {
    this.#layout = undefined
    this.#client.clearMetadata()
  }

  /** No further tries: the policy may need a while until it closes the session. */
  #end(error: unknown): void {
    this.#isClosed = true
    this.#events.onEnd(error)
  }
}

const REST_MS = 500

/** Partitions that cannot be read now. They rest for a while, so that fetches of the others do not fail with them. */
class RestingPartitions {
  /** Not readable at the last try, and those of them that are not tried now. */
  readonly #troubled = new Set<number>()
  readonly #resting = new Set<number>()
  readonly #onRetry: () => void
  #timer: NodeJS.Timeout | undefined

  /** `onRetry` is called after each rest, when all partitions may be tried again. */
  constructor(onRetry: () => void) {
    this.#onRetry = onRetry
  }

  has(partition: number): boolean {
    return this.#resting.has(partition)
  }

  /** Excludes the partitions from fetches until the next retry. */
  add(partitions: readonly number[]): void {
    for (const partition of partitions) {
      this.#troubled.add(partition)
      this.#resting.add(partition)
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#resting.clear()
      this.#onRetry()
    }, REST_MS)
  }

  /** A fetch of the partition has succeeded. */
  recovered(partition: number): void {
    this.#troubled.delete(partition)
  }

  /** Forgets partitions that are not assigned any more; returns whether no assigned partition is in trouble. */
  areRecovered(isAssigned: (partition: number) => boolean): boolean {
    for (const partition of this.#troubled) if (!isAssigned(partition)) this.#troubled.delete(partition)
    return this.#troubled.size === 0
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}

type Fetched = Awaited<ReturnType<Consumer['fetch']>>
type FetchedPartition = Fetched['responses'][number]['partitions'][number]

/** The response inside the error of a fetch in which only some partitions failed; undefined if all of it failed. */
function fetchedDespite(error: unknown): Fetched | undefined {
  const { response } = error as { response?: Fetched }
  return response?.errorCode === 0 ? response : undefined
}

/** Bits of a batch's attributes (https://kafka.apache.org/documentation/#recordbatch). */
const IS_TRANSACTIONAL = 0x10
const IS_CONTROL = 0x20
/** Type of a control record, the second number of its key (https://kafka.apache.org/documentation/#controlbatch). */
const ABORT = 0

/**
 * In: the response for one partition. Out: its records from `start` on (a batch may start before it), and the offset
 * behind the last batch.
 *
 * The broker returns no records of an open transaction, and names the aborted ones: their records are left out here.
 */
function readFetched(
  topic: string,
  { partitionIndex: partition, records: batches, abortedTransactions }: FetchedPartition,
  start: bigint,
): { records: ConsumedRecord[]; next: bigint } {
  const records: ConsumedRecord[] = []
  const aborted = (abortedTransactions ?? []).toSorted((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1))
  const abortedProducers = new Set<bigint>()
  let next = start
  for (const batch of batches ?? []) {
    next = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n
    while (aborted[0] !== undefined && aborted[0].firstOffset < next) {
      abortedProducers.add((aborted.shift() as (typeof aborted)[number]).producerId)
    }
    if ((batch.attributes & IS_CONTROL) !== 0) {
      if (batch.records[0]?.key?.readInt16BE(2) === ABORT) abortedProducers.delete(batch.producerId)
      continue
    }
    if ((batch.attributes & IS_TRANSACTIONAL) !== 0 && abortedProducers.has(batch.producerId)) continue
    for (const { offsetDelta, timestampDelta, key, value, headers } of batch.records) {
      const offset = batch.firstOffset + BigInt(offsetDelta)
      if (offset < start) continue
      const timestamp = Number(batch.firstTimestamp + timestampDelta)
      records.push({ topic, partition, offset, timestamp, key, value, headers })
    }
  }
  return { records, next }
}

/** A topic that was deleted and created again keeps its name, but not its id. */
type TopicLayout = Readonly<{
  id: string
  /** Node id of the leader, by partition; -1 if there is none now. */
  leaders: readonly number[]
}>

type Api = Readonly<{ version: number }> & ((...args: unknown[]) => void)

/** The parts of the requests and responses of https://kafka.apache.org/protocol that this client reads or writes itself. */
type CommitTopic = Readonly<{ name: string; partitions: readonly Readonly<{ partitionIndex: number }>[] }>
type FetchedTopic = Readonly<{
  name: string
  partitions: readonly Readonly<{ partitionIndex: number; metadata: string | null }>[]
}>
type FetchedOffsets = Readonly<{ groups?: readonly Readonly<{ topics: readonly FetchedTopic[] }>[] }>
type MetadataResponse = Readonly<{
  topics?: readonly Readonly<{
    name: string | null
    topicId: string
    errorCode: number
    partitions: readonly Readonly<{ partitionIndex: number; leaderId: number }>[]
  }>[]
}>

/** The place of the isolation level among the arguments of a Fetch, of which the first is the connection. */
const ISOLATION_LEVEL = 4

/**
 * A client of the group that never joins it, without retries. Its calls reject with their own errors. It wraps requests of the
 * library, so that finding the coordinator, connections and errors stay the library's own:
 *
 * - Fetches are for committed records, and their answer is handed over unchanged. When the library itself is asked for
 *   committed records, it leaves out all records of a producer from its last aborted transaction on up to the last mark of an
 *   abort, committed ones as well.
 * - Offsets are committed and read with metadata, of which the library commits none and drops what it reads.
 */
export class GroupClient extends Consumer {
  #metadataToCommit: (partition: number) => string = () => ''
  readonly #fetchedMetadata = new Map<string, string>()

  constructor(settings: KafkaSettings, groupId: string) {
    super({ ...clientOptions(settings), groupId, autocommit: false, retries: 0 })
    ignoreErrors(this)
  }

  /** Commits the offsets, which are of one topic. One call at a time. */
  async commitWith(offsets: readonly CommitOptionsPartition[], metadata: (partition: number) => string): Promise<void> {
    this.#metadataToCommit = metadata
    await this.commit({ offsets: [...offsets] })
  }

  /** The metadata that `listCommittedOffsets` has read last; empty without any. */
  readMetadata(topic: string, partition: number): string {
    return this.#fetchedMetadata.get(`${partition} ${topic}`) ?? ''
  }

  /** The offset at the time, by partition: of all partitions of the topic, or of these. */
  async readOffsets(
    topic: string,
    timestamp: bigint,
    partitions?: readonly number[],
    isolationLevel: number = FetchIsolationLevels.READ_UNCOMMITTED,
  ): Promise<readonly bigint[]> {
    const chosen = partitions === undefined ? {} : { partitions: { [topic]: [...partitions] } }
    return (await this.listOffsets({ topics: [topic], ...chosen, timestamp, isolationLevel })).get(topic) ?? []
  }

  /**
   * The library's own call fails as a whole if one partition has no leader, so its error is read as well. Rejects if the topic
   * does not exist or no broker answers.
   */
  async readLayout(topic: string): Promise<TopicLayout> {
    try {
      const info = (await this.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic)
      if (info === undefined) throw new Error('Unknown topic')
      return { id: info.id, leaders: info.partitions.map(({ leader }) => leader) }
    } catch (error) {
      const { response } = error as { response?: MetadataResponse }
      const known = response?.topics?.find(({ name, errorCode }) => name === topic && errorCode === 0)
      if (known === undefined) throw error
      const leaders: number[] = []
      for (const { partitionIndex, leaderId } of known.partitions) leaders[partitionIndex] = leaderId
      return { id: known.topicId, leaders }
    }
  }

  override [kGetApi](name: string, callback: Callback<never>): void {
    super[kGetApi](name, (error, api) => {
      if (error !== null || api === undefined) callback(error)
      else callback(null, this.#wrap(name, api as Api) as never)
    })
  }

  #wrap(name: string, api: Api): Api {
    const { version } = api
    if (name === 'Fetch') {
      const { READ_COMMITTED } = FetchIsolationLevels
      return Object.assign((...args: unknown[]) => api(...args.with(ISOLATION_LEVEL, READ_COMMITTED)), { version })
    }
    if (name === 'OffsetCommit') {
      return Object.assign((...args: unknown[]) => api(...args.with(-2, this.#addMetadata(args.at(-2)))), { version })
    }
    if (name !== 'OffsetFetch') return api
    const call = (...args: unknown[]) => {
      const callback = args.at(-1) as Callback<FetchedOffsets>
      const noteAndCall = (error: Error | null, response?: FetchedOffsets) => {
        this.#noteMetadata(response)
        callback(error, response)
      }
      api(...args.with(-1, noteAndCall))
    }
    return Object.assign(call, { version })
  }

  #addMetadata(topics: unknown): unknown {
    return (topics as readonly CommitTopic[]).map(({ name, partitions }) => ({
      name,
      partitions: partitions.map((one) => ({
        ...one,
        committedMetadata: this.#metadataToCommit(one.partitionIndex) || null,
      })),
    }))
  }

  #noteMetadata(response: FetchedOffsets | undefined): void {
    // Brokers of before Kafka 3.0 answer for one group, without a list.
    const groups = response?.groups ?? (response === undefined ? [] : [response as { topics?: FetchedTopic[] }])
    for (const { name, partitions } of groups.flatMap(({ topics = [] }) => topics)) {
      for (const { partitionIndex, metadata } of partitions) {
        this.#fetchedMetadata.set(`${partitionIndex} ${name}`, metadata ?? '')
      }
    }
  }
}
