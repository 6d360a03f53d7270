/** A clock that the test moves, and what runs on it. */
import type { Timers } from '../../../src/deliveries/timers.ts'

export type ManualTimers = Timers &
  Readonly<{
    /**
     * Lets so many milliseconds pass and runs what is due on the way, in its order. `stepMs`: the clock moves by as much at a
     * time at least, as that of a process that stands still between.
     */
    pass(ms: number, stepMs?: number): Promise<void>
  }>

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** `settle`: lets what has started end; five turns of the event loop unless given. `moved`: the clock has another time. */
export function manualTimers({
  settle = async () => {
    for (let turns = 0; turns < 5; turns += 1) await turn()
  },
  moved = async () => undefined,
}: Readonly<{ settle?: () => Promise<void>; moved?: (nowMs: number) => Promise<void> }> = {}): ManualTimers {
  let nowMs = 0
  let made = 0
  const waiting = new Map<number, Readonly<{ at: number; run: () => void }>>()
  const moveTo = async (ms: number) => {
    if (ms <= nowMs) return
    nowMs = ms
    await moved(ms)
  }
  return {
    now: () => nowMs,
    after: (ms, run) => {
      const id = made++
      waiting.set(id, { at: nowMs + ms, run })
      return () => void waiting.delete(id)
    },
    pass: async (ms, stepMs = 0) => {
      const until = nowMs + ms
      await settle()
      for (;;) {
        const [next] = [...waiting].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)
        if (next === undefined) break
        const [id, { at, run }] = next
        waiting.delete(id)
        if (at > nowMs) await moveTo(Math.min(until, Math.max(at, nowMs + stepMs)))
        run()
        await settle()
      }
      await moveTo(until)
      await settle()
    },
  }
}
