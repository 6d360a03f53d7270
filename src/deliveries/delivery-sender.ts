/**
 * The sender of deliveries, one in each process: claims what is due, target by target, attempts it, and stores how each attempt
 * ended. What it holds when the process dies is claimed again, by any process, when its leases have expired.
 */

import { setTimeout as sleepFor } from 'node:timers/promises'
import { nextPauseMs } from '../core/backoff.ts'
import type { AttemptEnd, ClaimedDelivery, DeliveryLease } from '../core/deliveries/delivery.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock } from '../core/run.ts'
import { within } from '../core/within.ts'
import type { DeliveryStore } from '../store/sql/delivery-store.ts'
import type { Attempt } from './attempt.ts'
import { type AttemptResult, nextStep, scheduledMs } from './next-step.ts'
import { TargetBudget } from './target-budget.ts'

type SenderOptions = Readonly<{
  store: DeliveryStore
  attempt: Attempt
  /** No other process has the same. */
  owner: string
  /** At most in flight to one target. */
  concurrency: number
  clock: Clock
  random: () => number
  logger: Logger
  /** Called for each attempt that was made. */
  onAttempt(target: string, result: AttemptResult, state: AttemptEnd['state']): void
}>

/** How long another process waits for one that has died. */
export const LEASE_MS = 30_000
const RENEW_MS = 10_000
/** How often the store is read while nothing is due: another process may have accepted something, or died. */
const POLL_MS = 5_000
const STORE_PAUSE = { firstMs: 200, maxMs: 10_000 }
/** Targets that one look into the store gives at most. */
const MAX_TARGETS = 1_000
const ENDS_AT_ONCE = 500

export class DeliverySender {
  readonly #options: SenderOptions
  readonly #budgets = new Map<string, TargetBudget>()
  /** Claimed deliveries whose ends are not stored yet, by id. */
  readonly #held = new Map<string, DeliveryLease>()
  readonly #attempts = new Set<Promise<void>>()
  #ends: AttemptEnd[] = []
  #storing: Promise<void> | undefined
  #claiming: Promise<void> | undefined
  #wake: (() => void) | undefined
  #isAwake = false
  #isStopping = false
  #storePauseMs = 0
  #renewal: NodeJS.Timeout | undefined

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** How many attempts are in flight. */
  get inFlight(): number {
    return this.#attempts.size
  }

  start(): void {
    this.#renewal = setInterval(() => void this.#renew(), RENEW_MS)
    this.#claiming = this.#claimAll()
  }

  /** Something is due now: a message was accepted, or somebody retried deliveries. */
  accepted(): void {
    this.#isAwake = true
    this.#wake?.()
  }

