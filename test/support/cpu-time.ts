/**
 * The processor time that this process takes from the call on, in milliseconds: a bound for work that could take far too
 * long. Unlike time on a clock it does not grow with what else the machine does.
 */
export function startCpuTime(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
}

/** Times of less are mostly those of other work. */
const MIN_MS = 10
const ROUNDS = 3

/** How many times the processor time of `usual` the work `hostile` takes; of each the least of some rounds. */
export async function timesAsCostly(hostile: () => unknown, usual: () => unknown): Promise<number> {
  const minMs = async (work: () => unknown): Promise<number> => {
    const takenMs: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const cpuMs = startCpuTime()
      await work()
      takenMs.push(cpuMs())
    }
    return Math.max(MIN_MS, Math.min(...takenMs))
  }
  return (await minMs(hostile)) / (await minMs(usual))
}
