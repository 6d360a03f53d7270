/**
 * Records completed messages. Before its answer a message costs one entry in a queue, at most a short line; any other record
 * is built afterwards. All are written in batches, one after the other.
 */

import { isReplay } from '../../core/origin.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { MessageRecord, RecordedOutcome } from '../../core/records/message-record.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { OnRecorded } from '../../inbound/incoming-message.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import { type ActiveCaptures, createClaimQueue } from './captures.ts'
import { createRecordBuilder, type MessageLogSettings } from './record-builder.ts'
import { createFifoQueue, createRecordQueue, type QueueLimits } from './record-queue.ts'
import { createRecordWriter } from './record-writer.ts'

type RecorderOptions = Readonly<{
  store: Pick<MessageStore, 'append' | 'appendDone'>
  settings: MessageLogSettings
  captures: Pick<ActiveCaptures, 'size' | 'of' | 'claim'>
  logger: Logger
  /** Called with the record of a message that missed codes of tables, also where it isn't kept; `original`: if it is a replay. */
  onMissed?: (record: MessageRecord, original: string | undefined) => void
  /** Called after each batch with its estimated size. */
  onWritten?: (bytes: number) => void
  limits?: QueueLimits
}>

type RecordCounts = Readonly<{ written: number; dropped: Readonly<Record<RecordedOutcome, number>> }>

export interface Recorder {
  /** Quick, and never throws. */
  record(completed: CompletedMessage): void
  /** Since the start. */
  counts(): RecordCounts
  /** How many records are not written yet. */
  readonly waiting: number
  /** Resolves when the records of all messages that were completed before are written, at the latest after a second. */
  caughtUp(): Promise<void>
  /** Writes all records; resolves after that or the timeout, to how many records were lost. */
  close(timeoutMs: number): Promise<number>
}

const LIMITS: QueueLimits = { records: 10_000, bytes: 32 * 1024 * 1024 }

/** How long records are built in one iteration of the event loop, so that arriving messages do not wait for them. */
const SLICE_MS = 5

const CAUGHT_UP_MS = 1_000

/** A completed message whose record is not built yet. */
type QueuedMessage = Readonly<{ completed: CompletedMessage; bytes: number; isCaptured: boolean }>

