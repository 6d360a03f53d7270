/**
 * What becomes of one record: it succeeds, or it goes to the dead-letter topic and is acknowledged there. There is no
 * third way out, except that its partition is taken from us, and then it is not done.
 */
import { Failure } from '../../domain/failure.ts'
import type { Logger, RecordProducer } from '../../domain/ports.ts'
import type { Compiled } from '../../registry/compiled.ts'
import type { Intake } from '../../registry/intake.ts'
import { refusesNull } from '../../registry/tombstone.ts'
import { type ConsumedRecord, toDeadLetter, toIncoming } from './record.ts'

export type SettleOptions = Readonly<{
  /** The endpoint as it is in force now; undefined once it is gone, or consumes another topic. */
  current: () => Compiled | undefined
  intake: Intake
  producer: RecordProducer
  logger: Logger
  /** Undefined: records that cannot be processed stop their partition. */
  deadLetterTopic: string | undefined
  retryPausesMs: readonly number[]
  parserLimitBytes: number
  validationAcceptNullValues: boolean
  produceTimeoutMs: number
}>

/** How a record's partition is doing, for people. `waiting`: for the next attempt; `stopped`: cannot go on at all. */
export type RecordState = Readonly<{ state: 'running' | 'waiting' | 'stopped'; error?: string }>

export type Attendant = Readonly<{
  /** Aborted when the partition is no longer ours. */
  signal: AbortSignal
  report(state: RecordState): void
  /** Resolves after the time, or when the endpoint was changed; without a time, then only. Rejects when aborted. */
  pause(timeMs: number | undefined): Promise<void>
}>

type Attempt = 'done' | 'gone' | 'busy' | Failure

const BUSY_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 30_000

/** Resolves to true when the record is done, to false when it is not ours any more. */
export function settleRecord(
  record: ConsumedRecord,
  options: SettleOptions,
  attendant: Attendant,
): boolean | Promise<boolean> {
  const first = attempt(record, options, 0)
  if (first === 'done') return true
  return first instanceof Promise
    ? first.then((outcome) => (outcome === 'done' ? true : persist(record, outcome, options, attendant)))
    : persist(record, first, options, attendant)
}

/** `attempts`: how many there were before. */
function attempt(record: ConsumedRecord, options: SettleOptions, attempts: number): Attempt | Promise<Attempt> {
  const { current, intake } = options
  const compiled = current()
  if (compiled === undefined) return 'gone'
  // A message that is not let in was not tried: the record waits, however long that takes.
  if (intake.recordRefusal() !== undefined) return 'busy'
  const triesAgain = options.retryPausesMs[attempts] !== undefined || options.deadLetterTopic === undefined
  const incoming = toIncoming(record, compiled, triesAgain)
  const refused = refuseUnread(record, compiled, options)
  if (refused !== undefined) return intake.refuse(compiled, refused, incoming).failure ?? refused
  const outcome = intake.accept(compiled, incoming)
  return outcome instanceof Promise ? outcome.then(({ failure }) => failure ?? 'done') : (outcome.failure ?? 'done')
}

/** What need not be read to know that it cannot be processed. */
function refuseUnread(
  { value }: ConsumedRecord,
  compiled: Compiled,
  { parserLimitBytes, validationAcceptNullValues }: SettleOptions,
): Failure | undefined {
  const size = value?.byteLength ?? 0
  if (size > parserLimitBytes) {
    return new Failure('BODY_TOO_LARGE', `The record has ${size} bytes; PARSER_LIMIT is ${parserLimitBytes}.`)
  }
  if (value !== null || validationAcceptNullValues || !refusesNull(compiled)) return undefined
  const failure = new Failure(
    'VALIDATION_FAILED',
    'Validation failed: the record is a tombstone, without a value, and the schema does not accept null.',
    { path: 'inputValidation' },
  )
  failure.stage = 'validate'
  return failure
}

/** Everything after a first attempt that did not succeed. */
async function persist(
  record: ConsumedRecord,
  first: Exclude<Attempt, 'done'>,
  options: SettleOptions,
  attendant: Attendant,
): Promise<boolean> {
  const { signal, report, pause } = attendant
  const { current, retryPausesMs } = options
  let outcome: Attempt = first
  let attempts = 0
  let tried = current()
  try {
    while (outcome !== 'done') {
      signal.throwIfAborted()
      if (outcome === 'gone') return false
      if (outcome === 'busy') {
        await pause(BUSY_PAUSE_MS)
      } else {
        attempts += 1
        const pauseMs = outcome.retry ? retryPausesMs[attempts - 1] : undefined
        if (pauseMs !== undefined) {
          report({ state: 'waiting', error: outcome.message })
          await pause(pauseMs)
        } else if (options.deadLetterTopic !== undefined) {
          return await deadLetter(record, outcome, attempts, options.deadLetterTopic, options, attendant)
        } else {
          report({ state: 'stopped', error: outcome.message })
          // Only what may succeed later is tried again by itself; the rest waits for a change of the endpoint.
          await pause(outcome.retry ? (retryPausesMs.at(-1) ?? LONGEST_PAUSE_MS) : undefined)
        }
      }
      // Whoever changes an endpoint may have mended it: what came before says nothing of it then.
      if (current() !== tried) attempts = 0
      tried = current()
      outcome = await attempt(record, options, attempts)
    }
    report({ state: 'running' })
    return true
  } catch (thrown) {
    if (signal.aborted) return false
    throw thrown
  }
}

/** Writes until it is acknowledged; a dead-letter topic that does not answer stops the partition, and is told. */
async function deadLetter(
  record: ConsumedRecord,
  failure: Failure,
  attempts: number,
  topic: string,
  { current, producer, logger, produceTimeoutMs }: SettleOptions,
  { signal, report, pause }: Attendant,
): Promise<boolean> {
  for (let tries = 0; ; tries += 1) {
    signal.throwIfAborted()
    const compiled = current()
    if (compiled === undefined) return false
    try {
      await producer.produce(toDeadLetter(record, topic, compiled, failure, attempts), produceTimeoutMs)
      const { topic: source, partition, offset } = record
      logger.warn(
        {
          endpoint: compiled.document.name,
          code: failure.code,
          topic: source,
          partition,
          offset: String(offset),
          attempts,
        },
        `A record went to the dead-letter topic ${topic}: ${failure.unquoted}`,
      )
      report({ state: 'running', error: `A record went to ${topic}: ${failure.message}` })
      return true
    } catch (thrown) {
      const error = `The dead-letter topic cannot be written to: ${(thrown as Error).message}`
      report({ state: 'stopped', error })
      if (tries === 0) logger.error({ endpoint: compiled.document.name, topic, err: thrown }, error)
      await pause(Math.min(1_000 * 2 ** tries, LONGEST_PAUSE_MS))
    }
  }
}
