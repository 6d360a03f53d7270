/**
 * Sends what is stored for delivery. Each process claims deliveries that are due, by their targets, attempts them, and stores
 * how the attempts ended; while one is under way its lease is renewed, so that what a process leaves is taken over by another.
 */
import { nextPauseMs } from '../core/backoff.ts'
import type { AttemptEnd, ClaimedDelivery, Delivery, DeliveryLease } from '../core/deliveries/delivery.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { DeliveryStore } from '../store/sql/delivery-store.ts'
import { StoreUnavailable } from '../store/store-access.ts'
import type { Attempt } from './attempt.ts'
import { type EndedResult, firstDueInMs, isTooOld, type NextStep, nextStep } from './next-step.ts'
import { TargetPace } from './target-pace.ts'
import { TIMERS, type Timers } from './timers.ts'

export type SenderOptions = Readonly<{
  store: Pick<DeliveryStore, 'dueTargets' | 'claim' | 'now' | 'renew' | 'end'>
  attempt: Attempt
  /** Names this process in leases; no other one has it, nor an earlier run of this one. */
  owner: string
  /** Deliveries under way to one target. */
  concurrency: number
  logger: Pick<Logger, 'warn' | 'error' | 'info'>
  /** An attempt has ended, and the store has it. `end.attempt`: undefined if nothing was sent. */
  onEnded?(delivery: Delivery, end: NextStep): void
  /** For tests. `random`: from 0 to below 1. */
  random?: () => number
  timers?: Timers
}>

const LEASE_MS = 30_000
const RENEW_MS = 10_000

/** After so long without a renewal an attempt is stopped: what it sent at the end has the rest of its lease. */
const HELD_MS = 24_000
const WATCH_MS = 1_000
const POLL_MS = 5_000

/** Between two looks at the store, so that one look serves all messages that were accepted meanwhile. */
const GAP_MS = 10

/** At least so many times what the look took, at most MAX_GAP_MS: among thousands of targets, one takes the database milliseconds. */
const GAP_LOOKS = 20
const MAX_GAP_MS = 500

const BACKOFF = { firstMs: 100, maxMs: 10_000 }

/** Deliveries under way in all: each holds its body and an answer in memory. */
const MAX_UNDER_WAY = 256

/** Targets of one look, beside those that are paused. */
const MAX_TARGETS = 256

/** Between two deliveries that find out whether one of the targets that are away is back: a thousand of them would take the database. */
const PROBE_GAP_MS = 50

/** Deliveries of a target that is away whose age is looked at in one step. */
const MAX_CHECKED = 16

/** Targets of which something is remembered. */
const MAX_PACES = 10_000

/** Ends that are stored in one transaction. */
const MAX_ENDS = 100

type Held = DeliveryLease &
  Readonly<{ pace: TargetPace; lost: AbortController }> & {
    /** On the clock of the timers. */
    heldUntil: number
  }
type Ended = Readonly<{ delivery: Delivery; end: NextStep }>

export class DeliverySender {
  readonly #options: SenderOptions
  readonly #timers: Timers
  readonly #paces = new Map<string, TargetPace>()
  /** Deliveries that are under way, or whose ends are not stored yet, by their ids. */
  readonly #held = new Map<string, Held>()
  /** By the clock of the store. */
  #startedAtMs: number | undefined
  #gapMs = GAP_MS
  #ends: Ended[] = []
  #isStoring = false
  #isStopping = false
  #isClosed = false
  #isWoken = false
  #hasFailed = false
  #running: Promise<void> | undefined
  #stopped: Promise<number> | undefined
  #cancelRenewal: (() => void) | undefined
  #cancelWatch: (() => void) | undefined
  #wakeLoop: (() => void) | undefined
  #noteIdle: (() => void) | undefined

  constructor(options: SenderOptions) {
    this.#options = options
    this.#timers = options.timers ?? TIMERS
  }

  /** Deliveries that are under way, or whose ends are not stored yet. */
  get underWay(): number {
    return this.#held.size
  }

