/**
 * The audit log. The entry of a change is stored in one transaction with the change; every other one is written before its
 * call is answered. Entries are never changed, and removed after AUDIT_DAYS.
 * Unauthenticated callers can cause any number of refused calls, so only some of these are written and the others counted.
 */

import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import type { WorkerSlot } from '../../core/worker-processes.ts'
import { type AuditEntry, type AuditFilter, type AuditStore, isRefused } from '../../store/sql/audit-store.ts'
import { callStore } from '../../store/store-access.ts'

export type AuditNote = Omit<AuditEntry, 'id' | 'at'>

export interface AuditLog {
  /** The entry of a change, for the transaction that stores the change. */
  toAuditEntry(note: AuditNote): AuditEntry
  /**
   * Resolves when the entries of a call are durable, or are logged because the store rejected them; never rejects. A refused
   * call has one entry.
   */
  record(...notes: readonly AuditNote[]): Promise<void>
  /** Newest first. Fails with STORE_UNAVAILABLE. */
  find(filter: AuditFilter, limit: number, before?: string): Promise<readonly AuditEntry[]>
  /** Stops the removal of old entries. */
  stop(): Promise<void>
}

export type AuditLogOptions = Readonly<{
  store: AuditStore
  /** The age at which entries are removed. */
  days: number
  clock: Clock
  newId: () => string
  logger: Logger
  /** The first worker removes old entries, and each one writes its share of refused calls. Default: the only process. */
  workerSlot?: WorkerSlot
}>

const DAY_MS = 86_400_000
const PURGE_EVERY_MS = 3_600_000

/** The number of refused calls that are kept, the newest ones. */
const MAX_REFUSED = 10_000

/** Token bucket of refused calls: its capacity, and the milliseconds for one token. */
export const REFUSED_AT_ONCE = 100
export const REFUSED_EVERY_MS = 6_000

export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { store, days, clock, newId, logger, workerSlot = { slot: 0, workers: 1 } } = options
  const takeToken = createTokenBucket(clock, workerSlot.workers)
  let omitted = 0
  let running: Promise<void> = Promise.resolve()

  const purge = () => {
    running = store.purge(clock() - days * DAY_MS, MAX_REFUSED).catch((err) => {
      logger.warn({ err }, 'Old entries of the audit log could not be removed; trying again later')
    })
  }
  const timer = workerSlot.slot === 0 ? setInterval(purge, PURGE_EVERY_MS) : undefined
  timer?.unref()
  const first = workerSlot.slot === 0 ? setImmediate(purge) : undefined

  const toAuditEntry = (note: AuditNote): AuditEntry => ({ id: newId(), at: new Date(clock()).toISOString(), ...note })

  return {
    toAuditEntry,
    record: async (...notes) => {
      const refused = notes.some(isRefused)
      if (refused && !takeToken()) {
        omitted += 1
        return
      }
      const entries = notes.map((note) => toAuditEntry(refused && omitted > 0 ? { ...note, omitted } : note))
      if (refused) omitted = 0
      try {
        await store.append(...entries)
      } catch (err) {
        // The call has run already, so its entries go to the log of the service instead.
        for (const entry of entries) logger.error({ err, entry }, 'An entry of the audit log could not be stored')
      }
    },
    find: (filter, limit, before) => callStore('The audit log', () => store.find(filter, limit, before)),
    stop: async () => {
      clearInterval(timer)
      clearImmediate(first)
      await running
    },
  }
}

/** A token bucket with the share of one of `workers` processes. Returns false if it is empty. */
function createTokenBucket(clock: Clock, workers: number): () => boolean {
  const capacity = Math.max(1, REFUSED_AT_ONCE / workers)
  let tokens = capacity
  let last = clock()
  return () => {
    const now = clock()
    tokens = Math.min(capacity, tokens + Math.max(0, now - last) / (REFUSED_EVERY_MS * workers))
    last = now
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}
