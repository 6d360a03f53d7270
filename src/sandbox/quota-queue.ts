/**
 * The FIFO queues of calls that wait for a process, one for each program. The program whose last call took the least
 * processor time is next; programs with equal times take turns.
 */
import type { CpuQuota } from './cpu-quota.ts'

export type QuotaQueue<Call> = Readonly<{
  size: number
  /** Returns false if the queue of the program, or all of them together, are full. */
  add(key: number, quota: CpuQuota, call: Call): boolean
  next(): Call | undefined
  /** Removes the calls of a program; they are in their order. */
  takeAll(key: number): Call[]
  remove(key: number, call: Call): void
}>

export function createQuotaQueue<Call>(mostEach: number, mostInAll: number): QuotaQueue<Call> {
  const queues = new Map<number, { quota: CpuQuota; calls: Call[] }>()
  let size = 0
  return {
    get size() {
      return size
    },
    add: (key, quota, call) => {
      const queue = queues.get(key) ?? { quota, calls: [] }
      if (queue.calls.length >= mostEach || size >= mostInAll) return false
      queue.calls.push(call)
      queues.set(key, queue)
      size += 1
      return true
    },
    next: () => {
      let best: number | undefined
      let least = Number.POSITIVE_INFINITY
      for (const [key, { quota }] of queues) {
        const cost = quota.cpuMs ?? 0
        if (cost < least) [best, least] = [key, cost]
      }
      if (best === undefined) return undefined
      const queue = queues.get(best)
      const call = queue?.calls.shift()
      queues.delete(best)
      // Inserted again, it is behind the other programs of the same cost.
      if (queue !== undefined && queue.calls.length > 0) queues.set(best, queue)
      size -= 1
      return call
    },
    takeAll: (key) => {
      const calls = queues.get(key)?.calls ?? []
      queues.delete(key)
      size -= calls.length
      return calls
    },
    remove: (key, call) => {
      const calls = queues.get(key)?.calls ?? []
      const at = calls.indexOf(call)
      if (at < 0) return
      calls.splice(at, 1)
      size -= 1
      if (calls.length === 0) queues.delete(key)
    },
  }
}
