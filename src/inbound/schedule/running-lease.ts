/** The lease of an instance on a schedule that it runs: renewed until the end of the run is stored. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Lease, RunLease } from '../../core/lease.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { DueRun, EndedRun, ScheduleStore } from '../../store/sql/schedule-store.ts'
import { StoreUnavailable } from '../../store/store-access.ts'

type LeaseOptions = Readonly<{ store: ScheduleStore; logger: Logger; leaseMs: number }>

const RETRY_MS = 250
/** The part of its time after which a lease that is not renewed is not held any more: what was sent at the end has the rest. */
const HELD_PART = 0.8

export class RunningLease implements Lease {
  readonly claimed: RunLease
  readonly #options: LeaseOptions
  readonly #lost = new AbortController()
  /** On the clock of `performance.now()`. */
  #validUntil: number
  #renewing: NodeJS.Timeout | undefined
  #ending: NodeJS.Timeout | undefined

  constructor(claimed: RunLease, options: LeaseOptions) {
    this.claimed = claimed
    this.#options = options
    this.#validUntil = performance.now() + options.leaseMs
  }

  get isHeld(): boolean {
    return !this.signal.aborted && performance.now() < this.#heldUntil
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Takes it by `claim`. If the store does not say whether that was stored, a renewal asks. Resolves to false without it. */
  async take(claim: () => Promise<boolean>): Promise<boolean> {
    try {
      return await claim()
    } catch (thrown) {
      if (!(thrown instanceof StoreUnavailable)) throw thrown
      const { store, leaseMs } = this.#options
      return this.#write(() => this.#extend(() => store.renew(this.claimed, leaseMs)))
    }
  }

  /** Renews it from now on. */
  hold(): void {
    this.#renewing = setInterval(() => void this.#renew(), this.#options.leaseMs / 3).unref()
    this.#endLater()
  }

  /** Stores the end of the run. Resolves to false if the lease is lost, or the store does not answer while it holds. */
  end(last: EndedRun, due: DueRun): Promise<boolean> {
    return this.#write(() => this.#options.store.end(this.claimed, last, due))
  }

  giveBack(due: Omit<DueRun, 'skipped'>): Promise<boolean> {
    return this.#write(() => this.#options.store.giveBack(this.claimed, due))
  }

  close(): void {
    clearInterval(this.#renewing)
    clearTimeout(this.#ending)
  }

  get #heldUntil(): number {
    return this.#validUntil - this.#options.leaseMs * (1 - HELD_PART)
  }

  #endLater(): void {
    clearTimeout(this.#ending)
    this.#ending = setTimeout(() => this.#lost.abort(), this.#heldUntil - performance.now()).unref()
  }

  async #renew(): Promise<void> {
    const { store, logger, leaseMs } = this.#options
    try {
      // Nobody else can run what is gone: a message whose endpoint was deleted goes on.
      const isRenewed = await this.#extend(
        async () =>
          (await store.renew(this.claimed, leaseMs)) || (await store.get(this.claimed.endpointId)) === undefined,
      )
      if (this.signal.aborted) return
      if (isRenewed) this.#endLater()
      else {
        this.#lost.abort()
        this.close()
      }
    } catch (thrown) {
      if (!(thrown instanceof StoreUnavailable))
        logger.error({ err: thrown }, 'The lease of a schedule was not renewed')
    }
  }

  /** What `renew` gives. The time of the lease counts from before it asked. */
  async #extend(renew: () => Promise<boolean>): Promise<boolean> {
    const validUntil = performance.now() + this.#options.leaseMs
    const isRenewed = await renew()
    if (isRenewed) this.#validUntil = validUntil
    return isRenewed
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
            'The start or end of a run of a schedule could not be stored; a run that had started counts as interrupted',
          )
          return false
        }
        await pause(RETRY_MS, undefined, { ref: false })
      }
    }
  }
}
