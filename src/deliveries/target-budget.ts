/**
 * How many attempts to one target may be in flight: more after each success, half after each failure. While a target fails,
 * nothing is claimed for it but one delivery after each pause, so that an outage burns few attempts; when it is back, what
 * waits for its next attempt is claimed at once.
 */
import { nextPauseMs } from '../core/backoff.ts'

/** So many failures in a row are an outage. */
const OUTAGE_FAILURES = 5
const OUTAGE_PAUSE = { firstMs: 1_000, maxMs: 30_000 }
const FIRST_BUDGET = 8

export class TargetBudget {
  readonly #max: number
  #budget: number
  #inFlight = 0
  #failures = 0
  #pauseMs = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  /** The target has answered again after an outage, and some of its deliveries may still wait. */
  isBack = false
  /** By the clock of the store, when that was noticed. */
  backAtMs: number | undefined

  /** `max`: at most in flight, 1 or more. */
  constructor(max: number) {
    this.#max = max
    this.#budget = Math.min(max, FIRST_BUDGET)
  }

  /** How many may be claimed at a time of `performance.now()`. */
  free(nowMs: number): number {
    return nowMs < this.#pausedUntilMs ? 0 : Math.max(0, Math.floor(this.#budget) - this.#inFlight)
  }

  /** When something may be claimed again; the past if nothing is in the way. */
  get pausedUntilMs(): number {
    return this.#pausedUntilMs
  }

  /** Nothing is known of it that a new budget would not have. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#failures === 0 && !this.isBack
  }

  started(): void {
    this.#inFlight += 1
  }

  succeeded(): void {
    this.#inFlight -= 1
    if (this.#failures >= OUTAGE_FAILURES) {
      this.isBack = true
      this.backAtMs = undefined
    }
    this.#failures = 0
    this.#pauseMs = 0
    this.#pausedUntilMs = Number.NEGATIVE_INFINITY
    this.#budget = Math.min(this.#max, this.#budget + 1)
  }

  failed(nowMs: number): void {
    this.#inFlight -= 1
    this.#failures += 1
    this.isBack = false
    this.#budget = Math.max(1, this.#budget / 2)
    if (this.#failures < OUTAGE_FAILURES) return
    this.#budget = 1
    this.#pauseMs = nextPauseMs(this.#pauseMs, OUTAGE_PAUSE)
    this.#pausedUntilMs = nowMs + this.#pauseMs
  }

  /** Nothing was sent, as its circuit is open. */
  refused(nowMs: number, pausedMs: number): void {
    this.#inFlight -= 1
    this.isBack = false
    this.#failures = Math.max(this.#failures, OUTAGE_FAILURES)
    this.#budget = 1
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + pausedMs)
  }

  /** What was claimed was not due after all. */
  putBack(): void {
    this.#inFlight -= 1
  }
}
