/**
 * What each hostile message, document or call costs the other callers of the service: `node bin/node.js
 * test/system/load/hostile-costs/run.ts [group or part of a name …]` prints how long their `GET /uptime` waited and how much
 * memory was taken, beside the bounds, and ends with 1 where a bound is broken. Needs a machine with little else to do.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBundled } from '../bundled-service.ts'
import { PATHS, VALIDATION } from './paths.ts'
import { REQUESTS } from './requests.ts'
import type { HostileCost } from './row.ts'
import { type Cost, costOf } from './row.ts'
import { SHARES } from './shares.ts'
import { TESTS } from './tests.ts'

export const ROWS: readonly HostileCost[] = [...REQUESTS, ...PATHS, ...TESTS, ...VALIDATION, ...SHARES]

export const MAX_WAIT_MS = 100
export const MAX_MORE_MB = 150

const LIFETIME_MS = 600_000

export async function runRow({ env = {}, prepare, attack }: HostileCost): Promise<Cost<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-costs-'))
  const service = await startBundled(folder, LIFETIME_MS, env)
  try {
    await prepare?.(service)
    return await costOf(service.url, service.pid, () => attack(service))
  } finally {
    service.child.kill('SIGKILL')
    await service.ended
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const wanted = process.argv.slice(2)
  const rows = ROWS.filter(
    ({ group, name }) => wanted.length === 0 || wanted.some((text) => `${group} ${name}`.includes(text)),
  )
  for (const row of rows) {
    const { result, maxMs, moreMb } = await runRow(row)
    const holds = maxMs <= MAX_WAIT_MS && moreMb <= MAX_MORE_MB
    if (!holds) process.exitCode = 1
    const figures = `/uptime at most ${maxMs.toFixed(0)} ms, memory +${moreMb.toFixed(0)} MB`
    process.stdout.write(`${holds ? 'holds ' : 'BROKEN'} ${row.group}: ${row.name}: ${figures}; answered ${result}\n`)
  }
}
