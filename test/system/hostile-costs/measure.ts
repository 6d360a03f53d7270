/** What an attack costs others: how long their `GET /uptime` waits, and the memory of the service beyond that before it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

export type Cost<Result> = Readonly<{ result: Result; longestMs: number; moreMb: number }>

/** Between two calls of `/uptime`. */
const EVERY_MS = 5

/** Runs `work` while a thread of its own calls `/uptime`, one call at a time. `pid`: of the service. */
export async function costOf<Result>(url: string, pid: number, work: () => Promise<Result>): Promise<Cost<Result>> {
  const prober = new Worker(new URL(import.meta.url), { workerData: url })
  // The peak counts from here on: proc_pid_clear_refs(5).
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const beforeMb = megabytes(pid, 'VmRSS')
  await pause(200)
  try {
    const result = await work()
    // What is freed late, or still runs behind the answer, counts too.
    await pause(500)
    prober.postMessage('end')
    const longestMs = await new Promise<number>((resolve) => prober.once('message', resolve))
    return { result, longestMs, moreMb: megabytes(pid, 'VmHWM') - beforeMb }
  } finally {
    await prober.terminate()
  }
}

function megabytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes) / 1024
}

async function probe(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  let longestMs = 0
  let ended = false
  parentPort?.once('message', () => {
    ended = true
  })
  while (!ended) {
    const before = performance.now()
    await new Promise<void>((resolve) => {
      get(`${url}/uptime`, { agent }, (answer) => answer.resume().once('end', resolve)).once('error', () => resolve())
    })
    longestMs = Math.max(longestMs, performance.now() - before)
    await pause(EVERY_MS)
  }
  agent.destroy()
  parentPort?.postMessage(longestMs)
}

if (!isMainThread) await probe(workerData)
