/**
 * What the message log costs messages that succeed: `node bin/node.js bench/message-log.ts [--rounds 5] [--seconds 3]`.
 * One service without it, one with what is the default and one that keeps every body, each with SQLite, loaded in turn.
 * All threads of a service share its core, so what its log does behind the answers is paid for as well.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createMessageStore } from '../src/adapters/sqlite/message-store.ts'
import { register, startCrosswalkOnItsCore } from './crosswalk.ts'
import { describeMachine, loadAverage } from './machine.ts'
import { CONNECTIONS, measureRounds } from './rounds.ts'
import { readDocuments, readInput } from './sample.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '3' } },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

const POLICIES = ['off', 'failures', 'all'] as const
type Policy = (typeof POLICIES)[number]

const before = loadAverage()
const folder = mkdtempSync(join(tmpdir(), 'crosswalk-message-log-'))
const path = (policy: Policy) => join(folder, `${policy}.db`)
const subjects = await Promise.all(
  POLICIES.map(async (name) => {
    const server = await startCrosswalkOnItsCore({ MESSAGE_LOG: name, DATABASE_URL: `sqlite:${path(name)}` })
    const url = await register(server, readDocuments().stateless)
    const body = JSON.stringify(readInput())
    return { name, server, target: { url, contentType: 'application/json', body, connections: CONNECTIONS } }
  }),
)
try {
  const measured = await measureRounds(subjects, { rounds, seconds, warmUpSeconds: 3 })
  await Promise.all(subjects.map(({ server }) => server.stop()))
  const whole = (value: number) => Math.round(value).toLocaleString('en-GB')
  console.log('| `MESSAGE_LOG` | requests/s | to `off` | processor time a message | to `off` | p99 | records kept |')
  console.log('|---|---|---|---|---|---|---|')
  for (const policy of POLICIES) {
    const { messagesPerSecond, cpuMicroseconds, p99Ms } = measured.results(policy)
    const { byMessagesPerSecond, byCpu } = measured.ratio(policy, 'off')
    const kept = policy === 'off' ? '' : whole(await recordsOf(policy))
    console.log(
      `| \`${policy}\` | ${whole(messagesPerSecond.median)} | ${byMessagesPerSecond.median.toFixed(2)} | ${cpuMicroseconds.median.toFixed(1)} µs | ${byCpu.median.toFixed(2)} | ${p99Ms.median.toFixed(1)} ms | ${kept} |`,
    )
  }
  const { cpu, cores, node, loadTool } = describeMachine()
  console.log(
    `\n${cpu}, ${cores} cores, Node.js ${node}; ${CONNECTIONS} connections by ${loadTool}, ${rounds} rounds of ${seconds} s; load average before: ${before.toFixed(2)}.`,
  )
} finally {
  await Promise.all(subjects.map(({ server }) => server.stop()))
  rmSync(folder, { recursive: true })
}

async function recordsOf(policy: Policy): Promise<number> {
  const store = createMessageStore(path(policy))
  try {
    return await store.count({})
  } finally {
    await store.close()
  }
}
