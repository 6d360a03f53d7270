/**
 * All writes go through here: those that wait at the same time share one transaction, and so one wait for the disk.
 * node:sqlite blocks the thread while the disk syncs, which makes the batches grow by themselves under load: what
 * arrives meanwhile is the next batch. That is the quickest for messages that wait in numbers; where none of them waits,
 * the disk is waited for elsewhere. A lock of another process is never waited for on the thread.
 */
import type { DatabaseSync } from 'node:sqlite'
import { type Logger, StoreUnavailable } from '../../domain/ports.ts'
import { isBusy, isIoError, storeClosed, storeFault, unavailableReason } from './faults.ts'
import type { FlushLog, LogFile } from './write-ahead-log.ts'

const LOCK_RETRY_MS = 5

/**
 * Turns of the event loop that a batch may grow for, as long as each brings more. A flush takes as long as several
 * messages do; without this, whoever is answered first makes the next batch a small one.
 */
const MOST_TURNS = 4

export type GroupCommitOptions = Readonly<{
  db: DatabaseSync
  /** How long a write may wait for a lock that another process holds. */
  busyTimeoutMs: number
  logger: Logger
  /** Where it is left out, every transaction waits for the disk on the thread. */
  log?: Pick<LogFile, 'flush' | 'rewrite'>
  /** Called now and then for the transactions that did not. */
  askForCheckpoint?(): void
}>

/**
 * How many transactions are flushed elsewhere until the log is brought into the database: few enough that SQLite seldom does
 * it on the thread, which it does at 1,000 pages.
 */
const COMMITS_OF_A_CHECKPOINT = 100

/** Who waits: a message, or somebody who may wait a moment longer so that no message does. */
export type Urgency = 'message' | 'other'

export type GroupCommit = Readonly<{
  /**
   * Runs `work` in the next transaction, after all writes before it; resolves with its value when that is durable.
   * `work` is synchronous and changes the database with at most one statement, or within a savepoint, so that its
   * failure leaves no trace; or with statements that each stand for themselves.
   *
   * Rejects with StoreUnavailable where the transaction failed, with what `work` threw where only it did.
   */
  write<T>(work: () => T, urgency?: Urgency): Promise<T>
  /** Calls back whenever a transaction ends, before anybody is told of what it wrote. */
  onTransaction(tell: () => void): void
  /** Takes no more writes; resolves when those that wait are done. */
  close(): Promise<void>
}>

type Pending = Readonly<{
  work: () => unknown
  urgency: Urgency
  /** On the clock of `performance.now()`. */
  deadlineAt: number
  resolve(value: unknown): void
  reject(reason: unknown): void
}>

type Outcome = Readonly<{ ok: true; value: unknown } | { ok: false; reason: unknown }>

