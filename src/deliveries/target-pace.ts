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

/** Each `now` is the time on a monotonic clock. */
export class TargetPace {
  readonly #most: number
  #budget: number
  #failures = 0
  #pausedUntil = 0
  /** What was tried before may wait for a target that was away. So it is at first: another process may have tried it. */
  #wasAway = true
  #backFrom = Number.POSITIVE_INFINITY
  #nextBackFrom = Number.NEGATIVE_INFINITY

  /** `most`: the most deliveries that are under way at once. `backAtMs`: what was tried before then, another process tried. */
  constructor(most: number, backAtMs?: number) {
    this.#most = most
    this.backAtMs = backAtMs
    this.#budget = Math.min(FIRST_BUDGET, most)
  }

  /** The target was away and answers again: what waits for its next attempt can be sent. */
  isBack(now: number): boolean {
    return now >= this.#backFrom
  }

  /** Deliveries that the sender has under way to it. */
  underWay = 0

  /** Some that are due may be too old: they need not wait for the target. */
  mayHaveOld = false

  /** By the clock of the store: what was tried before is sent when the target is back; undefined until that is noticed. */
  backAtMs: number | undefined

  /** No delivery to the target has failed lately, so that nothing is lost where the pace is forgotten. */
  get isOrdinary(): boolean {
    return this.#failures === 0 && !this.#wasAway
  }

  /** How many more may be under way. */
  room(now: number): number {
    return now < this.#pausedUntil ? 0 : Math.max(0, this.#budget - this.underWay)
  }

  /** Milliseconds until the target may be asked; 0 if it may be now. */
  pausedForMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  record(sign: TargetSign, now: number): void {
    if (sign === 'answers') {
      if (this.#wasAway) this.#backFrom = Math.min(this.#backFrom, Math.max(now, this.#nextBackFrom))
      this.#failures = 0
      this.#budget = Math.min(this.#budget + 1, this.#most)
    } else if (sign !== 'unknown') {
      if (sign === 'away') this.#failures += 1
      this.#budget = Math.max(1, Math.floor(this.#budget / 2))
      if (this.#failures >= AWAY_FAILURES) this.#noteAway(now)
    }
  }

  /** The circuit of the target is open: one delivery is sent after the pause. */
  pause(pauseMs: number, now: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs)
    this.#failures = Math.max(this.#failures, AWAY_FAILURES)
    this.#budget = 1
    this.#noteAway(now)
  }

  /** Nothing that was tried before waits any more. */
  caughtUp(now: number): void {
    this.#endBack(now)
    this.#wasAway = false
  }

  #noteAway(now: number): void {
    this.#endBack(now)
    this.#wasAway = true
  }

  #endBack(now: number): void {
    if (this.isBack(now)) this.#nextBackFrom = this.#backFrom + BACK_EVERY_MS
    this.#backFrom = Number.POSITIVE_INFINITY
    this.backAtMs = undefined
  }
}
