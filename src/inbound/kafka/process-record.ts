/**
 * Processes one record: it succeeds, or its dead letter is acknowledged. There is no third way out, except that its
 * partition is revoked or its endpoint deleted; then the record is not done.
 */
import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import { Failure } from '../../core/failure.ts'
import { type Awaitable, isObject, type JsonObject } from '../../core/json.ts'
import type { Headers } from '../../core/message.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { BrokerRecord, RecordProducer, RecordTransactions } from '../../core/ports/record-producer.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import { codecForFormat } from '../../formats/codecs.ts'
import type { CompletedMessage } from '../completed-message.ts'
import type { Incoming } from '../incoming-message.ts'
import type { Intake } from '../intake.ts'
import type { ConsumedRecord } from './record-consumer.ts'
import type { QueueSlot } from './record-order.ts'

export type ProcessRecordOptions = Readonly<{
  /** The active endpoint; undefined once it is deleted, or consumes another topic. */
  current: () => CompiledEndpoint | undefined
  intake: Pick<Intake, 'accept' | 'refuse' | 'isDraining'>
  producer: RecordProducer
  /** Of the partition, if what is produced for its records and their offsets are to be committed together. */
  transactions?: RecordTransactions | undefined
  logger: Logger
  /** Without it, a record that cannot be processed stops its partition. */
  deadLetterTopic: string | undefined
  /** The pause before each retry of a failure that may pass. */
  retryPausesMs: readonly number[]
  validationAcceptNullValues: boolean
  produceTimeoutMs: number
}>

/** The state of a record, and of its partition. `waiting`: for the next attempt; `stopped`: it cannot continue. */
export type RecordState = Readonly<{ state: 'running' | 'waiting' | 'stopped'; error?: string }>

/** What the processing of a record that does not succeed at once gets from its partition. */
export interface RecordHandle {
  /** Aborted when the partition is closed. */
  readonly signal: AbortSignal
  report(state: RecordState): void
  /**
   * Resolves after timeMs or when the endpoint was changed; without timeMs, only then. Rejects when the signal is aborted.
   * The record holds no permit meanwhile, so that it does not keep other records from starting.
   */
  pause(timeMs: number | undefined): Promise<void>
}

/** gone: the endpoint does not consume the topic any more; busy: the message was not let in, which isn't an attempt. */
type RecordAttempt = 'done' | 'gone' | 'busy' | Failure

/** The result of an attempt. Keep only `readResult` of it: a CompletedMessage holds the whole message in memory. */
type Ended = 'gone' | 'busy' | Pick<CompletedMessage, 'failure'>

const BUSY_PAUSE_MS = 50
const MAX_PAUSE_MS = 30_000

/**
 * True when the record is done, false when it does not belong to this member any more. Not a promise where nothing was
 * waited for. A bug throws or rejects. `openHandle` is called once, if the first attempt does not succeed. With a `slot`, a
 * record behind one that failed counts as not tried, and the result is false.
 */
export function processRecord(
  record: ConsumedRecord,
  options: ProcessRecordOptions,
  openHandle: () => RecordHandle,
  slot?: QueueSlot,
): boolean | Promise<boolean> {
  const first = attempt(record, options, 0, slot)
  if (slot !== undefined) return runInOrder(first, slot, (outcome) => retry(record, outcome, options, openHandle()))
  const retryUnlessDone = (ended: Ended): boolean | Promise<boolean> => {
    const outcome = readResult(ended)
    return outcome === 'done' ? true : retry(record, outcome, options, openHandle())
  }
  return first instanceof Promise ? first.then(retryUnlessDone) : retryUnlessDone(first)
}

function runInOrder(
  first: Awaitable<Ended>,
  slot: QueueSlot,
  retryAlone: (first: Exclude<RecordAttempt, 'done'>) => Promise<boolean>,
): Promise<boolean> {
  return Promise.resolve(first).then(
    (ended) => {
      const outcome = readResult(ended)
      if (outcome !== 'done') return slot.fail().then((isFirst) => isFirst && retryAlone(outcome))
      slot.settle()
      return true
    },
    async (bug: unknown) => {
      await slot.fail()
      throw bug
    },
  )
}