  /** The targets that are not asked now, since they have failed too often. */
  get pausedTargets(): readonly string[] {
    const now = this.#timers.now()
    return [...this.#paces].filter(([, pace]) => pace.pausedForMs(now) > 0).map(([target]) => target)
  }

  start(): void {
    this.#running = this.#run()
    this.#renewLater()
    this.#watchLater()
  }

  /** Deliveries were accepted, or somebody retried some: they are looked for at once. */
  wake(): void {
    this.#isWoken = true
    this.#wakeLoop?.()
  }

  /**
   * Claims nothing more, and waits for what is under way, at most `limitMs`. Resolves to the number of deliveries that are left
   * to their leases.
   */
  stop(limitMs: number): Promise<number> {
    this.#stopped ??= this.#stop(limitMs)
    return this.#stopped
  }

  async #stop(limitMs: number): Promise<number> {
    this.#isStopping = true
    this.wake()
    const { promise: overdue, resolve } = Promise.withResolvers<void>()
    const cancel = this.#timers.after(limitMs, resolve)
    await Promise.race([this.#settle(), overdue])
    cancel()
    this.#isClosed = true
    this.#cancelRenewal?.()
    this.#cancelWatch?.()
    return this.#held.size
  }

  async #settle(): Promise<void> {
    await this.#running
    if (this.#held.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#noteIdle = resolve
    await promise
  }

  async #run(): Promise<void> {
    let pauseMs = 0
    while (!this.#isStopping) {
      try {
        this.#isWoken = false
        const waitMs = await this.#claimDue()
        this.#noteStore()
        pauseMs = 0
        await this.#pause(this.#gapMs)
        if (waitMs > this.#gapMs) await this.#sleep(waitMs - this.#gapMs)
      } catch (thrown) {
        this.#report(thrown, 'Deliveries could not be claimed')
        pauseMs = nextPauseMs(pauseMs, BACKOFF)
        await this.#pause(pauseMs)
      }
    }
  }

  /** Ends early only where the sender stops. */
  async #pause(ms: number): Promise<void> {
    const until = this.#timers.now() + ms
    for (let leftMs = ms; leftMs > 0 && !this.#isStopping; leftMs = until - this.#timers.now())
      await this.#untilWoken(leftMs)
  }

  async #sleep(ms: number): Promise<void> {
    if (!this.#isWoken && !this.#isStopping) await this.#untilWoken(ms)
  }

  #untilWoken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel()
        this.#wakeLoop = undefined
        resolve()
      }
      const cancel = this.#timers.after(Math.ceil(ms), end)
      this.#wakeLoop = end
    })
  }

  /** Out: milliseconds until something may be due. */
  async #claimDue(): Promise<number> {
    const { store } = this.#options
    this.#startedAtMs ??= await store.now()
    const paused = this.pausedTargets.length
    const startedAt = this.#timers.now()
    const { targets, nextInMs = POLL_MS } = await store.dueTargets(MAX_TARGETS + paused)
    this.#gapMs = Math.min(Math.max(GAP_MS, GAP_LOOKS * (this.#timers.now() - startedAt)), MAX_GAP_MS)
    const back = [...this.#paces].filter(([, pace]) => pace.isBack(this.#timers.now())).map(([target]) => target)
    const wanted = [...new Set([...targets, ...back])]
    // Those without any come first, so that a few slow targets hold up no other.
    const underWayTo = (target: string) => this.#paces.get(target)?.underWay ?? 0
    wanted.sort((a, b) => underWayTo(a) - underWayTo(b))
    for (const target of wanted) {
      if (this.#isStopping) break
      await this.#claim(target)
    }
    this.#forgetPaces()
    const now = this.#timers.now()
    const pausesMs = wanted.map((target) => this.#paces.get(target)?.pausedForMs(now) || POLL_MS)
    return Math.max(GAP_MS, Math.min(POLL_MS, nextInMs, ...pausesMs))
  }

  async #claim(target: string): Promise<void> {
    const { store, owner } = this.#options
    const pace = this.#paceOf(target)
    const circuitOpenMs = pace.pausedForMs(this.#timers.now())
    const isGivingUp = circuitOpenMs > 0 && pace.mayHaveOld
    const most = isGivingUp ? MAX_CHECKED : pace.room(this.#timers.now())
    const room = Math.min(most, this.#roomBeside(pace))
    if (room <= 0) return
    const claimed = await this.#hold(pace, () => store.claim(owner, target, room, LEASE_MS))
    if (isGivingUp) {
      pace.mayHaveOld = false
      for (const one of claimed) this.#decide(one, pace, { circuitOpenMs }, one.ageMs)
      return
    }
    for (const one of claimed) this.#begin(one, pace)
    const left = room - claimed.length
    if (!pace.isBack(this.#timers.now()) || left <= 0 || this.#isStopping) return
    pace.backAtMs ??= await store.now()
    const { backAtMs } = pace
    const waiting = await this.#hold(pace, () => store.claim(owner, target, left, LEASE_MS, backAtMs))
    if (waiting.length === 0) pace.caughtUp(this.#timers.now())
    for (const one of waiting) this.#begin(one, pace)
  }

  /** Out: those of a claim that are not under way yet, which are held from now on. */
  async #hold(pace: TargetPace, claim: () => Promise<readonly ClaimedDelivery[]>): Promise<readonly ClaimedDelivery[]> {
    const startedAt = this.#timers.now()
    const claimed = await claim()
    const fresh: ClaimedDelivery[] = []
    for (const one of claimed) {
      const { lease, delivery } = one
      const { id } = delivery
      // One whose lease had ended may be under way in this process still.
      const known = this.#held.get(id)
      if (known === undefined) {
        pace.underWay += 1
        fresh.push(one)
      }
      const { pace: heldPace, lost } = known ?? { pace, lost: new AbortController() }
      this.#held.set(id, { id, lease, pace: heldPace, lost, heldUntil: startedAt + HELD_MS })
    }
    if (this.#timers.now() - startedAt < LEASE_MS / 2) return fresh
    return this.#stillLeased(fresh)
  }

  /** A process that stood still while it claimed may have lost the leases. */
  async #stillLeased(claimed: readonly ClaimedDelivery[]): Promise<readonly ClaimedDelivery[]> {
    const held = claimed.flatMap(({ delivery: { id } }) => this.#held.get(id) ?? [])
    try {
      await this.#renew(held)
    } catch (thrown) {
      for (const { lost } of held) lost.abort()
      throw thrown
    } finally {
      for (const { id, lost } of held) if (lost.signal.aborted) this.#release(id)
    }
    return claimed.filter(({ delivery }) => this.#held.has(delivery.id))
  }

  #begin(claimed: ClaimedDelivery, pace: TargetPace): void {
    const { id } = claimed.delivery
    const dueInMs = this.#isStopping ? 0 : firstDueInMs(claimed)
    if (dueInMs > 0 || this.#isStopping)
      this.#finish(claimed.delivery, { id, attempt: undefined, state: 'pending', dueInMs })
    else void this.#attempt(claimed, pace)
  }

  async #attempt(claimed: ClaimedDelivery, pace: TargetPace): Promise<void> {
    const startedAt = this.#timers.now()
    const held = this.#held.get(claimed.delivery.id)
    if (held === undefined) return
    const result = await this.#options.attempt(claimed, held.lost.signal)
    if (this.#isClosed) return
    if ('isStopped' in result) return this.#release(held.id)
    if ('circuitOpenMs' in result)
      pace.pause(Math.max(result.circuitOpenMs, PROBE_GAP_MS * this.pausedTargets.length), this.#timers.now())
    else pace.record(result.target, this.#timers.now())
    this.#decide(claimed, pace, result, claimed.ageMs + this.#timers.now() - startedAt)
  }

  #decide(claimed: ClaimedDelivery, pace: TargetPace, result: EndedResult, ageMs: number): void {
    const { random = Math.random } = this.#options
    if (isTooOld(claimed, ageMs)) pace.mayHaveOld = true
    this.#finish(claimed.delivery, nextStep(result, claimed, { ageMs, random }))
  }

  #finish(delivery: Delivery, end: NextStep): void {
    this.#ends.push({ delivery, end })
    if (this.#isStoring) return
    this.#isStoring = true
    void this.#storeEnds()
  }

  async #storeEnds(): Promise<void> {
    let pauseMs = 0
    // Attempts that end in the same turn share a transaction.
    await undefined
    while (this.#ends.length > 0 && !this.#isClosed) {
      const batch = this.#ends.slice(0, MAX_ENDS)
      try {
        await this.#storeBatch(batch)
        this.#noteStore()
        pauseMs = 0
        this.#ends = this.#ends.slice(batch.length)
        this.wake()
      } catch (thrown) {
        this.#report(thrown, 'The ends of deliveries could not be stored')
        pauseMs = nextPauseMs(pauseMs, BACKOFF)
        await new Promise<void>((resolve) => this.#timers.after(pauseMs, resolve))
      }
    }
    this.#isStoring = false
  }

  /** Rejects with StoreUnavailable. One that the store cannot take is left to its lease, and holds up no other. */
  async #storeBatch(batch: readonly Ended[]): Promise<void> {
    const { store, logger, onEnded } = this.#options
    const ends = batch.flatMap(({ delivery: { since }, end }): AttemptEnd[] => {
      const held = this.#held.get(end.id)
      return held === undefined ? [] : [{ ...end, lease: held.lease, since }]
    })
    let stored: ReadonlySet<string>
    try {
      stored = new Set(await store.end(ends))
    } catch (thrown) {
      if (thrown instanceof StoreUnavailable) throw thrown
      if (batch.length > 1) {
        for (const one of batch) await this.#storeBatch([one])
        return
      }
      logger.error({ err: thrown, delivery: batch[0]?.end.id }, 'The end of a delivery could not be stored')
      stored = new Set()
    }
    for (const { delivery, end } of batch) {
      this.#release(end.id)
      if (stored.has(end.id)) onEnded?.(delivery, end)
    }
  }

  #renewLater(): void {
    this.#cancelRenewal = this.#timers.after(RENEW_MS, () => {
      void this.#renewAll().finally(() => {
        if (!this.#isClosed) this.#renewLater()
      })
    })
  }

  #watchLater(): void {
    this.#cancelWatch = this.#timers.after(WATCH_MS, () => {
      const now = this.#timers.now()
      for (const { heldUntil, lost } of this.#held.values()) if (now >= heldUntil) lost.abort()
      this.#watchLater()
    })
  }

  /** Stops the attempts at what another process has taken over meanwhile. */
  async #renew(all: readonly Held[]): Promise<void> {
    const heldUntil = this.#timers.now() + HELD_MS
    const kept = new Set(await this.#options.store.renew(all, LEASE_MS))
    for (const held of all) {
      if (kept.has(held.id)) held.heldUntil = heldUntil
      else if (this.#held.get(held.id) === held) held.lost.abort()
    }
  }

  async #renewAll(): Promise<void> {
    if (this.#held.size === 0) return
    try {
      await this.#renew([...this.#held.values()])
    } catch (thrown) {
      this.#report(thrown, 'The leases of deliveries could not be renewed')
    }
  }

  /** A store that is away is reported once. */
  #report(thrown: unknown, message: string): void {
    const { logger } = this.#options
    if (!(thrown instanceof StoreUnavailable)) logger.error({ err: thrown }, message)
    else if (!this.#hasFailed) logger.warn({ err: thrown }, 'Deliveries wait for the store')
    this.#hasFailed = true
  }

  #noteStore(): void {
    if (this.#hasFailed) this.#options.logger.info({}, 'Deliveries go on: the store answers')
    this.#hasFailed = false
  }

  /** Each target leaves half of what it finds to others, so that none that stops answering takes all. */
  #roomBeside({ underWay }: TargetPace): number {
    return Math.ceil((MAX_UNDER_WAY - this.#held.size + underWay) / 2) - underWay
  }

  #release(id: string): void {
    const held = this.#held.get(id)
    if (held === undefined) return
    this.#held.delete(id)
    held.pace.underWay -= 1
    if (this.#held.size === 0) this.#noteIdle?.()
  }

  #paceOf(target: string): TargetPace {
    const known = this.#paces.get(target)
    if (known !== undefined) return known
    const pace = new TargetPace(this.#options.concurrency, this.#startedAtMs)
    this.#paces.set(target, pace)
    return pace
  }

  /** The oldest that are idle; those without a failure first. */
  #forgetPaces(): void {
    const idle = [...this.#paces].filter(([, { underWay }]) => underWay === 0)
    const surplus = this.#paces.size - MAX_PACES
    if (surplus <= 0) return
    const ordinary = idle.filter(([, pace]) => pace.isOrdinary)
    const others = idle.filter(([, pace]) => !pace.isOrdinary)
    for (const [target] of [...ordinary, ...others].slice(0, surplus)) this.#paces.delete(target)
  }
}
