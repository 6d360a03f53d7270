/**
 * The same service on SQLite and on PostgreSQL, in one run: `node bin/node.js bench/stores.ts [--rounds 5] [--seconds 3]`.
 * PostgreSQL is a server of its own on this machine, which waits for the disk as servers do.
 */
import { parseArgs } from 'node:util'
import { startPostgres } from '../test/services/postgres.ts'
import { register, startCrosswalkOnItsCore } from './crosswalk.ts'
import { describeMachine, loadAverage } from './machine.ts'
import { CONNECTIONS, measureRounds, type Results } from './rounds.ts'
import { readDocuments, readInput } from './sample.ts'
import type { Spread } from './spread.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '3' } },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

const before = loadAverage()
const postgres = await startPostgres({ POSTGRES_SYNC: '1' })
const sqliteServer = await startCrosswalkOnItsCore()
const postgresServer = await startCrosswalkOnItsCore({ DATABASE_URL: postgres.url })
try {
  const documents = readDocuments()
  const body = JSON.stringify(readInput())
  const subject = async <Name extends string>(
    name: Name,
    server: typeof sqliteServer,
    kind: 'stateless' | 'stateful',
  ) => ({
    name,
    server,
    target: {
      url: await register(server, documents[kind]),
      contentType: 'application/json',
      body,
      connections: CONNECTIONS,
    },
  })
  const options = { rounds, seconds, warmUpSeconds: 3 }
  // One after the other: what a message with state leaves in a process must not slow those without.
  const without = await measureRounds(
    [await subject('SQLite', sqliteServer, 'stateless'), await subject('PostgreSQL', postgresServer, 'stateless')],
    options,
  )
  const withState = await measureRounds(
    [await subject('SQLite', sqliteServer, 'stateful'), await subject('PostgreSQL', postgresServer, 'stateful')],
    options,
  )
  console.log('| store | requests/s | lowest to highest | p50 | p99 |\n|---|---|---|---|---|')
  for (const name of ['SQLite', 'PostgreSQL'] as const) console.log(rowOf(name, without.results(name)))
  for (const name of ['SQLite', 'PostgreSQL'] as const)
    console.log(rowOf(`${name}, with state`, withState.results(name)))
  const stateless = without.ratio('PostgreSQL', 'SQLite')
  const stateful = withState.ratio('PostgreSQL', 'SQLite')
  console.log('\n| PostgreSQL to SQLite | median | lowest to highest |\n|---|---|---|')
  console.log(ratioOf('without state, by requests/s', stateless.byMessagesPerSecond))
  console.log(ratioOf('without state, by processor time', stateless.byCpu))
  console.log(ratioOf('with state, by requests/s', stateful.byMessagesPerSecond))
  const { cpu, cores, node, loadTool } = describeMachine()
  console.log(
    `\n${cpu}, ${cores} cores, Node.js ${node}; ${CONNECTIONS} connections by ${loadTool}, ${rounds} rounds of ${seconds} s; load average before: ${before.toFixed(2)}.`,
  )
} finally {
  await Promise.all([sqliteServer.stop(), postgresServer.stop()])
  await postgres.stop()
}

function rowOf(name: string, { messagesPerSecond: { median, min, max }, p50Ms, p99Ms }: Results): string {
  const whole = (value: number) => Math.round(value).toLocaleString('en-GB')
  return `| ${name} | ${whole(median)} | ${whole(min)} to ${whole(max)} | ${p50Ms.median.toFixed(1)} ms | ${p99Ms.median.toFixed(1)} ms |`
}

function ratioOf(what: string, { median, min, max }: Spread): string {
  return `| ${what} | ${median.toFixed(3)} | ${min.toFixed(3)} to ${max.toFixed(3)} |`
}
