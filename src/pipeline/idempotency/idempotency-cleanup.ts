/** Removes expired cached responses, and watches how much room the others take. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { IdempotencyStore } from '../../store/sql/idempotency-store.ts'

type CleanupOptions = Readonly<{
  store: Pick<IdempotencyStore, 'purge' | 'bytes'>
  logger: Logger
  /** The most that all cached responses may take. */
  maxBytes: number
  /** This process removes expired responses, for all processes that share the store. */
  purges: boolean
}>

export interface IdempotencyCleanup {
  /** True if the responses of an endpoint take as much as is left: so there is room for those of others, whatever one stores. */
  isFull(endpointId: string): boolean
  /** Reports that a response of so many bytes was cached. */
  noteCached(endpointId: string, bytes: number): void
  /** Resolves when the running check is done. */
  stop(): Promise<void>
}

const EVERY_MS = 10_000
const PAUSE_MS = 10

/** The share of the room that may be cached between two size checks, which read an index entry for each response. */
const CHECK_AFTER = 1 / 64

/** The estimated size of a response besides its body. */
const REST_BYTES = 1_000

/** Removes expired responses every ten seconds, and checks the sizes after so much was cached that they may be too large. */
export function startIdempotencyCleanup({ store, logger, maxBytes, purges }: CleanupOptions): IdempotencyCleanup {
  /** As of the last check, with what was cached here since. */
  let used = new Map<string, number>()
  let freeBytes = maxBytes
  let cachedBytes = Number.POSITIVE_INFINITY
  /** The endpoints that the last check found full. */
  let reported = new Set<string>()
  let stopped = false
  let running: Promise<void> | undefined

  const isFull = (endpointId: string): boolean => (used.get(endpointId) ?? 0) >= freeBytes
  const add = (endpointId: string, bytes: number): void => {
    used.set(endpointId, (used.get(endpointId) ?? 0) + bytes)
    freeBytes -= bytes
  }

  async function check(): Promise<void> {
    try {
      while (purges && !stopped && (await store.purge()) > 0) await pause(PAUSE_MS)
      if (stopped || (reported.size === 0 && cachedBytes < maxBytes * CHECK_AFTER)) return
      cachedBytes = 0
      const stored = await store.bytes()
      used = new Map()
      freeBytes = maxBytes
      for (const [endpointId, bytes] of stored) add(endpointId, bytes)
      const full = new Set([...used.keys()].filter(isFull))
      for (const endpointId of full.difference(reported)) {
        logger.warn(
          { endpointId, bytes: used.get(endpointId), maxBytes },
          'The cached responses of an endpoint take as much of IDEMPOTENCY_MAX_MB as is left for all others: its new keys are refused',
        )
      }
      reported = full
    } catch (err) {
      if (!stopped) logger.warn({ err }, 'Expired cached responses could not be removed; trying again later')
    }
  }

  function run(): void {
    running ??= check().finally(() => {
      running = undefined
    })
  }

  run()
  const timer = setInterval(run, EVERY_MS)
  timer.unref()
  return {
    isFull,
    noteCached: (endpointId, bytes) => {
      add(endpointId, bytes + REST_BYTES)
      cachedBytes += bytes + REST_BYTES
      if (!stopped && (isFull(endpointId) || cachedBytes >= maxBytes * CHECK_AFTER)) run()
    },
    stop: async () => {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
