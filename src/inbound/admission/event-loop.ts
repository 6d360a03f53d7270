/** The event loop and its clocks: the load shedder reads them. */

export type EventLoop = Readonly<{
  /** Milliseconds of a clock that only moves forward. */
  nowMs(): number
  /** Processor time of this thread so far, in milliseconds. */
  cpuMs(): number
  /** The share of the time since the last call in which the loop was busy, 0 to 1. */
  busyShare(): number
  /** Runs `work` in the next round of the loop, after the input that has arrived by then. */
  nextRound(work: () => void): void
  /**
   * Out: a function that starts the timer, also again. The timer runs `work` after `ms` milliseconds and keeps no process
   * alive.
   */
  createTimer(work: () => void, ms: number): () => void
}>

/** The loop of this thread. */
export function createEventLoop(): EventLoop {
  let utilization = performance.eventLoopUtilization()
  return {
    nowMs: () => performance.now(),
    cpuMs: () => {
      const { user, system } = process.threadCpuUsage()
      return (user + system) / 1_000
    },
    busyShare: () => {
      const before = utilization
      utilization = performance.eventLoopUtilization()
      return performance.eventLoopUtilization(utilization, before).utilization
    },
    nextRound: (work) => {
      setImmediate(work)
    },
    createTimer: (work, ms) => {
      let timer: NodeJS.Timeout | undefined
      return () => {
        // Cheaper than a new timer every 20 ms.
        timer = timer?.refresh() ?? setTimeout(work, ms).unref()
      }
    },
  }
}
