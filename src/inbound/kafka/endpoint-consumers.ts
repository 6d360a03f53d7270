/** One consumer for each active endpoint that names a topic, as endpoints are created, changed and deleted. */

import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import { within } from '../../core/within.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import { isPaused } from '../paused.ts'
import { FetchBudget, RecordSession } from './consumer-session.ts'
import type { PartitionQueue } from './partition-queue.ts'
import { deadLetterTopicFor, type ProcessRecordOptions } from './process-record.ts'
import type { GroupStart, RecordConsumer } from './record-consumer.ts'
import { type RecordOrder, readOrder } from './record-order.ts'

/** The records of a partition, or of all partitions of a consumer, that were started. */
type StartedRecords = Readonly<{
  /** Started and not done, without those of `retrying`. */
  underWay: number
  /** Records that wait for their next attempt, or for a change of the endpoint. */
  retrying: number
  /** Gaps of records that are not done, before the last record that is done. */
  holes: number
  /** When the oldest record that is not done was started. */
  oldestAt?: string
}>

/** The state of one partition, in offsets and numbers of records. */
type PartitionStatus = Readonly<{
  partition: number
  /** waiting: for the next attempt at a record; stopped: at a record that cannot be processed. */
  state: 'running' | 'waiting' | 'stopped'
  /** The next offset to be committed, and the end of the log. */
  committed: number
  end: number
  lag: number
}> &
  StartedRecords

/** connecting: not a member of the group; waiting: for the next attempt at a record; stopped: a partition cannot continue. */
export const CONSUMER_STATES = ['connecting', 'running', 'waiting', 'stopped'] as const

/** The state of a consumer, as `GET /consumers` and health report it. */
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

export type RecordSettings = Pick<
  ProcessRecordOptions,
  'retryPausesMs' | 'produceTimeoutMs' | 'validationAcceptNullValues'
> &
  Readonly<{
    /** Prefix of the consumer groups: each endpoint has the group `<groupId>.<endpoint id>`. */
    groupId: string
    /** Records of one endpoint that are in progress or not yet committed, unless its document says another number. */
    maxInFlight: number
    /** Bytes of records of all endpoints that were fetched and are not done. */
    maxBufferedBytes: number
    /** `off`, or a name in which `{topic}` is the consumed topic. */
    deadLetterTopic: string
  }>

/** What all consumers share. */
type SharedOptions = Pick<ProcessRecordOptions, 'intake' | 'producer' | 'logger'> &
  Readonly<{ consumer: RecordConsumer; settings: RecordSettings }>

type EndpointConsumersOptions = SharedOptions &
  Readonly<{
    registry: Pick<Registry, 'get' | 'all' | 'watch'>
    /** Whether this process consumes for an endpoint. */
    isOwn(endpointId: string): boolean
  }>

export class EndpointConsumers {
  readonly #options: EndpointConsumersOptions
  readonly #budget: FetchBudget
  /** The active endpoints that this process consumes topics for, by id. */
  readonly #wanted = new Map<string, CompiledEndpoint>()
  readonly #running = new Map<string, EndpointConsumer>()
  /** Endpoints whose former consumer is leaving its group; a new one joins it after that. */
  readonly #leaving = new Map<string, Promise<void>>()
  #isStopped = false

  /** Starts a consumer for each active endpoint with a topic, and follows every change from then on. */
  constructor(options: EndpointConsumersOptions) {
    this.#options = options
    this.#budget = new FetchBudget(options.settings.maxBufferedBytes)
    const add = (compiled: CompiledEndpoint): void => {
      const { _id } = compiled.document
      const isWanted = compiled.endpoint.kafkaConsumerTopic !== undefined && !isPaused(compiled)
      if (isWanted && options.isOwn(_id)) this.#wanted.set(_id, compiled)
    }
    options.registry.all().forEach(add)
    options.registry.watch(({ removed, added }) => {
      for (const { document } of removed) this.#wanted.delete(document._id)
      added.forEach(add)
      this.#follow()
    })
    this.#follow()
  }

