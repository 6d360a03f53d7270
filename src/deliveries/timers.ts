/** A monotonic clock in milliseconds, and what runs later. */
export type Timers = Readonly<{
  now(): number
  /** Out: cancels it. */
  after(ms: number, run: () => void): () => void
}>

/** Those of the machine. They keep no process alive. */
export const TIMERS: Timers = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
