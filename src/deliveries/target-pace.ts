/**
 * How many deliveries may be under way to one target. The number grows with each success and halves with each failure, so that
 * a target that has trouble is asked little, and one that is back gets what waited for it without a storm.
 */
import type { TargetSign } from './next-step.ts'

/** Deliveries to a target of which nothing is known. */
const FIRST_BUDGET = 4

/** Failures in a row after which a target counts as away. */
const AWAY_FAILURES = 5

/** Between two times that a target is back: deliveries that always fail are not tried again whenever another one succeeds. */
const BACK_EVERY_MS = 60_000

export class TargetPace {
  readonly #most: number
  #budget: number
  #failures = 0
  #pausedUntil = 0
  #isBack = false
  #lastBack = Number.NEGATIVE_INFINITY

  /** `most`: the most deliveries that are under way at once. */
  constructor(most: number) {
    this.#most = most
    this.#budget = Math.min(FIRST_BUDGET, most)
  }

  /** The target was away and answers again: what waits for its next attempt can be sent. */
  get isBack(): boolean {
    return this.#isBack
  }

  /** Deliveries that the sender has under way to it. */
  underWay = 0

  /** By the clock of the store, when that was noticed. */
  backAtMs: number | undefined

  /** No delivery to the target has failed lately, so that nothing is lost where the pace is forgotten. */
  get isOrdinary(): boolean {
    return this.#failures === 0 && !this.#isBack
  }

  /** In: the time on a monotonic clock. Out: how many more may be under way. */
  room(now: number): number {
    return now < this.#pausedUntil ? 0 : Math.max(0, this.#budget - this.underWay)
  }

  /** Milliseconds until the target may be asked; 0 if it may be now. */
  pausedForMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  /** `nowMs`: milliseconds since the epoch. */
  record(sign: TargetSign, nowMs: number): void {
    if (sign === 'answers') {
      if (this.#failures >= AWAY_FAILURES && nowMs - this.#lastBack >= BACK_EVERY_MS) {
        this.#isBack = true
        this.backAtMs = undefined
        this.#lastBack = nowMs
      }
      this.#failures = 0
      this.#budget = Math.min(this.#budget + 1, this.#most)
    } else if (sign !== 'unknown') {
      if (sign === 'away') this.#failures += 1
      this.#budget = Math.max(1, Math.floor(this.#budget / 2))
      if (this.#failures >= AWAY_FAILURES) this.#isBack = false
    }
  }

  /** The circuit of the target is open: one delivery is sent after the pause. */
  pause(pauseMs: number, now: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs)
    this.#failures = Math.max(this.#failures, AWAY_FAILURES)
    this.#budget = 1
    this.#isBack = false
  }

  /** Nothing that was tried before waits any more. */
  caughtUp(): void {
    this.#isBack = false
  }
}
