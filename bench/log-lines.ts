/**
 * What a line in the log for every message costs: the sample of bench/compare.ts at LOG_LEVEL=info, the default, beside
 * LOG_LEVEL=warn, in turn: `node bin/node.js bench/log-lines.ts [rounds] [seconds]`.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { register, startCrosswalkOnItsCore } from './crosswalk.ts'
import { loadAverage } from './machine.ts'
import { CONNECTIONS, measureRounds } from './rounds.ts'
import { readDocuments, readInput } from './sample.ts'
import type { Spread } from './spread.ts'

const [rounds = 6, seconds = 3] = process.argv.slice(2).map(Number)
const { stateless } = readDocuments()
const body = JSON.stringify(readInput())

const start = async (name: 'info' | 'warn') => {
  const server = await startCrosswalkOnItsCore({ LOG_LEVEL: name, SERVER_PORT: await freePort() })
  const url = await register(server, stateless)
  return { name, server, target: { url, contentType: 'application/json', body, connections: CONNECTIONS } }
}

console.log(`load average before: ${loadAverage().toFixed(2)}`)
const subjects = [await start('info'), await start('warn')]
try {
  const measured = await measureRounds(subjects, { rounds, seconds, warmUpSeconds: 3 })
  for (const { name } of subjects) {
    const { messagesPerSecond, cpuMicroseconds } = measured.results(name)
    console.log(
      `${name}: ${text(messagesPerSecond, 0)} messages/s, ${text(cpuMicroseconds, 1)} µs of processor time each`,
    )
  }
  const { byMessagesPerSecond, byCpu } = measured.ratio('info', 'warn')
  console.log(`info to warn: ${text(byMessagesPerSecond, 3)} by messages/s, ${text(byCpu, 3)} by processor time`)
} finally {
  await Promise.all(subjects.map(({ server }) => server.stop()))
}

function text({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)} to ${max.toFixed(digits)})`
}

/** A server that logs nothing at its start cannot tell the port that it has chosen. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}