  status(): readonly ConsumerStatus[] {
    return [...this.#running.values()].map((consumer) => consumer.status())
  }

  /** Resolves when all records in progress are done and committed. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#leaving.values(), ...[...this.#running.values()].map((consumer) => consumer.stop())])
    this.#running.clear()
  }

  #follow(): void {
    if (this.#isStopped) return
    const { registry, isOwn: _, ...shared } = this.#options
    for (const [id, consumer] of [...this.#running]) {
      const compiled = this.#wanted.get(id)
      if (compiled === undefined || !consumer.consumes(compiled)) this.#stopOne(id, consumer)
      else consumer.wake()
    }
    for (const [endpointId, { endpoint }] of this.#wanted) {
      const { kafkaConsumerTopic: topic } = endpoint
      if (topic === undefined || this.#running.has(endpointId) || this.#leaving.has(endpointId)) continue
      const consumer = new EndpointConsumer({
        ...shared,
        budget: this.#budget,
        endpointId,
        topic,
        order: readOrder(endpoint),
        exactlyOnce: isExactlyOnce(endpoint),
        get: () => registry.get(endpointId),
      })
      this.#running.set(endpointId, consumer)
    }
  }

  #stopOne(id: string, consumer: EndpointConsumer): void {
    this.#running.delete(id)
    const left: Promise<void> = Promise.all([this.#leaving.get(id), consumer.stop()]).then(() => {
      if (this.#leaving.get(id) !== left) return
      this.#leaving.delete(id)
      this.#follow()
    })
    this.#leaving.set(id, left)
  }
}

type EndpointConsumerOptions = SharedOptions &
  Readonly<{
    budget: FetchBudget
    endpointId: string
    topic: string
    /** The order of the endpoint, and whether its records are processed exactly once; a consumer keeps both. */
    order: RecordOrder
    exactlyOnce: boolean
    /** The active endpoint; undefined once it is deleted. */
    get: () => CompiledEndpoint | undefined
  }>

const BACKOFF: Backoff = { firstMs: 500, maxMs: 10_000 }

/** The consumer of one endpoint: opens a new session, after a pause, whenever one has ended. */
export class EndpointConsumer {
  readonly #options: EndpointConsumerOptions
  readonly #groupId: string
  readonly #processing: ProcessRecordOptions
  readonly #supervising: Promise<void>
  readonly #stopping = Promise.withResolvers<void>()
  #isStopping = false
  #session: RecordSession | undefined
  #isAssigned = false
  #isNewTopic = false
  /** The group has committed offsets of the topic, so that a partition without one is new, as in a topic created again. */
  #isStarted = false
  #lastError: ConsumerStatus['lastError']
  /** What fails now. Logged when it changes. */
  #trouble: string | undefined
  #pauseMs = 0
  #changed = Promise.withResolvers<void>()
  /** The version of the endpoint that applies. */
  #known: CompiledEndpoint | undefined

  /** Starts to consume. */
  constructor(options: EndpointConsumerOptions) {
    const { settings, endpointId, topic, get, intake, producer, logger } = options
    this.#options = options
    this.#known = get()
    this.#groupId = `${settings.groupId}.${endpointId}`
    const deadLetterTopic = deadLetterTopicFor(topic, settings.deadLetterTopic)
    this.#processing = {
      current: () => {
        const compiled = get()
        return compiled !== undefined && this.consumes(compiled) ? compiled : undefined
      },
      intake,
      producer,
      logger,
      ...settings,
      deadLetterTopic,
    }
    if (deadLetterTopic === undefined && settings.deadLetterTopic !== 'off') {
      logger.warn(
        this.#logFields(),
        `The dead-letter topic ${topic} is the topic that is consumed: a record that cannot be processed stops its partition`,
      )
    }
    this.#supervising = this.#supervise()
  }

  /** True if the consumer can stay: under another order, records may run beside each other that must not any more. */
  consumes(compiled: CompiledEndpoint): boolean {
    const { endpoint } = compiled
    const { topic, order, exactlyOnce } = this.#options
    return (
      !isPaused(compiled) &&
      endpoint.kafkaConsumerTopic === topic &&
      readOrder(endpoint) === order &&
      isExactlyOnce(endpoint) === exactlyOnce
    )
  }

  status(): ConsumerStatus {
    const { endpointId, topic, get } = this.#options
    const queues = this.#session?.queues ?? []
    const partitions = queues.map(readPartition)
    const states = partitions.map(({ state }) => state)
    const worst = (['stopped', 'waiting'] as const).find((state) => states.includes(state)) ?? 'running'
    return {
      endpointId,
      endpoint: get()?.document.name ?? '',
      topic,
      groupId: this.#groupId,
      state: this.#isAssigned && this.#trouble === undefined ? worst : 'connecting',
      lag: partitions.reduce((sum, { lag }) => sum + lag, 0),
      inFlight: this.#session?.inFlight ?? 0,
      ...sumStarted(queues),
      partitions,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    }
  }

  /** Applies a change of the endpoint, if there is one: to records that wait for their next attempt, and to a consumer that waits to start. */
  wake(): void {
    const compiled = this.#options.get()
    if (compiled === this.#known) return
    this.#known = compiled
    this.#session?.wake(this.#maxInFlight())
    if (this.#isAssigned) return
    this.#pauseMs = 0
    this.#changed.resolve()
  }

  /** Resolves when the records in progress are done and committed, and the group is left. */
  stop(): Promise<void> {
    this.#isStopping = true
    this.#stopping.resolve()
    return this.#supervising
  }

  async #supervise(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.#runSession()
      } catch (error) {
        // Nothing awaits this promise before `stop`: a rejection would end the process.
        this.#noteTrouble(error)
      }
      this.#isAssigned = false
      this.#session = undefined
      if (!this.#isStopping) await this.#pause()
    }
  }

