/** How soon a refused caller may find room: told by how fast messages have ended lately. */
import type { Gate } from './places.ts'

/** Over how long the speed is measured at least, and at most. */
const LEAST_MS = 1_000
const MOST_MS = 10_000

const MOST_SECONDS = 30

/** Gives the whole seconds, from 1 to 30, until so many more messages of the gate will have ended. */
export type Outflow = (messages: number, nowMs: number) => number

/** Costs nothing but where it is asked. */
export function createOutflow(gate: Gate): Outflow {
  let sinceMs = Number.NEGATIVE_INFINITY
  let endedBefore = 0
  /** Undefined where it is not known: nobody had asked for long. */
  let perSecond: number | undefined

  return (messages, nowMs) => {
    const elapsedMs = nowMs - sinceMs
    if (elapsedMs >= LEAST_MS) {
      const ended = gate.ended - endedBefore
      perSecond = elapsedMs > MOST_MS ? undefined : (ended * 1_000) / elapsedMs
      // As long as nothing ends, the time grows in which nothing did.
      if (ended > 0 || perSecond === undefined) {
        sinceMs = nowMs
        endedBefore = gate.ended
      }
    }
    if (perSecond === undefined) return 1
    const seconds = perSecond === 0 ? elapsedMs / 1_000 : messages / perSecond
    return Math.min(MOST_SECONDS, Math.max(1, Math.ceil(seconds)))
  }
}
