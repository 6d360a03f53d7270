/**
 * The records of a partition whose only effect is what they produce: each may start once all of the one before is handed to the
 * producer, which keeps that order. Where one fails, nothing of those behind it is sent any more; they run again after it.
 */
import type { ProduceTurn } from '../../../domain/ports/record-producer.ts'

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
  /** The turns that are not settled, in order. */
  const unsettled: (LineTurn & { readonly number: number })[] = []
  const waiting: (() => void)[] = []
  let failedAt = Number.POSITIVE_INFINITY
  let last: LineTurn | undefined
  let opened = 0

  const wakeAll = () => {
    for (const wake of waiting.splice(0)) wake()
  }
  const settle = (number: number) => {
    const index = unsettled.findIndex((turn) => turn.number === number)
    if (index < 0) return
    unsettled.splice(index, 1)
    wakeAll()
  }
  const failFrom = (number: number) => {
    if (number >= failedAt) return
    failedAt = number
    wakeAll()
  }
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  return {
    get hasFailed() {
      return failedAt < Number.POSITIVE_INFINITY
    },
    get isOpen() {
      return last?.isHanded !== false
    },
    open: (count, onHanded) => {
      opened += 1
      const number = opened
      let left = count
      const turn: LineTurn & { readonly number: number } = {
        number,
        get isVoid() {
          return failedAt < number
        },
        get isHanded() {
          return left <= 0
        },
        handed: () => {
          left -= 1
          if (left === 0) onHanded()
        },
        failed: () => failFrom(number),
        settle: () => settle(number),
        fail: async () => {
          failFrom(number)
          await until(() => unsettled[0] === turn || failedAt < number)
          if (failedAt < number) {
            settle(number)
            return false
          }
          await until(() => unsettled.length === 1)
          settle(number)
          return true
        },
      }
      unsettled.push(turn)
      last = turn
      return turn
    },
  }
}