/** `attempts`: the number of earlier attempts. */
function attempt(
  record: ConsumedRecord,
  options: ProcessRecordOptions,
  attempts: number,
  slot?: QueueSlot,
): Awaitable<Ended> {
  const { current, intake } = options
  const compiled = current()
  if (compiled === undefined) return 'gone'
  if (intake.isDraining) return 'busy'
  const incoming: Incoming = {
    origin: {
      door: 'kafka',
      triesAgain: (failure) =>
        failure.retry &&
        (options.retryPausesMs[attempts] !== undefined ||
          options.deadLetterTopic === undefined ||
          waitsForDeliveries(failure)),
      slot,
      producer: options.transactions?.open(record.offset + 1n, compiled.produces ?? 0),
    },
    requestHeaders: readHeaders(record),
    // A format without null leaves a tombstone without a body, which fails with BODY_UNREADABLE.
    body: record.value ?? nullBody(compiled),
  }
  const refusal = refuseTombstone(record, compiled, options)
  return refusal === undefined
    ? intake.accept(compiled, incoming)
    : intake.refuse(compiled, refusal, incoming.origin, incoming)
}

const readResult = (ended: Ended): RecordAttempt => (typeof ended === 'string' ? ended : (ended.failure ?? 'done'))

/** Continues after a first attempt that did not succeed. */
async function retry(
  record: ConsumedRecord,
  first: Exclude<RecordAttempt, 'done'>,
  options: ProcessRecordOptions,
  handle: RecordHandle,
): Promise<boolean> {
  const { signal } = handle
  const { current, retryPausesMs, deadLetterTopic } = options
  let outcome: RecordAttempt = first
  let attempts = 0
  let tried = current()
  try {
    while (outcome !== 'done') {
      signal.throwIfAborted()
      if (outcome === 'gone') return false
      if (outcome === 'busy') {
        await handle.pause(BUSY_PAUSE_MS)
      } else {
        attempts += 1
        const pauseMs = outcome.retry ? retryPausesMs[attempts - 1] : undefined
        if (pauseMs !== undefined) {
          handle.report({ state: 'waiting', error: outcome.message })
          await handle.pause(pauseMs)
        } else if (deadLetterTopic !== undefined && !waitsForDeliveries(outcome)) {
          return await writeDeadLetter(record, deadLetterTopic, outcome, attempts, options, handle)
        } else {
          handle.report({ state: 'stopped', error: outcome.message })
          // A failure that may pass is retried; any other waits for a change of the endpoint.
          await handle.pause(outcome.retry ? (retryPausesMs.at(-1) ?? MAX_PAUSE_MS) : undefined)
        }
      }
      // A change may have fixed the endpoint, so the record gets all of its attempts again.
      if (current() !== tried) attempts = 0
      tried = current()
      outcome = readResult(await attempt(record, options, attempts))
    }
    handle.report({ state: 'running' })
    return true
  } catch (thrown) {
    if (signal.aborted) return false
    throw thrown
  }
}

/** A full backlog is no fault of the record, and may last as long as an outage: a dead letter would lose its place in the order. */
const waitsForDeliveries = ({ kind }: Failure): boolean => kind.store === 'delivery'

/** Names in lower case; the values of a repeated name are joined, like those of a request. */
function readHeaders({ topic, partition, offset, key, headers }: ConsumedRecord): Headers {
  const origin: Headers = {
    'kafka-topic': topic,
    'kafka-partition': String(partition),
    'kafka-offset': String(offset),
    ...(key === null ? {} : { 'kafka-key': String(key) }),
  }
  // Most records have no headers, and this runs for each record.
  if (headers.length === 0) return origin
  const found = new Map<string, string>()
  for (const [rawName, rawValue] of headers) {
    const name = String(rawName ?? '').toLowerCase()
    const value = String(rawValue ?? '')
    const earlier = found.get(name)
    found.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  found.delete('kafka-key')
  return { ...Object.fromEntries(found), ...origin }
}

/** The failure of a tombstone that is refused without being parsed: VALIDATION_FAILED. */
function refuseTombstone(
  { value }: ConsumedRecord,
  compiled: CompiledEndpoint,
  { validationAcceptNullValues }: ProcessRecordOptions,
): Failure | undefined {
  if (value !== null || validationAcceptNullValues || !refusesNull(compiled)) return undefined
  const failure = new Failure(
    'VALIDATION_FAILED',
    'Validation failed: the record is a tombstone, without a value, and the schema does not accept null.',
    { path: 'inputValidation' },
  )
  failure.stage = 'validate'
  return failure
}

/** The body that a record without a value gets; undefined if the input format has none. */
export function nullBody({ endpoint }: CompiledEndpoint): Buffer | undefined {
  const { input } = endpoint.transformation
  return input === undefined ? undefined : codecForFormat(input).nullBody
}

/**
 * An endpoint with a schema takes a tombstone only if the schema names the type null. JSON Schema alone would let null pass
 * every rule for objects that does not name the type as well.
 */
export function refusesNull({ endpoint }: CompiledEndpoint): boolean {
  const schema = endpoint.inputValidation
  if (schema === undefined) return false
  const { properties } = schema
  const body = isObject(properties) ? properties.requestBody : undefined
  return !acceptsNull(isObject(body) ? body : schema)
}

const acceptsNull = ({ type, nullable }: JsonObject): boolean =>
  nullable === true || (Array.isArray(type) ? type : [type]).includes('null')

const DEAD_LETTER_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 }

