/**
 * The long form: every fault, many messages of each form at a time, and what came of them as a table.
 *
 *   node bin/node.js test/system/process/run.ts [messages] [concurrency]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnService } from '../../support/spawned-service.ts'
import { ANSWER_LIMIT } from './faults.ts'
import { type Met, meetFaults } from './meet-faults.ts'

const [messages = 20, concurrency = 100] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'crosswalk-faults-'))
// Each call is to meet its fault, rather than the circuit that the ones before opened.
const env = { ANSWER_LIMIT, CIRCUIT_BREAKER_FAILURES: '0', MESSAGE_LOG: 'off' }
const service = await spawnService(folder, { env, lifetimeMs: 900_000 })
try {
  const plan = { timeoutMs: 1_000, patientMs: 5_000, messages, concurrency }
  const { met, leaked, memory, timerLateMs } = await meetFaults(
    { url: service.url, pid: service.child.pid as number },
    plan,
  )
  console.log('| fault | messages | calls came to | after the deadline, ms |\n|---|---|---|---|')
  for (const one of met) console.log(rowOf(one))
  console.log(`\nleaked: ${JSON.stringify(leaked)}, memory in MB: ${JSON.stringify(memory)}`)
  console.log(
    `latest after a deadline: ${Math.round(Math.max(...met.map(({ lateMs }) => lateMs)))} ms; a plain timer here: ${Math.round(timerLateMs)} ms`,
  )
  const wrong = met.flatMap(({ fault, wrong }) => wrong.map((sentence) => `${fault}: ${sentence}`))
  for (const sentence of wrong.slice(0, 50)) console.error(sentence)
  process.exitCode = wrong.length + leaked.connections + leaked.sockets === 0 ? 0 : 1
} finally {
  service.child.kill('SIGTERM')
  await service.ended
  rmSync(folder, { recursive: true })
}

function rowOf({ fault, messages, came, lateMs }: Met): string {
  const calls = Object.entries(came).map(([truth, count]) => `${count} ${truth}`)
  return `| ${fault} | ${messages} | ${calls.join(', ')} | ${lateMs > 0 ? Math.round(lateMs) : 'none'} |`
}
