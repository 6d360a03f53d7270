/** What another process holds: by the operating system, and by its own collector. */
import { readdirSync, readFileSync } from 'node:fs'

const MIB = 1_048_576

/** VmRSS of proc_pid_status(5), in MiB. */
export function residentMb(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes) / 1024
}

export const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** User and system time, in seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // proc_pid_stat(5): utime and stime are fields 14 and 15; the second field may hold spaces and ends with the last ")".
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export interface HeapReader extends AsyncDisposable {
  /** MiB in use on the heap and beside it, right after a whole collection. */
  usedMb(): Promise<number>
}

/** Asks the inspector of a process, whose address stands in what it said on standard error. */
export async function readHeapOf(said: () => string): Promise<HeapReader> {
  const address = /ws:\/\/\S+/.exec(said())?.[0]
  if (address === undefined) throw new Error('The process reported no address of its inspector.')
  const socket = new WebSocket(address)
  const pending = new Map<number, PromiseWithResolvers<Record<string, number>>>()
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data))
    pending.get(id)?.resolve(result)
    pending.delete(id)
  }
  let calls = 0
  const call = (method: string) => {
    const answered = Promise.withResolvers<Record<string, number>>()
    calls += 1
    pending.set(calls, answered)
    socket.send(JSON.stringify({ id: calls, method }))
    return answered.promise
  }
  return {
    usedMb: async () => {
      // What objects held beside the heap goes in a later collection than they do.
      for (let times = 0; times < 3; times += 1) await call('HeapProfiler.collectGarbage')
      const { usedSize = 0, backingStorageSize = 0 } = await call('Runtime.getHeapUsage')
      return (usedSize + backingStorageSize) / MIB
    },
    [Symbol.asyncDispose]: async () => socket.close(),
  }
}

export type Point = Readonly<{ at: number; value: number }>

/** How much the line rises from the first to the last point; 0 for fewer than two. */
export function riseOf(points: readonly Point[]): number {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || first.at === last.at) return 0
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanAt, meanValue] = [mean(points.map(({ at }) => at)), mean(points.map(({ value }) => value))]
  let covariance = 0
  let variance = 0
  for (const { at, value } of points) {
    covariance += (at - meanAt) * (value - meanValue)
    variance += (at - meanAt) ** 2
  }
  return (covariance / variance) * (last.at - first.at)
}
