/** The lease of an instance on a schedule that it runs: renewed until the end of the run is stored. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { DueRun, EndedRun, RunLease, ScheduleStore } from '../../store/sql/schedule-store.ts'
import { StoreUnavailable } from '../../store/store-access.ts'

type LeaseOptions = Readonly<{ store: ScheduleStore; logger: Logger; leaseMs: number }>

const RETRY_MS = 250

export class RunningLease {
  readonly claimed: RunLease
  readonly #options: LeaseOptions
  /** On the clock of `performance.now()`. */
  #validUntil: number
  #isLost = false
  #timer: NodeJS.Timeout | undefined

  constructor(claimed: RunLease, options: LeaseOptions) {
    this.claimed = claimed
    this.#options = options
    this.#validUntil = performance.now() + options.leaseMs
  }

  /** Until then, no other instance begins a run. */
  get isHeld(): boolean {
    return !this.#isLost && performance.now() < this.#validUntil
  }

  /** Renews it from now on. */
  hold(): void {
    this.#timer = setInterval(() => void this.#renew(), this.#options.leaseMs / 3)
    this.#timer.unref()
  }

  /** Stores the end of the run. Resolves to false if the lease is lost, or the store does not answer while it holds. */
  end(last: EndedRun, due: Omit<DueRun, 'timetable'>): Promise<boolean> {
    return this.#write(() => this.#options.store.end(this.claimed, last, due))
  }

  giveBack(due: Pick<DueRun, 'dueMs' | 'nextMs'>): Promise<boolean> {
    return this.#write(() => this.#options.store.giveBack(this.claimed, due))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #renew(): Promise<void> {
    const { store, logger, leaseMs } = this.#options
    const startedAt = performance.now()
    try {
      if (await store.renew(this.claimed, leaseMs)) {
        this.#validUntil = startedAt + leaseMs
      } else {
        // Its endpoint was deleted, or another instance has the lease. A message that has started goes on.
        this.#isLost = true
        this.close()
      }
    } catch (thrown) {
      if (!(thrown instanceof StoreUnavailable))
        logger.error({ err: thrown }, 'The lease of a schedule was not renewed')
    }
  }

  async #write(work: () => Promise<boolean>): Promise<boolean> {
    for (;;) {
      try {
        return await work()
      } catch (thrown) {
        if (!(thrown instanceof StoreUnavailable)) throw thrown
        if (performance.now() > this.#validUntil) {
          const { endpointId } = this.claimed
          this.#options.logger.warn(
            { endpointId, err: thrown },
            'The end of a run of a schedule could not be stored; the run counts as interrupted',
          )
          return false
        }
        await pause(RETRY_MS, undefined, { ref: false })
      }
    }
  }
}
