/** The queued writes of a group commit, and what a transaction does with them. */
import type { DatabaseSync } from 'node:sqlite'
import { isBusy, storeFault } from './error-codes.ts'

/** What waits for the write: a message, or another call, which may wait longer so that no message is delayed. */
export type Urgency = 'message' | 'other'

export type PendingWrite = Readonly<{
  work: () => unknown
  urgency: Urgency
  /** On the clock of `performance.now()`. */
  deadlineAt: number
  resolve(value: unknown): void
  reject(reason: unknown): void
}>

export type WriteResult = Readonly<{ ok: true; value: unknown } | { ok: false; reason: unknown }>

export function reportAll(batch: readonly PendingWrite[], results: readonly WriteResult[]): void {
  batch.forEach((pending, index) => {
    const result = results[index] as WriteResult
    if (result.ok) pending.resolve(result.value)
    else pending.reject(storeFault(result.reason))
  })
}

/** Runs the writes of a batch one by one. Throws if SQLite has rolled the whole transaction back. */
export function runAll(db: DatabaseSync, batch: readonly PendingWrite[]): readonly WriteResult[] {
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
export function compileTryBegin(db: DatabaseSync, busyTimeoutMs: number): () => boolean {
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