  async #runSession(): Promise<void> {
    this.#changed = Promise.withResolvers()
    this.#session = await this.#open()
    const reason = await Promise.race([this.#session.ended, this.#stopping.promise])
    this.#isAssigned = false
    await this.#session.close()
    if (!this.#isStopping) this.#noteTrouble(reason)
  }

  #open(): Promise<RecordSession> {
    const { consumer, topic, budget, order, exactlyOnce, get, logger } = this.#options
    return RecordSession.open({
      consumer,
      groupId: this.#groupId,
      topic,
      maxInFlight: this.#maxInFlight(),
      budget,
      order,
      exactlyOnce,
      processing: this.#processing,
      isNewTopic: this.#isNewTopic,
      groupStart: this.#isNewTopic || this.#isStarted ? 'earliest' : readGroupStart(get()),
      onStarted: () => {
        this.#isNewTopic = false
        this.#isStarted = true
      },
      onReplaced: () => {
        this.#isNewTopic = true
      },
      onAssigned: (partitions) => {
        this.#isAssigned = true
        this.#trouble = undefined
        this.#pauseMs = 0
        logger.info({ ...this.#logFields(), partitions }, `Consuming the topic ${topic}`)
      },
      onTrouble: (error) => this.#noteTrouble(error),
      onRecovered: () => {
        this.#trouble = undefined
      },
      onReport: (partition, { state, error }) => {
        if (error !== undefined) this.#noteError(error)
        if (state === 'stopped') logger.error({ ...this.#logFields(), partition }, `Consuming stops here: ${error}`)
      },
      onOffsetReset: (partition, from, to) => {
        const message = describeReset(partition, from, to)
        this.#noteError(message)
        logger.error({ ...this.#logFields(), partition }, message)
      },
    })
  }

  async #pause(): Promise<void> {
    this.#pauseMs = nextPauseMs(this.#pauseMs, BACKOFF)
    await within(this.#pauseMs, Promise.race([this.#stopping.promise, this.#changed.promise]))
  }

  #maxInFlight(): number {
    const { get, settings } = this.#options
    return get()?.endpoint.kafka?.inFlight ?? settings.maxInFlight
  }

  #noteTrouble(error: unknown): void {
    const { topic, logger } = this.#options
    const message = error instanceof Error ? error.message : String(error)
    this.#noteError(message)
    if (message === this.#trouble) return
    this.#trouble = message
    logger.warn(this.#logFields(), `Consuming the topic ${topic} does not go on and is tried again: ${message}`)
  }

  #noteError(message: string): void {
    this.#lastError = { message, at: new Date().toISOString() }
  }

  #logFields(): object {
    const { get, endpointId, topic } = this.#options
    return { endpoint: get()?.document.name, endpointId, topic }
  }
}

/** What is produced for a record and its offset are one transaction. */
const isExactlyOnce = ({ kafka }: CompiledEndpoint['endpoint']): boolean => kafka?.exactlyOnce === true

/** The start that `kafkaConsumerStart` names. */
function readGroupStart(compiled: CompiledEndpoint | undefined): GroupStart {
  const start = compiled?.endpoint.kafkaConsumerStart ?? 'earliest'
  if (start === 'earliest' || start === 'latest') return start
  return { group: start.slice('group:'.length) }
}

function readPartition(queue: PartitionQueue): PartitionStatus {
  const { partition, state, committedOffset, endOffset } = queue
  const lag = endOffset > committedOffset ? endOffset - committedOffset : 0n
  return {
    partition,
    state: state.state,
    committed: Number(committedOffset),
    end: Number(endOffset),
    lag: Number(lag),
    ...sumStarted([queue]),
  }
}

function sumStarted(queues: readonly PartitionQueue[]): StartedRecords {
  const figures = queues.map((queue) => queue.figures)
  const sum = (number: 'underWay' | 'retrying' | 'holes') => figures.reduce((total, one) => total + one[number], 0)
  const starts = figures.flatMap(({ oldestAt }) => oldestAt ?? [])
  return {
    underWay: sum('underWay'),
    retrying: sum('retrying'),
    holes: sum('holes'),
    ...(starts.length === 0 ? {} : { oldestAt: new Date(Math.min(...starts)).toISOString() }),
  }
}

/** The sentence for records that were deleted before they were read; offsets, `to` is the next that exists. */
const describeReset = (partition: number, from: bigint, to: bigint): string =>
  from < to
    ? `The records ${from} to ${to - 1n} of partition ${partition} were deleted before they were read; consuming continues at ${to}`
    : `Partition ${partition} has no record ${from} any more: it was truncated, or its topic was created again; consuming restarts at ${to}`
