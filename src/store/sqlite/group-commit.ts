/**
 * The group commit of SQLite: writes that are queued at the same time share one transaction, and so one flush to the disk.
 * node:sqlite blocks the thread while the disk syncs, so that batches grow by themselves under load: what arrives
 * meanwhile is the next batch. That is fastest if messages wait. If only other writes wait, the flush runs off the
 * thread. The thread never blocks on a lock of another process.
 */

import { closeSync, fdatasync, openSync, readSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import type { Logger } from '../../core/ports/logger-port.ts'
import { storeClosed, storeUnavailable } from '../sql/database.ts'
import type { StoreUnavailable } from '../store-access.ts'
import { isBusy, isIoError, storeFault, unavailableReason } from './sqlite-file.ts'

const LOCK_RETRY_MS = 5

/**
 * Iterations of the event loop for which a batch may grow, as long as each adds writes. A flush takes as long as several
 * messages; without this, the first message after a flush would make the next batch a small one.
 */
const MAX_ITERATIONS = 4

/**
 * Of the log between two checkpoints, where transactions are flushed off the thread: so little that SQLite seldom makes the
 * checkpoint on the thread, as it does at 1,000 pages.
 */
const BYTES_PER_CHECKPOINT = 4_000_000
/** Of the log for a transaction, besides the bytes that its writes name. */
const BYTES_PER_COMMIT = 40_000

/** Large writes may go on while a checkpoint is made off the thread, which SQLite would make on it at 1,000 pages. */
const OFF_THREAD = 'PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000'
const ON_THREAD = 'PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000'

export type GroupCommitOptions = Readonly<{
  db: DatabaseSync
  /** How long a write may wait for a lock that another process holds. */
  busyTimeoutMs: number
  logger: Logger
  /** Without it every transaction blocks the thread until it is on the disk. */
  log?: Pick<LogFile, 'flush' | 'rewrite'>
  /** Called when transactions that were flushed off the thread have written much to the log. */
  requestCheckpoint?(): void
}>

/** What waits for the write: a message, or another call, which may wait longer so that no message is delayed. */
type Urgency = 'message' | 'other'

type PendingWrite = Readonly<{
  work: () => unknown
  urgency: Urgency
  bytes: number
  /** On the clock of `performance.now()`. */
  deadlineAt: number
  resolve(value: unknown): void
  reject(reason: unknown): void
}>

type WriteResult = Readonly<{ ok: true; value: unknown } | { ok: false; reason: unknown }>

/** The writer of a connection, on which nothing else may write. */
export class GroupCommit {
  readonly #db: DatabaseSync
  readonly #busyTimeoutMs: number
  readonly #logger: Logger
  readonly #log: GroupCommitOptions['log']
  readonly #requestCheckpoint: (() => void) | undefined
  readonly #tryBegin: () => boolean
  readonly #commit: ReturnType<DatabaseSync['prepare']>
  readonly #listeners: (() => void)[] = []
  #queue: PendingWrite[] = []
  #isScheduled = false
  #isClosed = false
  #onIdle: (() => void) | undefined
  /** Batches that are committed and being flushed off the thread. */
  #flushing = 0
  /** About what they have written since the last request of a checkpoint. */
  #flushedBytes = 0
  /**
   * A successful flush means that the whole log is on the disk. Not after a failed flush; and not at first, as the
   * process before may have ended after one.
   */
  #isWhole: boolean
  /** The error of the newest failed flush: transactions committed before it may not be on the disk. */
  #gap: unknown

  constructor({ db, busyTimeoutMs, logger, log, requestCheckpoint }: GroupCommitOptions) {
    this.#db = db
    this.#busyTimeoutMs = busyTimeoutMs
    this.#logger = logger
    this.#log = log
    this.#requestCheckpoint = requestCheckpoint
    this.#tryBegin = compileTryBegin(db, busyTimeoutMs)
    this.#commit = db.prepare('COMMIT')
    this.#isWhole = log === undefined
  }

  /**
   * Runs `work` in the next transaction, after all writes before it. Resolves with its value when the transaction is
   * durable. `work` is synchronous and changes the database with at most one statement or within a savepoint, so that its
   * failure leaves no trace. `bytes`: about what it writes, if that is much.
   *
   * Rejects with StoreUnavailable if the transaction failed, with the value that `work` threw if only `work` failed.
   */
  write<T>(work: () => T, urgency: Urgency = 'other', bytes = 0): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed) return reject(storeClosed())
      const deadlineAt = performance.now() + this.#busyTimeoutMs
      this.#queue.push({ work, urgency, bytes, deadlineAt, resolve: resolve as PendingWrite['resolve'], reject })
      if (!this.#isScheduled) setImmediate(() => this.#growBatch(0, MAX_ITERATIONS))
      this.#isScheduled = true
    })
  }

  /** Calls `notify` when a transaction has ended, before the promises of its writes resolve or reject. */
  onTransaction(notify: () => void): void {
    this.#listeners.push(notify)
  }

  /** Accepts no more writes; resolves when the queued ones are done. */
  close(): Promise<void> {
    this.#isClosed = true
    return new Promise((resolve) => {
      this.#onIdle = resolve
      this.#notifyIdle()
    })
  }

  #growBatch(before: number, iterationsLeft: number): void {
    const size = this.#queue.length
    if (size > before && iterationsLeft > 0) setImmediate(() => this.#growBatch(size, iterationsLeft - 1))
    else this.#flush()
  }

  #flush(): void {
    const flushOffThread = this.#queue.some(({ urgency }) => urgency === 'message') ? undefined : this.#log?.flush
    try {
      if (flushOffThread !== undefined) this.#db.exec(OFF_THREAD)
      if (this.#tryBegin()) this.#commitBatch(this.#takeQueue(), flushOffThread)
      else this.#waitForLock()
    } catch (thrown) {
      this.#rejectAll(this.#takeQueue(), thrown)
    } finally {
      if (flushOffThread !== undefined && this.#db.isOpen) this.#db.exec(ON_THREAD)
    }
    this.#isScheduled = this.#queue.length > 0
    this.#notifyIdle()
  }

  #takeQueue(): PendingWrite[] {
    const batch = this.#queue
    this.#queue = []
    return batch
  }

  #waitForLock(): void {
    const now = performance.now()
    const expired = this.#queue.filter(({ deadlineAt }) => deadlineAt <= now)
    this.#queue = this.#queue.filter(({ deadlineAt }) => deadlineAt > now)
    const fault = storeUnavailable(`another process has held its lock for ${this.#busyTimeoutMs} ms`)
    if (expired.length > 0) this.#logger.warn({ writes: expired.length }, fault.message)
    for (const pending of expired) pending.reject(fault)
    if (this.#queue.length > 0) setTimeout(() => this.#flush(), LOCK_RETRY_MS)
  }

  #commitBatch(batch: readonly PendingWrite[], flushOffThread: FlushLog | undefined): void {
    let results: readonly WriteResult[]
    try {
      if (!this.#isWhole) this.#log?.rewrite()
      this.#isWhole = true
      results = runAll(this.#db, batch)
      this.#commit.run()
    } catch (thrown) {
      // SQLite rolls the transaction back; batches that are being flushed are before it in the same log.
      if (isIoError(thrown)) this.#distrustLog(thrown)
      this.#rejectAll(batch, thrown)
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      return
    } finally {
      for (const notify of this.#listeners) notify()
    }
    if (flushOffThread === undefined) reportAll(batch, results)
    else void this.#reportAfter(flushOffThread, batch, results)
  }

  async #reportAfter(
    flushOffThread: FlushLog,
    batch: readonly PendingWrite[],
    results: readonly WriteResult[],
  ): Promise<void> {
    const gapBefore = this.#gap
    this.#flushing += 1
    await flushOffThread().catch((thrown: unknown) => this.#distrustLog(thrown))
    this.#flushing -= 1
    if (this.#gap === gapBefore) {
      reportAll(batch, results)
      this.#flushedBytes += batch.reduce((sum, { bytes }) => sum + bytes, BYTES_PER_COMMIT)
      if (this.#flushedBytes >= BYTES_PER_CHECKPOINT) {
        this.#flushedBytes = 0
        this.#requestCheckpoint?.()
      }
    } else {
      this.#rejectAll(batch, this.#gap)
    }
    this.#notifyIdle()
  }

  #distrustLog(thrown: unknown): void {
    this.#isWhole = false
    this.#gap = thrown
  }

  #rejectAll(batch: readonly PendingWrite[], thrown: unknown): void {
    const fields = { err: thrown, writes: batch.length, reason: unavailableReason(thrown) }
    this.#logger.error(fields, 'A transaction failed.')
    for (const pending of batch) pending.reject(storeFault(thrown))
  }

  #notifyIdle(): void {
    if (!this.#isScheduled && this.#flushing === 0) this.#onIdle?.()
  }
}

