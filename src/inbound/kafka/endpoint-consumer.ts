/** The consumer of one endpoint, as long as it names a topic: opens a new session, after a pause, whenever one has ended. */

import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import type { ConsumerStatus } from '../../core/ports/consumer-state.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { GroupStart, RecordConsumer } from '../../core/ports/record-consumer.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import { openRecordSession, type RecordSession } from './consumer-session.ts'
import { consumptionOf, describeReset } from './consumer-status.ts'
import { deadLetterName, deadLetterTopicOf } from './dead-letter.ts'
import type { FetchBudget } from './fetch-demand.ts'
import { isExactlyOnce, orderOf, type RecordOrder } from './order/record-chains.ts'
import type { ProcessRecordOptions } from './process-record.ts'
import type { RecordLimits } from './record-message.ts'

const BACKOFF: Backoff = { firstMs: 500, longestMs: 10_000 }

export type RecordSettings = RecordLimits &
  Readonly<{
    /** Prefix of the consumer groups: each endpoint has the group `<groupId>.<endpoint id>`. */
    groupId: string
    /** Records of one endpoint that are under way or not yet committed, unless its document says another number. */
    maxInFlight: number
    /** Bytes of records of all endpoints that were fetched and are not done. */
    maxBufferedBytes: number
    retryPausesMs: readonly number[]
    /** `off`, or a name in which `{topic}` is the consumed topic. */
    deadLetterTopic: string
    produceTimeoutMs: number
  }>

export type EndpointConsumerOptions = Readonly<{
  consumer: RecordConsumer
  settings: RecordSettings
  budget: FetchBudget
  endpointId: string
  topic: string
  /** The order of the endpoint, and whether its records are processed exactly once; a consumer keeps both. */
  order: RecordOrder
  exactlyOnce: boolean
  /** The active endpoint; undefined once it is deleted. */
  get: () => CompiledEndpoint | undefined
}> &
  Pick<ProcessRecordOptions, 'intake' | 'producer' | 'logger'>

export interface EndpointConsumer {
  readonly topic: string
  readonly order: RecordOrder
  readonly exactlyOnce: boolean
  status(): ConsumerStatus
  /** Applies a change of the endpoint: to records that wait for their next attempt, and to a consumer that waits to start. */
  wake(): void
  /** Resolves when the records under way are done and committed, and the group is left. */
  stop(): Promise<void>
}

/** Whether the consumer can stay for the endpoint: under another order, records may run beside each other that must not any more. */
export const consumesAs = (
  endpoint: CompiledEndpoint['endpoint'],
  { topic, order, exactlyOnce }: Pick<EndpointConsumer, 'topic' | 'order' | 'exactlyOnce'>,
): boolean =>
  endpoint.kafkaConsumerTopic === topic && orderOf(endpoint) === order && isExactlyOnce(endpoint) === exactlyOnce

