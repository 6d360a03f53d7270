/** Writes queued records, one batch after the other, and retries while the store does not answer. */

import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Recorded } from '../../core/records/message-record.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import { StoreUnavailable } from '../../store/store-access.ts'
import { type Lines, type QueueLimits, type RecordQueue, splitInHalf } from './record-queue.ts'

type RecordWriter = Readonly<{
  /** Call it after records were queued. */
  wake(): void
  written(): number
  /** Writes what is queued now; resolves after that, when the store does not answer, or after the timeout. */
  flush(timeoutMs: number): Promise<void>
  /** Writes all that is queued; resolves after that or the timeout, to how many records were lost. */
  close(timeoutMs: number): Promise<number>
}>

type RecordWriterOptions = Readonly<{
  store: Pick<MessageStore, 'append' | 'appendDone'>
  queue: RecordQueue
  logger: Logger
  onWritten?: (bytes: number) => void
}>

const BATCH: QueueLimits = { records: 500, bytes: 4 * 1024 * 1024 }

/** How many records are written at once, and how long fewer wait for more. */
const GATHERED_RECORDS = 1_000
const GATHER_MS = 100

/** At most one warning about dropped records in this time. */
const WARNING_INTERVAL_MS = 60_000

/** Pauses before a store that did not answer is asked again; the last writes wait for it only as long as the longest. */
const BACKOFF: Backoff = { firstMs: 250, maxMs: 5_000 }

export function createRecordWriter({ store, queue, logger, onWritten }: RecordWriterOptions): RecordWriter {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let written = 0
  let pauseMs = 0
  let closing = false
  /** Lines that the store refused, logged together: there may be thousands. */
  let refused: Readonly<{ err: unknown; records: number }> | undefined
  let loggedDrops = 0
  let nextWarningAt = 0

  function logDropped(): void {
    const { done, partial, refused, failed } = queue.dropped
    const drops = done + partial + refused + failed
    if (drops === loggedDrops || (performance.now() < nextWarningAt && !closing)) return
    loggedDrops = drops
    nextWarningAt = performance.now() + WARNING_INTERVAL_MS
    logger.warn({ dropped: { ...queue.dropped } }, 'The message log could not follow; records were given up')
  }

  function logUnavailable(err: StoreUnavailable): void {
    logger.warn({ err, waiting: queue.size }, 'The message log did not answer; its records wait')
  }

  /**
   * Writes a batch, in halves if the store refuses it: one bad record must not take the others with it. Resolves to false
   * if the store does not answer; what was written until then is acknowledged.
   */
  async function write(batch: readonly Recorded[]): Promise<boolean> {
    try {
      await store.append(batch)
      written += batch.length
    } catch (err) {
      if (err instanceof StoreUnavailable) {
        logUnavailable(err)
        return false
      }
      const half = Math.ceil(batch.length / 2)
      if (batch.length > 1) return (await write(batch.slice(0, half))) && write(batch.slice(half))
      for (const { record } of batch) {
        logger.error({ err, messageId: record.id }, 'The record of a message cannot be stored')
        queue.countDropped(record.outcome)
      }
      queue.acknowledge(batch.length, true)
      return true
    }
    queue.acknowledge(batch.length)
    return true
  }

  /** As `write`, for lines. */
  async function writeDone(lines: Lines): Promise<boolean> {
    try {
      await store.appendDone(lines.bytes)
      written += lines.count
    } catch (err) {
      if (err instanceof StoreUnavailable) {
        logUnavailable(err)
        return false
      }
      if (lines.count > 1) {
        const [first, second] = splitInHalf(lines)
        return (await writeDone(first)) && writeDone(second)
      }
      refused = { err, records: (refused?.records ?? 0) + 1 }
      queue.countDropped('done')
      queue.acknowledgeDone(lines, true)
      return true
    }
    queue.acknowledgeDone(lines)
    return true
  }

  /** Failures first, as the store may stop answering before the rest is written. */
  async function writeNext(): Promise<boolean> {
    const { batch, bytes } = queue.take(BATCH)
    if (batch.length > 0 && !(await write(batch))) return false
    const lines = queue.takeDone()
    const answers = lines === undefined || (await writeDone(lines))
    if (refused !== undefined) logger.error(refused, 'The records of messages cannot be stored')
    refused = undefined
    if (!answers) return false
    onWritten?.(bytes + (lines?.bytes.byteLength ?? 0))
    return true
  }

  /**
   * Stops at a small rest that no sender waits for, until there are more records: many small batches would cost more than the
   * records in them.
   */
  async function writeAll(): Promise<void> {
    for (let min = 1; queue.size >= min; min = closing || queue.isAwaited ? 1 : GATHERED_RECORDS) {
      const answers = await writeNext()
      queue.setAnswering(answers)
      if (!answers) {
        queue.requeue()
        return
      }
      pauseMs = 0
    }
  }

  function run(): void {
    clearTimeout(timer)
    timer = undefined
    running ??= writeAll().finally(() => {
      running = undefined
      runOrSchedule()
    })
  }

  function runOrSchedule(): void {
    if (running !== undefined || queue.size === 0) return
    if (queue.isAnswering && !closing && (queue.size >= GATHERED_RECORDS || queue.isAwaited)) run()
    else schedule()
  }

  function schedule(): void {
    if (closing || timer !== undefined) return
    if (!queue.isAnswering) pauseMs = nextPauseMs(pauseMs, BACKOFF)
    timer = setTimeout(run, queue.isAnswering ? GATHER_MS : pauseMs)
    timer.unref()
  }

  return {
    wake: () => {
      logDropped()
      runOrSchedule()
    },
    written: () => written,
    flush: async (timeoutMs) => {
      const timeout = startTimeout(timeoutMs)
      // The run in progress, one that stops at a small rest, and one for that.
      for (let runs = 0; runs < 3 && queue.size > 0; runs += 1) {
        run()
        await Promise.race([running, timeout.over])
      }
      timeout.stop()
    },
    close: async (timeoutMs) => {
      closing = true
      const startedAt = performance.now()
      const timeout = startTimeout(timeoutMs)
      for (;;) {
        run()
        await Promise.race([running, timeout.over])
        const waitedMs = performance.now() - startedAt
        if (queue.size === 0 || waitedMs >= timeoutMs) break
        if (!queue.isAnswering && waitedMs >= BACKOFF.maxMs) break
        await Promise.race([new Promise((resolve) => setTimeout(resolve, BACKOFF.firstMs)), timeout.over])
      }
      timeout.stop()
      clearTimeout(timer)
      logDropped()
      if (queue.size > 0)
        logger.error({ records: queue.size }, 'Records of messages were lost: the message log did not answer')
      return queue.size
    },
  }
}

function startTimeout(ms: number): Readonly<{ over: Promise<void>; stop(): void }> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  return { over, stop: () => clearTimeout(timer) }
}
