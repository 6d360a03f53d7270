/** What one row of the table of hostile costs is: an attack, and what it costs others: how long their `GET /uptime` waits, and the memory of the service beyond that before it. */

import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type BundledService, registerAt } from '../bundled-service.ts'
import { startUptimeProbe } from '../uptime-probe.ts'

export type HostileCost = Readonly<{
  /** The group of the row; `run.ts` takes groups as arguments. */
  group: 'requests' | 'bodies' | 'lists' | 'paths' | 'tests' | 'shares' | 'validation'
  name: string
  env?: Readonly<Record<string, string>>
  /** Done before the measurement starts. */
  prepare?(service: BundledService): Promise<void>
  /** Measured. Gives what was answered, in a few words. */
  attack(service: BundledService): Promise<string>
}>

/** Sends a body as JSON; gives the status with the code of the failure. */
export async function send(url: string, body: unknown, init: RequestInit = {}): Promise<string> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  })
  let start = ''
  for await (const chunk of answer.body ?? []) if (start.length < 10_000) start += Buffer.from(chunk).toString('latin1')
  const code = /"code":"([A-Z_]+)"/.exec(start)?.[1]
  return code === undefined ? `${answer.status}` : `${answer.status} ${code}`
}

export { type BundledService, registerAt }

export type Cost<Result> = Readonly<{ result: Result; maxMs: number; moreMb: number }>

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
  const { maxMs } = await probe.stop()
  return { result, maxMs, moreMb: megabytes(pid, 'VmHWM') - beforeMb }
}

function megabytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes) / 1024
}
