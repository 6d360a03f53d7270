/** Writes the records that wait, one batch after the other, and waits where the store does not answer. */

import { type Backoff, nextPauseMs } from '../domain/backoff.ts'
import type { Recorded } from '../domain/message-record.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import { StoreUnavailable } from '../domain/ports/store-unavailable.ts'
import { halvesOf, type Lines } from './record-buffer.ts'
import type { RecordQueue } from './record-queue.ts'

export type RecordWriter = Readonly<{
  /** Says that records wait. */
  wake(): void
  written(): number
  /** Writes what waits now; resolves when that is done, the store did not take it, or the time is up. */
  flush(timeoutMs: number): Promise<void>
  /** Writes all that wait; resolves when that is done or the time is up, to how many were left. */
  close(timeoutMs: number): Promise<number>
}>

export type RecordWriterOptions = Readonly<{
  store: Pick<MessageStore, 'append' | 'appendDone'>
  queue: RecordQueue
  logger: Logger
  onWritten?: (bytes: number) => void
}>

const BATCH_RECORDS = 500
const BATCH_BYTES = 4 * 1024 * 1024

/** How many records and how long they wait for more to share their batch. */
const GATHERED_RECORDS = 1_000
const GATHER_MS = 100

/** How often it is told at most that records were given up. */
const TELL_MS = 60_000

/** Pauses before a store that did not answer is asked again; at the end it is waited for only as long as the longest. */
const BACKOFF: Backoff = { firstMs: 250, longestMs: 5_000 }

export function createRecordWriter({ store, queue, logger, onWritten }: RecordWriterOptions): RecordWriter {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let written = 0
  let pauseMs = 0
  let closing = false
  /** Lines that the store refused, told together: there may be thousands. */
  let refused: Readonly<{ err: unknown; records: number }> | undefined
  let told = 0
  let tellAt = 0

  /** A queue that overflows does so many times a second. */
  function tellDropped(): void {
    const { done, partial, refused, failed } = queue.dropped
    const dropped = done + partial + refused + failed
    if (dropped === told || (performance.now() < tellAt && !closing)) return
    told = dropped
    tellAt = performance.now() + TELL_MS
    logger.warn({ dropped: { ...queue.dropped } }, 'The message log could not follow; records were given up')
  }

  function away(err: StoreUnavailable): false {
    logger.warn({ err, waiting: queue.size }, 'The message log did not answer; its records wait')
    return false
  }

  /** Resolves to whether the batch is done with; as much as is does not wait any more. */
  async function write(batch: readonly Recorded[]): Promise<boolean> {
    try {
      await store.append(batch)
      written += batch.length
    } catch (err) {
      if (err instanceof StoreUnavailable) return away(err)
      const half = Math.ceil(batch.length / 2)
      // One record that the store refuses must not take the others with it.
      if (batch.length > 1) return (await write(batch.slice(0, half))) && write(batch.slice(half))
      for (const { record } of batch) {
        logger.error({ err, messageId: record.id }, 'The record of a message cannot be stored')
        queue.giveUp(record.outcome)
      }
    }
    queue.settle(batch.length)
    return true
  }

  /** The same for lines. */
  async function writeDone(lines: Lines): Promise<boolean> {
    try {
      await store.appendDone(lines.bytes)
      written += lines.count
    } catch (err) {
      if (err instanceof StoreUnavailable) return away(err)
      if (lines.count > 1) {
        const [first, second] = halvesOf(lines)
        return (await writeDone(first)) && writeDone(second)
      }
      refused = { err, records: (refused?.records ?? 0) + 1 }
      queue.giveUp('done')
    }
    queue.settleDone(lines)
    return true
  }

  /** Failures first: what cannot be written in time is of messages that ended done. */
  async function writeNext(): Promise<boolean> {
    const { batch, bytes } = queue.take(BATCH_RECORDS, BATCH_BYTES)
    if (batch.length > 0 && !(await write(batch))) return false
    const lines = queue.takeDone()
    const through = lines === undefined || (await writeDone(lines))
    if (refused !== undefined) logger.error(refused, 'The records of messages cannot be stored')
    refused = undefined
    if (!through) return false
    onWritten?.(bytes + (lines?.bytes.byteLength ?? 0))
    return true
  }

  /** What arrives meanwhile gathers to a batch first: many small ones would cost more than the records in them. */
  async function writeAll(): Promise<void> {
    for (let least = 1; queue.size >= least; least = closing ? 1 : GATHERED_RECORDS) {
      const done = await writeNext()
      queue.setAnswering(done)
      if (!done) {
        queue.putBack()
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
      if (queue.size > 0) wakeLater()
    })
  }

  function wakeLater(): void {
    if (closing || timer !== undefined) return
    if (!queue.answering) pauseMs = nextPauseMs(pauseMs, BACKOFF)
    timer = setTimeout(run, queue.answering ? GATHER_MS : pauseMs)
    timer.unref()
  }

  return {
    wake: () => {
      tellDropped()
      if (running !== undefined || queue.size === 0) return
      if (queue.answering && queue.size >= GATHERED_RECORDS) run()
      else wakeLater()
    },
    written: () => written,
    flush: async (timeoutMs) => {
      let timeUp: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timeUp = setTimeout(resolve, timeoutMs)
      })
      // The run that is on its way, one that ends where too few are left for a batch, and one for those.
      for (let turn = 0; turn < 3 && queue.size > 0; turn += 1) {
        run()
        await Promise.race([running, late])
      }
      clearTimeout(timeUp)
    },
    close: async (timeoutMs) => {
      closing = true
      const startedAt = performance.now()
      const giveUpAt = startedAt + timeoutMs
      let timeUp: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timeUp = setTimeout(resolve, timeoutMs)
      })
      for (;;) {
        run()
        await Promise.race([running, late])
        const now = performance.now()
        if (queue.size === 0 || now >= giveUpAt) break
        if (!queue.answering && now >= startedAt + BACKOFF.longestMs) break
        await Promise.race([new Promise((resolve) => setTimeout(resolve, BACKOFF.firstMs)), late])
      }
      clearTimeout(timeUp)
      clearTimeout(timer)
      tellDropped()
      if (queue.size > 0)
        logger.error({ records: queue.size }, 'Records of messages were lost: the message log did not answer')
      return queue.size
    },
  }
}
