/**
 * Keeps a record of every message that has ended, behind its answer: what a message pays for it before that is one place
 * in a list. Records are written in batches, one after the other.
 */
import { doneHead, doneLine, restText } from '../domain/done-line.ts'
import { createIsoTime } from '../domain/iso-time.ts'
import type { MessageRecord, Recorded, RecordedOutcome } from '../domain/message-record.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { CompletedMessage } from '../intake/completed-message.ts'
import type { Source } from '../intake/incoming-message.ts'
import { createBodyKeeper } from './body-capture.ts'
import { compileKeys } from './business-keys.ts'
import { createFifoQueue, type QueueLimits } from './fifo-queue.ts'
import { callsOf, recordOf } from './record-of-message.ts'
import { createRecordQueue } from './record-queue.ts'
import { createRecordWriter } from './record-writer.ts'
import { keepBodies } from './recorded-bodies.ts'
import { secretsOf, withoutSecretsIn, withoutSecretsInKeys } from './recorded-secrets.ts'
import { compileRedaction, scrub, scrubRecord } from './redaction.ts'

/** What is kept: nothing; records; bodies of messages that did not end done too; all bodies. */
export type Policy = 'off' | 'metadata' | 'failures' | 'all'

export type RecorderSettings = Readonly<{
  messageLog: Policy
  messageLogBodyLimitBytes: number
  redactHeaders: readonly string[]
  redactPaths: readonly string[]
}>

export type RecorderOptions = Readonly<{
  store: Pick<MessageStore, 'append' | 'appendDone'>
  settings: RecorderSettings
  logger: Logger
  /** Told after each batch how much was written, in bytes about. */
  onWritten?: (bytes: number) => void
  limits?: QueueLimits
}>

export type RecordCounts = Readonly<{ written: number; dropped: Readonly<Record<RecordedOutcome, number>> }>

export interface Recorder {
  /** Quick, and never throws. */
  record(finished: CompletedMessage): void
  /** Since the start. */
  counts(): RecordCounts
  /** Records that are not written yet. */
  readonly waiting: number
  /** Resolves when the records of all messages that have ended before are written, or after a moment. */
  caughtUp(): Promise<void>
  /** Writes what waits; resolves when that is done or the time is up, to how many records were lost. */
  close(timeoutMs: number): Promise<number>
}

const LIMITS: QueueLimits = { records: 10_000, bytes: 32 * 1024 * 1024 }

/** How long records are made at a stretch: messages that have arrived meanwhile come first then. */
const STRETCH_MS = 5

/** How long somebody who asks for records waits for those that are on their way. */
const CAUGHT_UP_MS = 1_000

/** Of a message with more calls, even a line is made behind its answer. */
const CALLS_AT_ONCE = 8

/** What an endpoint's messages need, found out with the first of them. */
type Plan = {
  readonly policy: Policy
  readonly keys: ReturnType<typeof compileKeys>
  /** Whether a line of text says all that is kept of a message that ended done. */
  readonly inLines: boolean
  /** Of the last such line: that of the next one is mostly the same. */
  head: Head | undefined
}

const SECRET_HEADERS = ['authorization', 'cookie', 'set-cookie', 'x-api-key', 'proxy-authorization']
const NO_KEYS: MessageRecord['keys'] = {}
const NO_SECRETS: readonly string[] = []
const NOTHING_BUT_CALLS = { keys: NO_KEYS, bodies: [] }

type Ended = Readonly<{ finished: CompletedMessage; bytes: number }>

type Head = Readonly<{ source: Source; status: number; text: string }>

/** What a message holds as long as its record is not made, about. */
function heldBy({ incoming, trace, answer }: CompletedMessage): number {
  let bytes = (incoming?.body?.byteLength ?? 0) + answer.body.length
  for (const call of trace?.calls ?? []) bytes += call.answer?.body.byteLength ?? 0
  return bytes
}

