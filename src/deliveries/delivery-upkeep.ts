/** What one process does for all that share a store: it removes deliveries that have ended, and counts what is stored. */
import type { Logger } from '../core/ports/logger-port.ts'
import type { DeliveryStore, DeliveryTotals } from '../store/sql/delivery-store.ts'
import type { Timers } from './timers.ts'

type UpkeepOptions = Readonly<{
  store: Pick<DeliveryStore, 'purge' | 'totals'>
  /** How long delivered and cancelled ones are kept, in milliseconds. */
  keepMs: number
  logger: Pick<Logger, 'warn'>
  timers: Timers
}>

const INTERVAL_MS = 10_000

/** Deleted in one transaction, with a pause behind it, so that other calls do not wait. */
const BATCH = 500
const PAUSE_MS = 10

export class DeliveryUpkeep {
  readonly #options: UpkeepOptions
  #totals: DeliveryTotals = { counts: [] }
  #isStopped = false
  #hasFailed = false
  #running: Promise<void> | undefined
  #cancel: (() => void) | undefined

  constructor(options: UpkeepOptions) {
    this.#options = options
  }

  /** As read last. */
  get totals(): DeliveryTotals {
    return this.#totals
  }

  start(): void {
    this.#running = this.#look().finally(() => {
      if (!this.#isStopped) this.#cancel = this.#options.timers.after(INTERVAL_MS, () => this.start())
    })
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel?.()
    await this.#running
  }

  async #look(): Promise<void> {
    const { store, keepMs, logger, timers } = this.#options
    try {
      while (!this.#isStopped && (await store.purge(keepMs, BATCH)) === BATCH)
        await new Promise<void>((resolve) => timers.after(PAUSE_MS, resolve))
      this.#totals = await store.totals()
      this.#hasFailed = false
    } catch (err) {
      if (!this.#hasFailed && !this.#isStopped)
        logger.warn({ err }, 'Deliveries that have ended could not be removed; trying again later')
      this.#hasFailed = true
    }
  }
}
