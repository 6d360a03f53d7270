/**
 * Kills the service at random moments while it is called over HTTP, starts it again, and checks that everything which it
 * acknowledged is there and in force: `node test/system/crash/service-crash.ts --rounds 200 --seed 1`. Exits with 1 where not.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCrashRounds } from './crash-rounds.ts'
import { compileServiceSubject } from './service-subject.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '200' }, seed: { type: 'string', default: `${Date.now() % 2 ** 31}` } },
})
const folder = mkdtempSync(join(tmpdir(), 'crosswalk-crash-'))
const { violations, ...counts } = await runCrashRounds(
  compileServiceSubject(folder),
  Number(values.rounds),
  Number(values.seed),
)
for (const violation of violations) console.error(violation)
console.log(JSON.stringify({ seed: Number(values.seed), ...counts, violations: violations.length }, undefined, 2))
if (violations.length === 0) rmSync(folder, { recursive: true })
else {
  console.error(`The database is kept in ${folder}.`)
  process.exitCode = 1
}
