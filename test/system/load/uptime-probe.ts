/** Calls `GET /uptime` from a thread of its own, one call at a time, so that the work of this process does not count. */
import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { percentile } from './generator.ts'

export type UptimeTimes = Readonly<{ p50Ms: number; p99Ms: number; maxMs: number }>

/** Between two calls. */
const EVERY_MS = 5

export function startUptimeProbe(url: string): { stop(): Promise<UptimeTimes> } {
  const thread = new Worker(new URL(import.meta.url), { workerData: url })
  return {
    stop: async () => {
      const times = new Promise<UptimeTimes>((resolve) => thread.once('message', resolve))
      thread.postMessage('stop')
      try {
        return await times
      } finally {
        await thread.terminate()
      }
    },
  }
}

async function probe(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  let isStopped = false
  parentPort?.once('message', () => {
    isStopped = true
  })
  while (!isStopped) {
    const before = performance.now()
    await new Promise<void>((resolve) => {
      get(`${url}/uptime`, { agent }, (answer) => answer.resume().once('end', resolve)).once('error', () => resolve())
    })
    times.push(performance.now() - before)
    await pause(EVERY_MS)
  }
  agent.destroy()
  parentPort?.postMessage({
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    maxMs: Math.max(...times),
  })
}

if (!isMainThread && parentPort !== null) await probe(workerData)
