/** Calls that wait for a process, of many programs: the one that has asked for least is next, and each has its turn. */
import type { CpuQuota } from './cpu-quota.ts'

export type QuotaQueue<PoolCall> = Readonly<{
  size: number
  /** False where the program, or all of them, have as many as may wait. */
  add(key: number, standing: CpuQuota, call: PoolCall): boolean
  /** The next one; undefined where there is none. */
  next(): PoolCall | undefined
  /** Takes out those of a program, in the order in which they came. */
  takeAll(key: number): PoolCall[]
  remove(key: number, call: PoolCall): void
}>

export function createQuotaQueue<PoolCall>(mostEach: number, mostInAll: number): QuotaQueue<PoolCall> {
  const lines = new Map<number, { standing: CpuQuota; calls: PoolCall[] }>()
  let size = 0
  const drop = (key: number) => {
    if (lines.get(key)?.calls.length === 0) lines.delete(key)
  }
  return {
    get size() {
      return size
    },
    add: (key, standing, call) => {
      const line = lines.get(key) ?? { standing, calls: [] }
      if (line.calls.length >= mostEach || size >= mostInAll) return false
      line.calls.push(call)
      lines.set(key, line)
      size += 1
      return true
    },
    next: () => {
      let best: number | undefined
      let least = Number.POSITIVE_INFINITY
      for (const [key, { standing }] of lines) {
        const cost = standing.cpuMs ?? 0
        if (cost < least) [best, least] = [key, cost]
      }
      if (best === undefined) return undefined
      const line = lines.get(best)
      const call = line?.calls.shift()
      lines.delete(best)
      // Behind the others of the same cost.
      if (line !== undefined && line.calls.length > 0) lines.set(best, line)
      size -= 1
      return call
    },
    takeAll: (key) => {
      const calls = lines.get(key)?.calls ?? []
      lines.delete(key)
      size -= calls.length
      return calls
    },
    remove: (key, call) => {
      const calls = lines.get(key)?.calls
      const at = calls?.indexOf(call) ?? -1
      if (at < 0) return
      calls?.splice(at, 1)
      size -= 1
      drop(key)
    },
  }
}
