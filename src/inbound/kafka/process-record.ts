/**
 * Processes one record: it succeeds, or its dead letter is acknowledged. There is no third way out, except that its
 * partition is revoked or its endpoint deleted; then the record is not done.
 */
import type { Failure } from '../../core/failure.ts'
import type { Awaitable } from '../../core/json.ts'
import type { ConsumedRecord } from '../../core/ports/record-consumer.ts'
import type { CompletedMessage } from '../completed-message.ts'
import type { Intake } from '../intake.ts'
import { type DeadLetterOptions, writeDeadLetter } from './dead-letter.ts'
import type { LineTurn } from './order/produce-line.ts'
import type { PartitionHandle } from './partition-handle.ts'
import { type RecordLimits, refusalOfRecord, toIncoming } from './record-message.ts'

export type ProcessRecordOptions = DeadLetterOptions &
  RecordLimits &
  Readonly<{
    intake: Pick<Intake, 'accept' | 'refuse' | 'isDraining'>
    /** Undefined: a record that cannot be processed stops its partition. */
    deadLetterTopic: string | undefined
    /** The pause before each retry of a failure that may pass. */
    retryPausesMs: readonly number[]
  }>

/** gone: the endpoint does not consume the topic any more; busy: the message was not let in, which is no attempt. */
type RecordAttempt = 'done' | 'gone' | 'busy' | Failure

/** The result of an attempt. Keep only `resultOf` of it: a CompletedMessage holds the whole message in memory. */
type Ended = 'gone' | 'busy' | Pick<CompletedMessage, 'failure'>

const BUSY_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 30_000

/**
 * True when the record is done, false when it does not belong to this member any more. Not a promise where nothing was
 * waited for. A bug throws or rejects. `openHandle` is called once, if the first attempt does not succeed. With a `turn`, a
 * record behind one that failed counts as not tried, and the result is false.
 */
export function processRecord(
  record: ConsumedRecord,
  options: ProcessRecordOptions,
  openHandle: () => PartitionHandle,
  turn?: LineTurn,
): boolean | Promise<boolean> {
  const first = attempt(record, options, 0, turn)
  if (turn !== undefined) return inTurn(first, turn, (outcome) => retry(record, outcome, options, openHandle()))
  const retryUnlessDone = (ended: Ended): boolean | Promise<boolean> => {
    const outcome = resultOf(ended)
    return outcome === 'done' ? true : retry(record, outcome, options, openHandle())
  }
  return first instanceof Promise ? first.then(retryUnlessDone) : retryUnlessDone(first)
}

function inTurn(
  first: Awaitable<Ended>,
  turn: LineTurn,
  retryAlone: (first: Exclude<RecordAttempt, 'done'>) => Promise<boolean>,
): Promise<boolean> {
  return Promise.resolve(first).then(
    (ended) => {
      const outcome = resultOf(ended)
      if (outcome !== 'done') return turn.fail().then((isFirst) => isFirst && retryAlone(outcome))
      turn.settle()
      return true
    },
    async (bug: unknown) => {
      await turn.fail()
      throw bug
    },
  )
}

/** `attempts`: the number of earlier attempts. */
function attempt(
  record: ConsumedRecord,
  options: ProcessRecordOptions,
  attempts: number,
  turn?: LineTurn,
): Awaitable<Ended> {
  const { current, intake } = options
  const compiled = current()
  if (compiled === undefined) return 'gone'
  if (intake.isDraining) return 'busy'
  const triesAgain = options.retryPausesMs[attempts] !== undefined || options.deadLetterTopic === undefined
  const producer = options.transactions?.open(record.offset + 1n, compiled.produces ?? 0)
  const incoming = toIncoming(record, compiled, triesAgain, turn, producer)
  const refusal = refusalOfRecord(record, compiled, options)
  return refusal === undefined ? intake.accept(compiled, incoming) : intake.refuse(compiled, refusal, incoming)
}

const resultOf = (ended: Ended): RecordAttempt => (typeof ended === 'string' ? ended : (ended.failure ?? 'done'))

/** Continues after a first attempt that did not succeed. */
async function retry(
  record: ConsumedRecord,
  first: Exclude<RecordAttempt, 'done'>,
  options: ProcessRecordOptions,
  handle: PartitionHandle,
): Promise<boolean> {
  const { signal, report, pause } = handle
  const { current, retryPausesMs, deadLetterTopic } = options
  let outcome: RecordAttempt = first
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
        } else if (deadLetterTopic !== undefined) {
          return await writeDeadLetter(record, deadLetterTopic, outcome, attempts, options, handle)
        } else {
          report({ state: 'stopped', error: outcome.message })
          // A failure that may pass is retried; any other waits for a change of the endpoint.
          await pause(outcome.retry ? (retryPausesMs.at(-1) ?? LONGEST_PAUSE_MS) : undefined)
        }
      }
      // A change may have fixed the endpoint, so the record gets all of its attempts again.
      if (current() !== tried) attempts = 0
      tried = current()
      outcome = resultOf(await attempt(record, options, attempts))
    }
    report({ state: 'running' })
    return true
  } catch (thrown) {
    if (signal.aborted) return false
    throw thrown
  }
}
