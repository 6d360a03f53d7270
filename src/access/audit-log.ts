/**
 * The audit log: written before a call is answered, never changed, kept within its age. Strangers can be refused as often
 * as they like, so only some of their calls are written, and the others counted.
 */

import type { AuditEntry, AuditFilter, AuditStore } from '../domain/ports/audit-store-port.ts'
import { isRefused } from '../domain/ports/audit-store-port.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import { callStore } from '../domain/ports/store-unavailable.ts'
import type { Clock } from '../domain/run.ts'

export type AuditNote = Omit<AuditEntry, 'id' | 'at' | 'omitted'>

export interface AuditLog {
  /** Resolves when the entry is durable, or when it was logged that the store did not take it; never rejects. */
  record(note: AuditNote): Promise<void>
  /** Newest first. Fails with STORE_UNAVAILABLE. */
  find(filter: AuditFilter, limit: number, before?: string): Promise<readonly AuditEntry[]>
  /** Ends the removal of old entries. */
  stop(): Promise<void>
}

export type AuditLogOptions = Readonly<{
  store: AuditStore
  /** How long entries are kept. */
  days: number
  clock: Clock
  newId: () => string
  logger: Logger
  /** Which of how many processes that write it this one is: the first removes, and each admits its share; alone by default. */
  place?: Readonly<{ slot: number; workers: number }>
}>

const DAY_MS = 86_400_000
const PURGE_EVERY_MS = 3_600_000

/** Refused calls that are kept: the newest, whatever their age. */
export const MOST_REFUSED = 10_000

/** Refused calls that are written in one go, and then one in so many milliseconds. */
export const REFUSED_AT_ONCE = 100
export const REFUSED_EVERY_MS = 6_000

export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { store, days, clock, newId, logger, place = { slot: 0, workers: 1 } } = options
  const admit = createAllowance(clock, place.workers)
  let omitted = 0
  let running: Promise<void> = Promise.resolve()

  const purge = () => {
    running = store.purge(clock() - days * DAY_MS, MOST_REFUSED).catch((err) => {
      logger.warn({ err }, 'Old entries of the audit log could not be removed; trying again later')
    })
  }
  const timer = place.slot === 0 ? setInterval(purge, PURGE_EVERY_MS) : undefined
  timer?.unref()
  const first = place.slot === 0 ? setImmediate(purge) : undefined

  return {
    record: async (note) => {
      const refused = isRefused(note)
      if (refused && !admit()) {
        omitted += 1
        return
      }
      const id = newId()
      const entry: AuditEntry = {
        id,
        at: new Date(clock()).toISOString(),
        ...note,
        ...(refused && omitted > 0 ? { omitted } : {}),
      }
      if (refused) omitted = 0
      try {
        await store.append(entry)
      } catch (err) {
        // What was done cannot be undone for it: so the log is where it is told.
        logger.error({ err, entry }, 'An entry of the audit log could not be stored')
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

/** Whether one more may be written: as many as have been saved up, of the share of one of so many. */
function createAllowance(clock: Clock, sharers: number): () => boolean {
  const most = Math.max(1, REFUSED_AT_ONCE / sharers)
  let saved = most
  let last = clock()
  return () => {
    const now = clock()
    saved = Math.min(most, saved + Math.max(0, now - last) / (REFUSED_EVERY_MS * sharers))
    last = now
    if (saved < 1) return false
    saved -= 1
    return true
  }
}
