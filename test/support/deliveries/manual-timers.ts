/** A clock that the test moves, and what runs on it. */
import type { Timers } from '../../../src/deliveries/timers.ts'

export type ManualTimers = Timers & Readonly<{ pass(ms: number): Promise<void> }>

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** `pass` runs what is due on the way in its order, and lets promises settle after each. */
export function manualTimers(): ManualTimers {
  let nowMs = 0
  let made = 0
  const waiting = new Map<number, Readonly<{ at: number; run: () => void }>>()
  const settle = async () => {
    for (let turns = 0; turns < 5; turns += 1) await turn()
  }
  return {
    now: () => nowMs,
    after: (ms, run) => {
      const id = made++
      waiting.set(id, { at: nowMs + ms, run })
      return () => void waiting.delete(id)
    },
    pass: async (ms) => {
      const until = nowMs + ms
      await settle()
      for (;;) {
        const [next] = [...waiting].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)
        if (next === undefined) break
        const [id, { at, run }] = next
        waiting.delete(id)
        nowMs = Math.max(nowMs, at)
        run()
        await settle()
      }
      nowMs = until
      await settle()
    },
  }
}
