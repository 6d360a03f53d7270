/** The consumer of one endpoint for as long as it names a topic: begins anew, after a pause, whenever it has ended. */
import type { ConsumerStatus, Logger } from '../../domain/ports.ts'
import type { Compiled } from '../../registry/compiled.ts'
import type { KafkaSettings } from './client-options.ts'
import { describeError } from './faults.ts'
import type { Partition } from './partition.ts'
import type { SettleOptions } from './settle.ts'
import { type Subscription, subscribe } from './subscription.ts'

const LEAST_PAUSE_MS = 500
const MOST_PAUSE_MS = 10_000

export type ConsumerOptions = Readonly<{
  settings: KafkaSettings
  endpointId: string
  topic: string
  /** The endpoint in force; undefined where it is gone. */
  get: () => Compiled | undefined
  intake: SettleOptions['intake']
  producer: SettleOptions['producer']
  logger: Logger
}>

export interface EndpointConsumer {
  readonly topic: string
  status(): ConsumerStatus
  changed(): void
  /** Resolves when the records under way are done and committed, and the group is left. */
  stop(): Promise<void>
}

export function startConsumer(options: ConsumerOptions): EndpointConsumer {
  const { settings, endpointId, topic, get, intake, producer, logger } = options
  const groupId = `${settings.kafkaGroupId}.${endpointId}`
  const stopping = Promise.withResolvers<void>()
  let isStopping = false
  let subscription: Subscription | undefined
  let joined = false
  let isAnew = false
  let lastError: ConsumerStatus['lastError']
  /** What is wrong now; undefined where nothing is. Told in the log when it changes, not each time. */
  let trouble: string | undefined
  let pauseMs = LEAST_PAUSE_MS

  const fields = () => ({ endpoint: get()?.document.name, endpointId, topic })
  const note = (message: string) => {
    lastError = { message, at: new Date().toISOString() }
  }
  const onTrouble = (error: unknown) => {
    const message = describeError(error)
    note(message)
    if (message === trouble) return
    trouble = message
    logger.warn(fields(), `Consuming the topic ${topic} does not go on and is tried again: ${message}`)
  }
  const current = () => {
    const compiled = get()
    return compiled?.endpoint.kafkaConsumerTopic === topic ? compiled : undefined
  }
  const deadLetters = settings.kafkaDeadLetterTopic.replaceAll('{topic}', topic)
  // What it consumes would come back for ever.
  const isOwnDeadLetters = deadLetters === topic
  if (isOwnDeadLetters) {
    logger.warn(
      fields(),
      `The dead-letter topic ${topic} is the topic that is consumed: a record that cannot be processed stops its partition`,
    )
  }
  const settle: SettleOptions = {
    current,
    intake,
    producer,
    logger,
    deadLetterTopic: settings.kafkaDeadLetterTopic === 'off' || isOwnDeadLetters ? undefined : deadLetters,
    retryPausesMs: settings.kafkaRetryPausesMs,
    parserLimitBytes: settings.parserLimitBytes,
    validationAcceptNullValues: settings.validationAcceptNullValues,
    produceTimeoutMs: settings.kafkaRequestTimeoutMs,
  }

  const live = async (): Promise<void> => {
    const life = subscribe({
      settings,
      groupId,
      topic,
      settle,
      isAnew,
      onCommitted: () => {
        isAnew = false
      },
      onReplaced: () => {
        isAnew = true
      },
      onJoined: (partitions) => {
        joined = true
        trouble = undefined
        pauseMs = LEAST_PAUSE_MS
        logger.info({ ...fields(), partitions }, `Consuming the topic ${topic}`)
      },
      onTrouble,
      onSound: () => {
        trouble = undefined
      },
      onReport: (partition, { state, error }) => {
        if (error !== undefined) note(error)
        if (state === 'stopped') logger.error({ ...fields(), partition }, `Consuming stops here: ${error}`)
      },
      onMoved: (partition, from, to) => {
        const message = describeMove(partition, from, to)
        note(message)
        logger.error({ ...fields(), partition }, message)
      },
    })
    subscription = life
    const reason = await Promise.race([life.ended, stopping.promise])
    joined = false
    await life.close()
    if (!isStopping) onTrouble(reason)
  }
  const supervise = async (): Promise<void> => {
    while (!isStopping) {
      try {
        await live()
      } catch (error) {
        // Nobody waits for this: what were not caught here would end the process.
        onTrouble(error)
      }
      joined = false
      subscription = undefined
      if (isStopping) return
      let timer: NodeJS.Timeout | undefined
      const pause = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, pauseMs)
      })
      await Promise.race([pause, stopping.promise])
      clearTimeout(timer)
      pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)
    }
  }
  const supervising = supervise()

  return {
    topic,
    status: () => {
      const partitions = (subscription?.partitions() ?? []).map(partitionStatus)
      const states = partitions.map(({ state }) => state)
      const worst = (['stopped', 'waiting'] as const).find((state) => states.includes(state)) ?? 'running'
      return {
        endpointId,
        endpoint: get()?.document.name ?? '',
        topic,
        groupId,
        state: joined && trouble === undefined ? worst : 'connecting',
        lag: partitions.reduce((sum, { lag }) => sum + lag, 0),
        inFlight: subscription?.inFlight ?? 0,
        partitions,
        ...(lastError === undefined ? {} : { lastError }),
      }
    },
    changed: () => subscription?.changed(),
    stop: () => {
      isStopping = true
      stopping.resolve()
      return supervising
    },
  }
}

function partitionStatus({ number, state: { state }, committedOffset, endOffset }: Partition) {
  const lag = endOffset > committedOffset ? endOffset - committedOffset : 0n
  return {
    partition: number,
    state,
    committed: Number(committedOffset),
    end: Number(endOffset),
    lag: Number(lag),
  }
}

const describeMove = (partition: number, from: bigint, to: bigint): string =>
  from < to
    ? `The records ${from} to ${to - 1n} of partition ${partition} were deleted before they were read; consuming goes on at ${to}`
    : `Partition ${partition} has no record ${from} any more: it was cut, or its topic made anew; consuming begins again at ${to}`