  /** Claims nothing more, and waits for the attempts in flight and their ends; what takes longer is left to its lease. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true
    this.accepted()
    await within(timeoutMs, this.#finish())
    clearInterval(this.#renewal)
  }

  async #finish(): Promise<void> {
    await this.#claiming
    await Promise.all(this.#attempts)
    await this.#storing
  }

  async #claimAll(): Promise<void> {
    while (!this.#isStopping) {
      this.#isAwake = false
      let waitMs = POLL_MS
      try {
        waitMs = await this.#claimDue()
        this.#storePauseMs = 0
      } catch (thrown) {
        waitMs = this.#pauseForStore(thrown, 'Deliveries cannot be claimed.')
      }
      if (waitMs > 0) await this.#sleep(waitMs)
    }
  }

  /** Claims for every target that has room. Gives how long nothing more is due, unless it is woken, in milliseconds. */
  async #claimDue(): Promise<number> {
    const { store } = this.#options
    const { targets, nextInMs = POLL_MS } = await store.dueTargets(MAX_TARGETS)
    let waitMs = Math.min(nextInMs, POLL_MS)
    let isMore = false
    const due = new Set(targets)
    for (const [target, { isBack }] of this.#budgets) if (isBack) due.add(target)
    for (const target of due) {
      if (this.#isStopping) return 0
      const budget = this.#budgetOf(target)
      const nowMs = performance.now()
      const free = budget.free(nowMs)
      if (free === 0) {
        if (budget.pausedUntilMs > nowMs) waitMs = Math.min(waitMs, budget.pausedUntilMs - nowMs)
        continue
      }
      const claimed = [...(await this.#claim(target, free))]
      if (claimed.length < free && budget.isBack)
        claimed.push(...(await this.#claimWaiting(target, free - claimed.length)))
      for (const one of claimed) this.#send(one, budget)
      isMore ||= claimed.length === free
    }
    for (const [target, budget] of this.#budgets) if (budget.isIdle && !due.has(target)) this.#budgets.delete(target)
    // Where all that was free is taken now, the end of an attempt wakes the loop.
    return isMore && this.#hasRoom(due) ? 0 : Math.max(1, Math.ceil(waitMs))
  }

  #claim(target: string, limit: number): Promise<readonly ClaimedDelivery[]> {
    return this.#options.store.claim(this.#options.owner, target, limit, LEASE_MS)
  }

  /** Of a target that is back: what waits for its next attempt, until all of it was tried after the outage. */
  async #claimWaiting(target: string, limit: number): Promise<readonly ClaimedDelivery[]> {
    const { store, owner } = this.#options
    const budget = this.#budgetOf(target)
    budget.backAtMs ??= await store.now()
    const claimed = await store.claim(owner, target, limit, LEASE_MS, budget.backAtMs)
    if (claimed.length === 0) budget.isBack = false
    return claimed
  }

  #hasRoom(targets: ReadonlySet<string>): boolean {
    const nowMs = performance.now()
    return [...targets].some((target) => this.#budgetOf(target).free(nowMs) > 0)
  }

  #budgetOf(target: string): TargetBudget {
    const known = this.#budgets.get(target)
    if (known !== undefined) return known
    const added = new TargetBudget(this.#options.concurrency)
    this.#budgets.set(target, added)
    return added
  }

  #send(claimed: ClaimedDelivery, budget: TargetBudget): void {
    const { id } = claimed.delivery
    this.#held.set(id, { id, lease: claimed.lease })
    budget.started()
    const work = this.#attempt(claimed, budget).then((end) => {
      this.#attempts.delete(work)
      this.#ends.push(end)
      this.#storing ??= this.#storeEnds()
    })
    this.#attempts.add(work)
  }

  async #attempt({ delivery, lease, ...content }: ClaimedDelivery, budget: TargetBudget): Promise<AttemptEnd> {
    const { attempt, clock, random, onAttempt } = this.#options
    const { id, since, attempts, target } = delivery
    const { rules } = content.request
    const ageMs = () => clock() - Date.parse(since)
    const firstInMs = attempts === 0 ? scheduledMs(rules.scheduleMs, 0) - ageMs() : 0
    if (firstInMs > 0) {
      budget.putBack()
      return { id, lease, attempt: undefined, state: 'pending', dueInMs: firstInMs }
    }
    const attempted = await attempt({ delivery, lease, ...content })
    if ('pausedMs' in attempted) {
      budget.refused(performance.now(), attempted.pausedMs)
      return { id, lease, attempt: undefined, state: 'pending', dueInMs: attempted.pausedMs }
    }
    const step = nextStep(attempted.result, delivery, content.request, ageMs(), random())
    // A target that refuses one delivery for good is there for others.
    if (step.state === 'pending') budget.failed(performance.now())
    else budget.succeeded()
    onAttempt(target, attempted.result, step.state)
    return { id, lease, attempt: attempted.attempt, ...step }
  }

  /** Stores the ends that have come together; as long as the store does not answer, the leases are renewed and it is tried again. */
  async #storeEnds(): Promise<void> {
    while (this.#ends.length > 0) {
      const ends = this.#ends.splice(0, ENDS_AT_ONCE)
      try {
        await this.#options.store.end(ends)
        for (const { id } of ends) this.#held.delete(id)
        this.accepted()
      } catch (thrown) {
        this.#ends.unshift(...ends)
        await sleepFor(this.#pauseForStore(thrown, 'The ends of deliveries cannot be stored.'))
      }
    }
    this.#storing = undefined
  }

  async #renew(): Promise<void> {
    try {
      await this.#options.store.renew([...this.#held.values()], LEASE_MS)
    } catch (thrown) {
      this.#pauseForStore(thrown, 'The leases of deliveries cannot be renewed.')
    }
  }

  #pauseForStore(thrown: unknown, message: string): number {
    if (this.#storePauseMs === 0) this.#options.logger.warn({ err: thrown }, message)
    this.#storePauseMs = nextPauseMs(this.#storePauseMs, STORE_PAUSE)
    return this.#storePauseMs
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isAwake) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, ms)
    await promise
    clearTimeout(timer)
    this.#wake = undefined
  }
}