export function createRecorder({ store, settings, logger, onWritten, limits = LIMITS }: RecorderOptions): Recorder {
  const { messageLog, messageLogBodyLimitBytes, redactHeaders, redactPaths } = settings
  const secretHeaders = new Set([...SECRET_HEADERS, ...redactHeaders.map((name) => name.toLowerCase())])
  const mask = compileRedaction(redactPaths)
  // What is masked in a message is masked in the URLs of its calls, so it must be looked for first.
  const mostCallsAtOnce = mask === undefined ? CALLS_AT_ONCE : 0
  const isoOf = createIsoTime()
  const plans = new WeakMap<CompiledEndpoint, Plan>()
  const queue = createRecordQueue(limits)
  const writer = createRecordWriter({ store, queue, logger, ...(onWritten === undefined ? {} : { onWritten }) })
  const withoutEndpoint: Plan = {
    policy: messageLog === 'off' ? 'off' : 'metadata',
    keys: undefined,
    inLines: false,
    head: undefined,
  }
  /** Messages whose records are not made yet. */
  const ended = createFifoQueue<Ended>()
  let scheduled = false

  function planOf(compiled: CompiledEndpoint | undefined): Plan {
    if (compiled === undefined) return withoutEndpoint
    const known = plans.get(compiled)
    if (known !== undefined) return known
    const { endpoint } = compiled
    const policy = endpoint.messageLog ?? messageLog
    const keys = compileKeys(endpoint)
    const plan = {
      policy,
      keys,
      inLines: keys === undefined && policy !== 'all' && endpoint.idempotency === undefined,
      head: undefined,
    }
    plans.set(compiled, plan)
    return plan
  }

  function headOf(plan: Plan, compiled: CompiledEndpoint, { source, answer: { status } }: CompletedMessage): string {
    const last = plan.head
    if (last !== undefined && last.source === source && last.status === status) return last.text
    const { endpoint, version, document } = compiled
    const text = doneHead(document._id, source, status, endpoint.name, version)
    plan.head = { source, status, text }
    return text
  }

  function recordedOf(finished: CompletedMessage): Recorded {
    const { policy, keys: readKeys } = planOf(finished.compiled)
    const { outcome, trace, failure, answer } = finished
    const keys = readKeys === undefined || policy === 'off' ? NO_KEYS : readKeys(trace?.reached)
    // What is given again is with the message that it was the answer of, without the secrets that only that one knew.
    const keepsBodies =
      answer.repeats === undefined && (policy === 'all' || (policy === 'failures' && outcome !== 'done'))
    const quotes = failure !== undefined || keys !== NO_KEYS
    // What was masked must be known to take it out of the rest of the record, whether or not the bodies are kept.
    const readsBodies = keepsBodies || (mask !== undefined && (quotes || (trace?.calls.length ?? 0) > 0))
    const secrets = quotes || readsBodies ? secretsOf(finished, secretHeaders) : NO_SECRETS
    const keeper = createBodyKeeper(messageLogBodyLimitBytes, mask, secrets)
    if (readsBodies) keepBodies(finished, keeper, secretHeaders)
    const { found } = keeper
    const kept = keepsBodies ? keeper.kept : []
    // What another system said is a body too.
    const text = failure && withoutSecretsIn(keepsBodies ? failure.message : failure.unquoted, secrets)
    const error = text && (mask === undefined ? text : scrub(text, found))
    const account = { keys: withoutSecretsInKeys(keys, secrets), kept, ...(error === undefined ? {} : { error }) }
    const record = recordOf(finished, account, isoOf)
    return { record: found.size === 0 ? record : scrubRecord(record, found), bodies: kept }
  }

  function makeOldest(): void {
    const oldest = ended.shift()
    if (oldest === undefined) return
    const { finished } = oldest
    try {
      const recorded = recordedOf(finished)
      const line = lineOf(recorded, finished)
      if (line === undefined) queue.push(recorded)
      else queue.pushDone(line)
    } catch (err) {
      logger.error({ err, messageId: finished.messageId }, 'The record of a message could not be made')
    }
  }

  function makeRecords(until: number): void {
    do makeOldest()
    while (ended.count > 0 && performance.now() < until)
    writer.wake()
  }

  function work(): void {
    makeRecords(performance.now() + STRETCH_MS)
    scheduled = ended.count > 0
    if (scheduled) setImmediate(work)
  }

  /** The record of a message that ended done as a line; undefined where a line cannot say it all. */
  function lineOf({ record, bodies }: Recorded, finished: CompletedMessage): string | undefined {
    const { compiled, trace, messageId } = finished
    if (record.outcome !== 'done' || record.replayOf !== undefined) return undefined
    if (compiled === undefined || trace === undefined || bodies.length > 0) return undefined
    if (Object.keys(record.keys).length > 0) return undefined
    const head = headOf(planOf(compiled), compiled, finished)
    return doneLine({ head, id: messageId, ms: finished.ms, stages: trace.stages, rest: restText(record) })
  }

  /** Whether a line was all there is to say, and could be made at once. */
  function recordDone(plan: Plan, finished: CompletedMessage): boolean {
    const { outcome, trace, compiled, incoming, messageId: id } = finished
    if (!plan.inLines || outcome !== 'done' || trace === undefined || trace.calls.length > mostCallsAtOnce) return false
    if (compiled === undefined || incoming?.replayOf !== undefined) return false
    const head = headOf(plan, compiled, finished)
    const rest = restText({ ...NOTHING_BUT_CALLS, calls: callsOf(trace) })
    queue.pushDone(doneLine({ head, id, ms: finished.ms, stages: trace.stages, rest }))
    writer.wake()
    return true
  }

  return {
    record: (finished) => {
      const plan = planOf(finished.compiled)
      const isReplayed = finished.outcome === 'done' && finished.incoming?.replayOf !== undefined
      // A replay is done once only where it is known of, whatever else is kept.
      if ((plan.policy === 'off' && !isReplayed) || recordDone(plan, finished)) return
      const one = { finished, bytes: heldBy(finished) }
      const isFull = () => ended.count > 0 && (ended.count >= limits.records || ended.bytes + one.bytes > limits.bytes)
      if (finished.outcome === 'done' && !isReplayed && isFull()) {
        queue.countDropped(finished.outcome)
        return
      }
      // What cannot wait as it is waits as a record, which the queue can bound.
      while (isFull()) makeOldest()
      ended.add(one)
      if (scheduled) return
      scheduled = true
      setImmediate(work)
    },
    counts: () => ({ written: writer.written(), dropped: queue.dropped }),
    get waiting() {
      return ended.count + queue.size
    },
    caughtUp: async () => {
      const until = performance.now() + CAUGHT_UP_MS
      while (ended.count > 0 && performance.now() < until) await new Promise((resolve) => setImmediate(resolve))
      await writer.flush(Math.max(1, until - performance.now()))
    },
    close: async (timeoutMs) => {
      makeRecords(Number.POSITIVE_INFINITY)
      return writer.close(timeoutMs)
    },
  }
}
