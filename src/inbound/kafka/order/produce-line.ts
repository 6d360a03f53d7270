/**
 * The records of a partition whose only effect is what they produce: each may start once all of the one before is handed to the
 * producer, which keeps that order. Where one fails, nothing of those behind it is sent any more; they run again after it.
 */
import type { ProduceTurn } from '../../../core/ports/record-producer.ts'

export interface LineTurn extends ProduceTurn {
  readonly isHanded: boolean
  /** The message of this turn has succeeded, or counts as not tried. */
  settle(): void
  /**
   * The message of this turn has failed. Resolves when the earlier ones are settled: to true, once the later ones are settled
   * as well; to false if an earlier one has failed, so that this one counts as not tried.
   */
  fail(): Promise<boolean>
}

export interface ProduceLine {
  readonly hasFailed: boolean
  /** Whether all of the last message is handed over; true before the first one. */
  readonly isOpen: boolean
  /** The next message; `count`: the records that it produces. `onHanded` is called when all of them are handed over. */
  open(count: number, onHanded: () => void): LineTurn
}

export function createProduceLine(): ProduceLine {
  const state: LineState = { unsettled: [], waiting: [], failedAt: Number.POSITIVE_INFINITY }
  let last: LineTurn | undefined
  let opened = 0
  return {
    get hasFailed() {
      return state.failedAt < Number.POSITIVE_INFINITY
    },
    get isOpen() {
      return last?.isHanded !== false
    },
    open: (count, onHanded) => {
      opened += 1
      const turn = new Turn(state, opened, count, onHanded)
      state.unsettled.push(turn)
      last = turn
      return turn
    },
  }
}

type LineState = {
  /** The turns that are not settled, in order. */
  readonly unsettled: Turn[]
  readonly waiting: (() => void)[]
  /** The number of the first turn that failed. */
  failedAt: number
}

/** A class, because there is one for each record: an object with accessors of its own takes six times the memory. */
class Turn implements LineTurn {
  readonly #line: LineState
  readonly #number: number
  readonly #onHanded: () => void
  #left: number

  constructor(line: LineState, number: number, left: number, onHanded: () => void) {
    this.#line = line
    this.#number = number
    this.#left = left
    this.#onHanded = onHanded
  }

  get isVoid(): boolean {
    return this.#line.failedAt < this.#number
  }

  get isHanded(): boolean {
    return this.#left <= 0
  }

  handed(): void {
    this.#left -= 1
    if (this.#left === 0) this.#onHanded()
  }

  failed(): void {
    if (this.#number >= this.#line.failedAt) return
    this.#line.failedAt = this.#number
    this.#wakeAll()
  }

  settle(): void {
    const { unsettled } = this.#line
    const index = unsettled.indexOf(this)
    if (index < 0) return
    unsettled.splice(index, 1)
    this.#wakeAll()
  }

  async fail(): Promise<boolean> {
    const { unsettled } = this.#line
    this.failed()
    await this.#until(() => unsettled[0] === this || this.isVoid)
    const isFirst = !this.isVoid
    if (isFirst) await this.#until(() => unsettled.length === 1)
    this.settle()
    return isFirst
  }

  #wakeAll(): void {
    const { waiting } = this.#line
    if (waiting.length === 0) return
    for (const wake of waiting.splice(0)) wake()
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#line.waiting.push(resolve))
  }
}