/** Builds the writer of a connection; nobody else may write on it. */
export function compileGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { db, busyTimeoutMs, logger, log, askForCheckpoint } = options
  const beginNow = compileBeginNow(db, busyTimeoutMs)
  const commit = db.prepare('COMMIT')
  let queue: Pending[] = []
  let scheduled = false
  let idle: (() => void) | undefined
  let closed = false
  const told: (() => void)[] = []
  /** Batches that are committed, and flushed elsewhere. */
  let flushing = 0
  let flushedElsewhere = 0
  /**
   * Whether a flush that succeeds means that all of the log is on the disk. Where one failed it does not, and a process
   * before this one may have ended after that: so not at first either.
   */
  let isWhole = log === undefined
  /** The newest reason why not: what was committed before it is not known to be on the disk. */
  let gap: unknown

  function distrust(thrown: unknown): void {
    isWhole = false
    gap = thrown
  }

  function take(): Pending[] {
    const batch = queue
    queue = []
    return batch
  }

  function rejectAll(batch: readonly Pending[], thrown: unknown): void {
    logger.error({ err: thrown, writes: batch.length, reason: unavailableReason(thrown) }, 'A transaction failed.')
    for (const pending of batch) pending.reject(storeFault(thrown))
  }

  function waitForLock(): void {
    const now = performance.now()
    const late = queue.filter((pending) => pending.deadlineAt <= now)
    queue = queue.filter((pending) => pending.deadlineAt > now)
    const reason = `The store did not answer: another process has held its lock for ${busyTimeoutMs} ms.`
    if (late.length > 0) logger.warn({ writes: late.length }, reason)
    for (const pending of late) pending.reject(new StoreUnavailable(reason))
    if (queue.length > 0) setTimeout(flush, LOCK_RETRY_MS)
  }

  function gather(before: number, turnsLeft: number): void {
    if (queue.length > before && turnsLeft > 0) setImmediate(gather, queue.length, turnsLeft - 1)
    else flush()
  }

  function flush(): void {
    const elsewhere = queue.some(({ urgency }) => urgency === 'message') ? undefined : log?.flush
    try {
      if (elsewhere !== undefined) db.exec('PRAGMA synchronous = NORMAL')
      if (beginNow()) commitBatch(take(), elsewhere)
      else waitForLock()
    } catch (thrown) {
      rejectAll(take(), thrown)
    } finally {
      if (elsewhere !== undefined && db.isOpen) db.exec('PRAGMA synchronous = FULL')
    }
    scheduled = queue.length > 0
    tellIdle()
  }

  function tellIdle(): void {
    if (!scheduled && flushing === 0) idle?.()
  }

  function commitBatch(batch: readonly Pending[], flushElsewhere: FlushLog | undefined): void {
    let outcomes: readonly Outcome[]
    try {
      if (!isWhole) log?.rewrite()
      isWhole = true
      outcomes = runAll(db, batch)
      commit.run()
    } catch (thrown) {
      // SQLite takes the transaction back; what is flushed elsewhere was before it in the same log.
      if (isIoError(thrown)) distrust(thrown)
      rejectAll(batch, thrown)
      if (db.isTransaction) db.exec('ROLLBACK')
      return
    } finally {
      for (const tell of told) tell()
    }
    if (flushElsewhere === undefined) settle(batch, outcomes)
    else void settleAfter(flushElsewhere, batch, outcomes)
  }

  async function settleAfter(flushElsewhere: FlushLog, ...settled: Parameters<typeof settle>): Promise<void> {
    const gapBefore = gap
    flushing += 1
    await flushElsewhere().catch(distrust)
    flushing -= 1
    if (gap === gapBefore) {
      settle(...settled)
      if (++flushedElsewhere % COMMITS_OF_A_CHECKPOINT === 0) askForCheckpoint?.()
    } else {
      rejectAll(settled[0], gap)
    }
    tellIdle()
  }

  return {
    write: <T>(work: () => T, urgency: Urgency = 'other') =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(storeClosed())
        const deadlineAt = performance.now() + busyTimeoutMs
        queue.push({ work, urgency, deadlineAt, resolve: resolve as Pending['resolve'], reject })
        if (!scheduled) setImmediate(gather, 0, MOST_TURNS)
        scheduled = true
      }),
    onTransaction: (tell) => {
      told.push(tell)
    },
    close: () => {
      closed = true
      return new Promise((resolve) => {
        idle = resolve
        tellIdle()
      })
    },
  }
}

function settle(batch: readonly Pending[], outcomes: readonly Outcome[]): void {
  batch.forEach((pending, index) => {
    const outcome = outcomes[index] as Outcome
    if (outcome.ok) pending.resolve(outcome.value)
    else pending.reject(storeFault(outcome.reason))
  })
}

/** Runs the writes of a batch, each for itself. Throws where SQLite gave up the whole transaction. */
function runAll(db: DatabaseSync, batch: readonly Pending[]): readonly Outcome[] {
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
 * Builds the start of a transaction that holds the write lock at once, or does not wait: false where another process
 * holds it. Everything else on the connection keeps the timeout, as readers in WAL mode wait only for short moments.
 */
function compileBeginNow(db: DatabaseSync, busyTimeoutMs: number): () => boolean {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const waitNot = db.prepare('PRAGMA busy_timeout = 0')
  const waitAgain = db.prepare(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  return () => {
    waitNot.get()
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
