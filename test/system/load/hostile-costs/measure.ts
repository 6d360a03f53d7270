/** What an attack costs others: how long their `GET /uptime` waits, and the memory of the service beyond that before it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { startUptimeProbe } from '../uptime-probe.ts'

export type Cost<Result> = Readonly<{ result: Result; longestMs: number; moreMb: number }>

/** `pid`: of the service. */
export async function costOf<Result>(url: string, pid: number, work: () => Promise<Result>): Promise<Cost<Result>> {
  const probe = startUptimeProbe(url)
  // The peak counts from here on: proc_pid_clear_refs(5).
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const beforeMb = megabytes(pid, 'VmRSS')
  await pause(200)
  const result = await work().catch(async (thrown) => {
    await probe.stop()
    throw thrown
  })
  // What is freed late, or still runs behind the answer, counts too.
  await pause(500)
  const { longestMs } = await probe.stop()
  return { result, longestMs, moreMb: megabytes(pid, 'VmHWM') - beforeMb }
}

function megabytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes) / 1024
}
