/** Removes expired cached responses, and watches how much room the others take. */
import { setTimeout as pause } from 'node:timers/promises'
import type { IdempotencyStore } from '../../domain/ports/idempotency-store-port.ts'
import type { Logger } from '../../domain/ports/logger-port.ts'

export type CleanupOptions = Readonly<{
  store: Pick<IdempotencyStore, 'purge' | 'bytes'>
  logger: Logger
  /** The most that all cached responses may take. */
  maxBytes: number
  /** Whether this process removes expired responses, for all processes that share the store. */
  purges: boolean
}>

export interface IdempotencyCleanup {
  /** Whether the last check found the store full. */
  readonly isFull: boolean
  /** Reports that a response of so many bytes was cached. */
  noteCached(bytes: number): void
  /** Resolves when the running check is done. */
  stop(): Promise<void>
}

const EVERY_MS = 10_000
const PAUSE_MS = 10

/** The share of the room that may be cached between two size checks, which read an index entry for each response. */
const CHECK_AFTER = 1 / 64

/** The estimated size of a response besides its body. */
const REST_BYTES = 1_000

/** Removes expired responses every ten seconds, and checks the size after so much was cached that it may be too large. */
export function startIdempotencyCleanup({ store, logger, maxBytes, purges }: CleanupOptions): IdempotencyCleanup {
  let isFull = false
  let cachedBytes = Number.POSITIVE_INFINITY
  let stopped = false
  let running: Promise<void> | undefined

  async function check(): Promise<void> {
    try {
      while (purges && !stopped && (await store.purge()) > 0) await pause(PAUSE_MS)
      if (stopped || (!isFull && cachedBytes < maxBytes * CHECK_AFTER)) return
      cachedBytes = 0
      const wasFull = isFull
      isFull = (await store.bytes()) >= maxBytes
      if (isFull && !wasFull) logger.warn({ maxBytes }, 'IDEMPOTENCY_MAX_MB is reached: new keys are refused')
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
    get isFull() {
      return isFull
    },
    noteCached: (bytes) => {
      cachedBytes += bytes + REST_BYTES
      if (!stopped && cachedBytes >= maxBytes * CHECK_AFTER) run()
    },
    stop: async () => {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