export function startEndpointConsumer(options: EndpointConsumerOptions): EndpointConsumer {
  const { consumer, settings, endpointId, topic, order, exactlyOnce, get, logger } = options
  const groupId = `${settings.groupId}.${endpointId}`
  const stopping = Promise.withResolvers<void>()
  let isStopping = false
  let session: RecordSession | undefined
  let isAssigned = false
  let isNewTopic = false
  /** The group has committed offsets of the topic, so that a partition without one is new, as in a topic created again. */
  let isStarted = false
  let lastError: ConsumerStatus['lastError']
  /** What fails now; undefined if nothing does. Logged when it changes. */
  let trouble: string | undefined
  let pauseMs = 0
  let changed = Promise.withResolvers<void>()

  const fields = () => ({ endpoint: get()?.document.name, endpointId, topic })
  const note = (message: string) => {
    lastError = { message, at: new Date().toISOString() }
  }
  const onTrouble = (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    note(message)
    if (message === trouble) return
    trouble = message
    logger.warn(fields(), `Consuming the topic ${topic} does not go on and is tried again: ${message}`)
  }
  const processing = processingOf(options)
  const maxInFlight = () => get()?.endpoint.kafka?.inFlight ?? settings.maxInFlight
  warnOfOwnDeadLetters(settings.deadLetterTopic, topic, logger, fields())

  const open = (): Promise<RecordSession> =>
    openRecordSession({
      consumer,
      groupId,
      topic,
      maxInFlight: maxInFlight(),
      budget: options.budget,
      order,
      exactlyOnce,
      processing,
      isNewTopic,
      groupStart: isNewTopic || isStarted ? 'earliest' : groupStartOf(get()),
      onStarted: () => {
        isNewTopic = false
        isStarted = true
      },
      onReplaced: () => {
        isNewTopic = true
      },
      onAssigned: (partitions) => {
        isAssigned = true
        trouble = undefined
        pauseMs = 0
        logger.info({ ...fields(), partitions }, `Consuming the topic ${topic}`)
      },
      onTrouble,
      onRecovered: () => {
        trouble = undefined
      },
      onReport: (partition, { state, error }) => {
        if (error !== undefined) note(error)
        if (state === 'stopped') logger.error({ ...fields(), partition }, `Consuming stops here: ${error}`)
      },
      onOffsetReset: (partition, from, to) => {
        const message = describeReset(partition, from, to)
        note(message)
        logger.error({ ...fields(), partition }, message)
      },
    })
  const runSession = async (): Promise<void> => {
    changed = Promise.withResolvers()
    session = await open()
    const reason = await Promise.race([session.ended, stopping.promise])
    isAssigned = false
    await session.close()
    if (!isStopping) onTrouble(reason)
  }
  const pause = async (): Promise<void> => {
    pauseMs = nextPauseMs(pauseMs, BACKOFF)
    let timer: NodeJS.Timeout | undefined
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, pauseMs)
    })
    await Promise.race([timeUp, stopping.promise, changed.promise])
    clearTimeout(timer)
  }
  const supervise = async (): Promise<void> => {
    while (!isStopping) {
      try {
        await runSession()
      } catch (error) {
        // Nothing awaits this promise before `stop`: a rejection would end the process.
        onTrouble(error)
      }
      isAssigned = false
      session = undefined
      if (!isStopping) await pause()
    }
  }
  const supervising = supervise()

  return {
    topic,
    order,
    exactlyOnce,
    status: () => ({
      endpointId,
      endpoint: get()?.document.name ?? '',
      topic,
      groupId,
      ...consumptionOf(session, isAssigned && trouble === undefined),
      ...(lastError === undefined ? {} : { lastError }),
    }),
    wake: () => {
      session?.wake(maxInFlight())
      if (isAssigned) return
      pauseMs = 0
      changed.resolve()
    },
    stop: () => {
      isStopping = true
      stopping.resolve()
      return supervising
    },
  }
}

/** The start that `kafkaConsumerStart` names. */
function groupStartOf(compiled: CompiledEndpoint | undefined): GroupStart {
  const start = compiled?.endpoint.kafkaConsumerStart ?? 'earliest'
  if (start === 'earliest' || start === 'latest') return start
  return { group: start.slice('group:'.length) }
}

function processingOf(options: EndpointConsumerOptions): ProcessRecordOptions {
  const { settings, topic, get, intake, producer, logger } = options
  return {
    current: () => {
      const compiled = get()
      return compiled !== undefined && consumesAs(compiled.endpoint, options) ? compiled : undefined
    },
    intake,
    producer,
    logger,
    deadLetterTopic: deadLetterTopicOf(topic, settings.deadLetterTopic),
    retryPausesMs: settings.retryPausesMs,
    validationAcceptNullValues: settings.validationAcceptNullValues,
    produceTimeoutMs: settings.produceTimeoutMs,
  }
}

function warnOfOwnDeadLetters(template: string, topic: string, logger: Logger, fields: object): void {
  if (template === 'off' || deadLetterName(topic, template) !== topic) return
  logger.warn(
    fields,
    `The dead-letter topic ${topic} is the topic that is consumed: a record that cannot be processed stops its partition`,
  )
}
