/**
 * Keeps the message log within its age and size: removes records in small batches, so that other calls do not wait. Codes that
 * no message has missed for as long go with them.
 */
import { idFrom } from '../../core/id.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import type { ReplayPlanStore } from '../../store/sql/replay-plan-store.ts'
import type { UnmappedStore } from '../../store/sql/unmapped-store.ts'

type RetentionOptions = Readonly<{
  store: Pick<MessageStore, 'purge' | 'release'>
  /** Their messages stay until they end, which those that do not run do after `days`. */
  plans: Pick<ReplayPlanStore, 'unended'>
  unmapped: Pick<UnmappedStore, 'removeOld'>
  days: number
  /** Of all records together. */
  maxBytes: number
  clock: Clock
  logger: Logger
}>

interface Retention {
  /** Call it after records of about so many bytes were written. */
  grew(bytes: number): void
  /** Resolves when the batch in progress is removed. */
  stop(): Promise<void>
}

const DAY_MS = 86_400_000
const INTERVAL_MS = 10_000
const PAUSE_MS = 10
/** All of them are looked through. */
const UNMAPPED_INTERVAL_MS = 3_600_000

/** A plan whose messages are held already is stored in this time, or never. */
const PLANNING_MS = 60_000

/** Fractions of `maxBytes`: how much is written between two purges at most, and how much a purge leaves free. */
const PURGE_AFTER = 1 / 64
const LEFT_FREE = 1 / 16

/** Purges every ten seconds, and more often if much is written. */
export function startRetention({ store, plans, unmapped, days, maxBytes, clock, logger }: RetentionOptions): Retention {
  let grown = 0
  let unmappedAt = Number.NEGATIVE_INFINITY
  let stopped = false
  let running: Promise<void> | undefined

  async function purge(): Promise<void> {
    grown = 0
    try {
      if (clock() - unmappedAt >= UNMAPPED_INTERVAL_MS) {
        await unmapped.removeOld(clock() - days * DAY_MS)
        unmappedAt = clock()
      }
      const unended = await plans.unended(idFrom(clock() - days * DAY_MS))
      await store.release(unended, idFrom(clock() - PLANNING_MS))
      while (!stopped && (await store.purge(clock() - days * DAY_MS, maxBytes * (1 - LEFT_FREE))) > 0) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    } catch (err) {
      if (!stopped) logger.warn({ err }, 'Old records of messages could not be removed; trying again later')
    }
  }

  function run(): void {
    running ??= purge().finally(() => {
      running = undefined
    })
  }

  const timer = setInterval(run, INTERVAL_MS)
  timer.unref()
  return {
    grew: (bytes) => {
      grown += bytes
      if (!stopped && grown >= maxBytes * PURGE_AFTER) run()
    },
    stop: async () => {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
