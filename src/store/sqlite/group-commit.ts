/**
 * The group commit of SQLite: writes that are queued at the same time share one transaction, and so one flush to the disk.
 * node:sqlite blocks the thread while the disk syncs, so that batches grow by themselves under load: what arrives
 * meanwhile is the next batch. That is fastest if messages wait. If only other writes wait, the flush runs off the
 * thread. The thread never blocks on a lock of another process.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Logger } from '../../domain/ports/logger-port.ts'
import { storeClosed, storeUnavailable } from '../sql/store-faults.ts'
import { isIoError, storeFault, unavailableReason } from './error-codes.ts'
import {
  compileTryBegin,
  type PendingWrite,
  reportAll,
  runAll,
  type Urgency,
  type WriteResult,
} from './pending-writes.ts'
import type { FlushLog, LogFile } from './write-ahead-log.ts'

const LOCK_RETRY_MS = 5

/**
 * Turns of the event loop for which a batch may grow, as long as each turn adds writes. A flush takes as long as several
 * messages; without this, the first message after a flush would make the next batch a small one.
 */
const MOST_TURNS = 4

export type GroupCommitOptions = Readonly<{
  db: DatabaseSync
  /** How long a write may wait for a lock that another process holds. */
  busyTimeoutMs: number
  logger: Logger
  /** Without it every transaction blocks the thread until it is on the disk. */
  log?: Pick<LogFile, 'flush' | 'rewrite'>
  /** Called after a number of transactions that were flushed off the thread. */
  requestCheckpoint?(): void
}>

/**
 * Transactions flushed off the thread between two checkpoints: so few that SQLite seldom makes the checkpoint on the
 * thread, as it does at 1,000 pages.
 */
const COMMITS_PER_CHECKPOINT = 100

export type GroupCommit = Readonly<{
  /**
   * Runs `work` in the next transaction, after all writes before it. Resolves with its value when the transaction is
   * durable. `work` is synchronous and changes the database with at most one statement or within a savepoint, so that its
   * failure leaves no trace.
   *
   * Rejects with StoreUnavailable if the transaction failed, with the value that `work` threw if only `work` failed.
   */
  write<T>(work: () => T, urgency?: Urgency): Promise<T>
  /** Calls `notify` when a transaction has ended, before the promises of its writes resolve or reject. */
  onTransaction(notify: () => void): void
  /** Accepts no more writes; resolves when the queued ones are done. */
  close(): Promise<void>
}>

/** Builds the writer of a connection, on which nothing else may write. */
export function compileGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { db, busyTimeoutMs, logger, log, requestCheckpoint } = options
  const tryBegin = compileTryBegin(db, busyTimeoutMs)
  const commit = db.prepare('COMMIT')
  let queue: PendingWrite[] = []
  let scheduled = false
  let idle: (() => void) | undefined
  let closed = false
  const listeners: (() => void)[] = []
  /** Batches that are committed and being flushed off the thread. */
  let flushing = 0
  let flushedOffThread = 0
  /**
   * Whether a successful flush means that the whole log is on the disk. Not after a failed flush; and not at first, as the
   * process before may have ended after one.
   */
  let isWhole = log === undefined
  /** The error of the newest failed flush: transactions committed before it may not be on the disk. */
  let gap: unknown

  function distrust(thrown: unknown): void {
    isWhole = false
    gap = thrown
  }

  function take(): PendingWrite[] {
    const batch = queue
    queue = []
    return batch
  }

  function rejectAll(batch: readonly PendingWrite[], thrown: unknown): void {
    logger.error({ err: thrown, writes: batch.length, reason: unavailableReason(thrown) }, 'A transaction failed.')
    for (const pending of batch) pending.reject(storeFault(thrown))
  }

  function waitForLock(): void {
    const now = performance.now()
    const expired = queue.filter((pending) => pending.deadlineAt <= now)
    queue = queue.filter((pending) => pending.deadlineAt > now)
    const fault = storeUnavailable(`another process has held its lock for ${busyTimeoutMs} ms`)
    if (expired.length > 0) logger.warn({ writes: expired.length }, fault.message)
    for (const pending of expired) pending.reject(fault)
    if (queue.length > 0) setTimeout(flush, LOCK_RETRY_MS)
  }

  function growBatch(before: number, turnsLeft: number): void {
    if (queue.length > before && turnsLeft > 0) setImmediate(growBatch, queue.length, turnsLeft - 1)
    else flush()
  }

  function flush(): void {
    const flushOffThread = queue.some(({ urgency }) => urgency === 'message') ? undefined : log?.flush
    try {
      if (flushOffThread !== undefined) db.exec('PRAGMA synchronous = NORMAL')
      if (tryBegin()) commitBatch(take(), flushOffThread)
      else waitForLock()
    } catch (thrown) {
      rejectAll(take(), thrown)
    } finally {
      if (flushOffThread !== undefined && db.isOpen) db.exec('PRAGMA synchronous = FULL')
    }
    scheduled = queue.length > 0
    notifyIdle()
  }

  function notifyIdle(): void {
    if (!scheduled && flushing === 0) idle?.()
  }

  function commitBatch(batch: readonly PendingWrite[], flushOffThread: FlushLog | undefined): void {
    let results: readonly WriteResult[]
    try {
      if (!isWhole) log?.rewrite()
      isWhole = true
      results = runAll(db, batch)
      commit.run()
    } catch (thrown) {
      // SQLite rolls the transaction back; batches that are being flushed stand before it in the same log.
      if (isIoError(thrown)) distrust(thrown)
      rejectAll(batch, thrown)
      if (db.isTransaction) db.exec('ROLLBACK')
      return
    } finally {
      for (const notify of listeners) notify()
    }
    if (flushOffThread === undefined) reportAll(batch, results)
    else void reportAfter(flushOffThread, batch, results)
  }

  async function reportAfter(
    flushOffThread: FlushLog,
    batch: readonly PendingWrite[],
    results: readonly WriteResult[],
  ): Promise<void> {
    const gapBefore = gap
    flushing += 1
    await flushOffThread().catch(distrust)
    flushing -= 1
    if (gap === gapBefore) {
      reportAll(batch, results)
      if (++flushedOffThread % COMMITS_PER_CHECKPOINT === 0) requestCheckpoint?.()
    } else {
      rejectAll(batch, gap)
    }
    notifyIdle()
  }

  return {
    write: <T>(work: () => T, urgency: Urgency = 'other') =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(storeClosed())
        const deadlineAt = performance.now() + busyTimeoutMs
        queue.push({ work, urgency, deadlineAt, resolve: resolve as PendingWrite['resolve'], reject })
        if (!scheduled) setImmediate(growBatch, 0, MOST_TURNS)
        scheduled = true
      }),
    onTransaction: (notify) => {
      listeners.push(notify)
    },
    close: () => {
      closed = true
      return new Promise((resolve) => {
        idle = resolve
        notifyIdle()
      })
    },
  }
}