function reportAll(batch: readonly PendingWrite[], results: readonly WriteResult[]): void {
  batch.forEach((pending, index) => {
    const result = results[index] as WriteResult
    if (result.ok) pending.resolve(result.value)
    else pending.reject(storeFault(result.reason))
  })
}

/** Runs the writes of a batch one by one. Throws if SQLite has rolled the whole transaction back. */
function runAll(db: DatabaseSync, batch: readonly PendingWrite[]): readonly WriteResult[] {
  return batch.map(({ work }) => {
    try {
      return { ok: true, value: work() }
    } catch (reason) {
      if (!db.isTransaction) throw reason
      return { ok: false, reason }
    }
  })
}

/**
 * Builds the start of a transaction, which takes the write lock or gives false at once if another process holds it. All
 * other statements keep the timeout of the connection, as readers in WAL mode wait only for short moments.
 */
function compileTryBegin(db: DatabaseSync, busyTimeoutMs: number): () => boolean {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const waitNever = db.prepare('PRAGMA busy_timeout = 0')
  const waitAgain = db.prepare(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  return () => {
    waitNever.get()
    try {
      begin.run()
      return true
    } catch (thrown) {
      if (isBusy(thrown)) return false
      throw thrown
    } finally {
      waitAgain.get()
    }
  }
}

/** Resolves when all transactions committed before the call are on the disk; rejects with StoreUnavailable. */
export type FlushLog = () => Promise<void>

/** The write-ahead log of a file: work on it that must not block the thread of the messages. */
type LogFile = Readonly<{
  /** The path of the database. */
  database: string
  /** Node.js flushes on a thread of its pool. Calls during a flush share the next one. */
  flush: FlushLog
  /**
   * Overwrites the log with its own content, so that the next flush writes all of it to the disk: after a failed flush the
   * system may take the lost pages for written (https://lwn.net/Articles/752063/). A checkpoint would not do: it relies on
   * the log being on the disk, and waits for readers. No other connection may write the log meanwhile: call it within a
   * transaction that writes. Throws StoreUnavailable.
   */
  rewrite(): void
  /** To be called when no flush is running, before the database is closed. */
  close(): void
}>

const flushFile = promisify(fdatasync)

const REWRITTEN_AT_ONCE_BYTES = 1 << 20

const notWritten = (cause: unknown): StoreUnavailable =>
  storeUnavailable('writing its file to the disk failed; check the disk', { cause })

/**
 * `path`: of a database that is open in WAL mode, with links resolved. Its log stays one file until the last connection
 * closes.
 */
export function compileLogFile(path: string): LogFile {
  let file: number | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  function open(): number {
    file ??= openSync(`${path}-wal`, 'r+')
    return file
  }

  async function flushNow(): Promise<void> {
    try {
      await flushFile(open())
    } catch (cause) {
      throw notWritten(cause)
    }
  }

  function start(): Promise<void> {
    running = flushNow().finally(() => {
      running = undefined
    })
    return running
  }

  async function startAfter(before: Promise<void>): Promise<void> {
    await before.catch(() => undefined)
    next = undefined
    await start()
  }

  return {
    database: path,
    flush: () => {
      if (next !== undefined) return next
      if (running === undefined) return start()
      next = startAfter(running)
      return next
    },
    rewrite: () => {
      try {
        const log = open()
        const part = Buffer.allocUnsafe(REWRITTEN_AT_ONCE_BYTES)
        for (let at = 0; ; ) {
          const read = readSync(log, part, 0, part.length, at)
          if (read === 0) return
          at += writeSync(log, part, 0, read, at)
        }
      } catch (cause) {
        throw notWritten(cause)
      }
    },
    close: () => {
      // SQLite's locks are on other files, so that closing this one releases none (https://www.sqlite.org/walformat.html).
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** How long a checkpoint waits for writers and readers: no process can write meanwhile. */
const CHECKPOINT_TIMEOUT_MS = 20

/**
 * Copies the log into the database, so that the log restarts; blocks this thread until the disk has it. The first step
 * lets writers continue. The second one holds the write lock and copies what was written meanwhile: while others write, the
 * first step alone would never reach the end of the log.
 */
export function checkpoint(path: string): void {
  const db = new DatabaseSync(path, { timeout: CHECKPOINT_TIMEOUT_MS })
  try {
    db.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA wal_checkpoint(RESTART)')
  } finally {
    db.close()
  }
}