export function createRecorder(options: RecorderOptions): Recorder {
  const { store, settings, captures, logger, onMissed, onWritten, limits = LIMITS } = options
  const builder = createRecordBuilder(settings)
  const queue = createRecordQueue(limits)
  const writer = createRecordWriter({ store, queue, logger, ...(onWritten === undefined ? {} : { onWritten }) })
  const messages = createFifoQueue<QueuedMessage>()
  let scheduled = false

  function buildOldest(): void {
    const oldest = messages.shift()
    if (oldest === undefined) return
    const { completed, isCaptured } = oldest
    try {
      const built = builder.build(completed, isCaptured)
      const onRecorded = recordedCallback(completed)
      if (typeof built !== 'string' && built.record.missed !== undefined)
        onMissed?.(built.record, originalOf(completed))
      if (!isCaptured && isOff(completed)) onRecorded?.(false)
      else if (typeof built === 'string') queue.pushDone(built, onRecorded)
      else queue.push(built, onRecorded)
    } catch (err) {
      recordedCallback(completed)?.(true)
      logger.error({ err, messageId: completed.messageId }, 'The record of a message could not be made')
    }
  }

  function buildUntil(endAt: number): void {
    do buildOldest()
    while (messages.count > 0 && performance.now() < endAt)
    writer.wake()
  }

  function runSlice(): void {
    buildUntil(performance.now() + SLICE_MS)
    scheduled = messages.count > 0
    if (scheduled) setImmediate(runSlice)
  }

  function enqueue(completed: CompletedMessage, isCaptured: boolean, mayDrop: boolean): void {
    const one = { completed, bytes: estimateRetainedBytes(completed), isCaptured }
    const isFull = () =>
      messages.count > 0 && (messages.count >= limits.records || messages.bytes + one.bytes > limits.bytes)
    if (mayDrop && isFull()) {
      queue.countDropped(completed.outcome)
      recordedCallback(completed)?.(true)
      return
    }
    // Failures must not be dropped here, so room is made by building records; the queue of records decides which to drop.
    while (isFull()) buildOldest()
    messages.add(one)
    if (scheduled) return
    scheduled = true
    setImmediate(runSlice)
  }

  /** Without a record of a successful replay, its message would be replayed again. */
  const isOff = (completed: CompletedMessage): boolean =>
    builder.planFor(completed.compiled).policy === 'off' && !isSuccessfulReplay(completed)

  function recordByPolicy(completed: CompletedMessage): void {
    const plan = builder.planFor(completed.compiled)
    const hasMissed = (completed.trace?.tableReads?.missed.size ?? 0) > 0
    if (isOff(completed) && !hasMissed) {
      recordedCallback(completed)?.(false)
      return
    }
    const line = builder.quickLine(plan, completed)
    if (line === undefined) {
      enqueue(completed, false, completed.outcome === 'done' && !isSuccessfulReplay(completed) && !hasMissed)
    } else {
      queue.pushDone(line, recordedCallback(completed))
      writer.wake()
    }
  }

  const claims = createClaimQueue({
    captures,
    estimateBytes: estimateRetainedBytes,
    limitBytes: limits.bytes,
    record: (completed, isCaptured) => (isCaptured ? enqueue(completed, true, false) : recordByPolicy(completed)),
    logger,
  })

  return {
    record: (completed) => {
      if (captures.size === 0 || !claims.offer(completed)) recordByPolicy(completed)
    },
    counts: () => ({ written: writer.written(), dropped: queue.dropped }),
    get waiting() {
      return claims.count + messages.count + queue.size
    },
    caughtUp: async () => {
      const endAt = performance.now() + CAUGHT_UP_MS
      await claims.drained(CAUGHT_UP_MS)
      while (messages.count > 0 && performance.now() < endAt) await new Promise((resolve) => setImmediate(resolve))
      await writer.flush(Math.max(1, endAt - performance.now()))
    },
    close: async (timeoutMs) => {
      const endAt = performance.now() + timeoutMs
      // Records can be written although the store of the captures does not answer.
      await claims.close(Math.min(timeoutMs / 2, CAUGHT_UP_MS))
      buildUntil(Number.POSITIVE_INFINITY)
      return writer.close(Math.max(0, endAt - performance.now()))
    },
  }
}

/** The message that a replay repeats in the end. */
const originalOf = ({ incoming }: CompletedMessage): string | undefined =>
  incoming && isReplay(incoming.origin) ? (incoming.origin.original ?? incoming.origin.replayOf) : undefined

const isSuccessfulReplay = ({ outcome, source }: CompletedMessage): boolean => outcome === 'done' && source === 'replay'

/** The sender of a failed message gets its answer at once. */
const recordedCallback = ({ failure, incoming }: CompletedMessage): OnRecorded | undefined =>
  failure === undefined ? incoming?.onRecorded : undefined

/** Values that are parsed and mapped take several times the bytes of their body; this counts where the body is large. */
const VALUES_FACTOR = 8
const LARGE_BYTES = 64 * 1024

/** Estimates what a message holds in memory until its record is built. */
function estimateRetainedBytes({ incoming, trace, answer }: CompletedMessage): number {
  const size = incoming?.body?.byteLength ?? 0
  let bytes = (size > LARGE_BYTES ? size * VALUES_FACTOR : size) + answer.body.length
  for (const { answer: got, sent } of trace?.calls ?? []) {
    bytes += (got?.body.byteLength ?? 0) + (sent?.body === undefined ? 0 : sent.size)
  }
  return bytes
}