/** In `template`, `{topic}` is the consumed topic. Out: undefined if records that cannot be processed stop their partition. */
export function deadLetterTopicFor(topic: string, template: string): string | undefined {
  if (template === 'off') return undefined
  const name = template.replaceAll('{topic}', topic)
  // The endpoint would consume its own dead letters forever.
  return name === topic ? undefined : name
}

/**
 * Writes the record to the dead-letter topic until the broker acknowledges it; the pauses between tries grow. Meanwhile
 * the partition reports `stopped`. Resolves to false if the endpoint is gone; rejects once the handle's signal is aborted.
 */
async function writeDeadLetter(
  record: ConsumedRecord,
  topic: string,
  failure: Failure,
  attempts: number,
  { current, producer, transactions, logger, produceTimeoutMs }: ProcessRecordOptions,
  handle: RecordHandle,
): Promise<boolean> {
  for (let pauseMs = 0; ; ) {
    handle.signal.throwIfAborted()
    const compiled = current()
    if (compiled === undefined) return false
    const endpoint = compiled.document.name
    try {
      const target = transactions?.open(record.offset + 1n, 1) ?? producer
      await target.produce(toDeadLetter(record, topic, compiled, failure, attempts), produceTimeoutMs)
      const { topic: source, partition, offset } = record
      logger.warn(
        { endpoint, code: failure.code, topic: source, partition, offset: String(offset), attempts },
        `A record went to the dead-letter topic ${topic}: ${failure.unquoted}`,
      )
      handle.report({ state: 'running', error: `A record went to ${topic}: ${failure.message}` })
      return true
    } catch (thrown) {
      const error = `The dead-letter topic cannot be written to: ${(thrown as Error).message}`
      handle.report({ state: 'stopped', error })
      if (pauseMs === 0) logger.error({ endpoint, topic, err: thrown }, error)
      pauseMs = nextPauseMs(pauseMs, DEAD_LETTER_BACKOFF)
      await handle.pause(pauseMs)
    }
  }
}

/** The record with its key, bytes and headers unchanged, followed by headers that say its origin and why it failed. */
function toDeadLetter(
  record: ConsumedRecord,
  topic: string,
  { document }: CompiledEndpoint,
  failure: Failure,
  attempts: number,
): BrokerRecord {
  return {
    topic,
    key: record.key,
    value: record.value,
    headers: [
      ...record.headers.map(([name, value]) => [name ?? '', value] as const),
      ['crosswalk.endpoint', document.name],
      ['crosswalk.endpoint-id', document._id],
      ['crosswalk.stage', failure.stage ?? 'receive'],
      ['crosswalk.code', failure.code],
      ['crosswalk.error', failure.message],
      ['crosswalk.topic', record.topic],
      ['crosswalk.partition', String(record.partition)],
      ['crosswalk.offset', String(record.offset)],
      ['crosswalk.timestamp', formatTime(record.timestamp)],
      ['crosswalk.attempts', String(attempts)],
    ],
  }
}

/** ISO 8601; as a number where a producer set a time that Date cannot hold. */
function formatTime(timestampMs: number): string {
  return Math.abs(timestampMs) <= 8.64e15 ? new Date(timestampMs).toISOString() : String(timestampMs)
}
