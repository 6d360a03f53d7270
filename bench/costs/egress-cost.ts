/**
 * What the checks of egress and references to secrets cost a call, in microseconds of processor time of the process, upstream
 * included: `node bin/node.js bench/costs/egress-cost.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecretSource } from '../../src/app/secret-source.ts'
import { createEgressPolicy } from '../../src/core/egress/egress-policy.ts'
import type { HttpClient, OutboundRequest } from '../../src/core/ports/http-client-port.ts'
import { createHttpClient } from '../../src/outbound/http/http-client.ts'
import { spreadOf } from '../report/spread.ts'

const ROUNDS = 20
const CALLS = { kept: 2_000, new: 400, resolve: 20_000 }

const server = createServer((request, response) => {
  if (request.url === '/new') response.setHeader('connection', 'close')
  response.end('{}')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

const options = { connectTimeoutMs: 2_000, answerLimitBytes: 65_536 }
const policy = createEgressPolicy({ egressAllow: [], egressDeny: [], egressPrivate: 'allow' })
const clients = { without: createHttpClient(options), with: createHttpClient({ ...options, egress: { policy } }) }

const request = (host: string, path: string): OutboundRequest => ({
  method: 'GET',
  url: `http://${host}:${port}${path}`,
  headers: {},
  timeoutMs: 10_000,
  retries: 0,
})

async function callsOf(client: HttpClient, one: OutboundRequest, count: number): Promise<number> {
  const before = process.cpuUsage()
  for (let call = 0; call < count; call += 1) await client.send(one)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

/** Interleaved, so that what else the machine does meets both alike. */
async function compare(name: string, one: OutboundRequest, count: number): Promise<void> {
  const costs = { without: [] as number[], with: [] as number[] }
  for (const which of ['without', 'with'] as const) await callsOf(clients[which], one, count)
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)
    for (const which of order) costs[which].push(await callsOf(clients[which], one, count))
  }
  console.log(`${name}: ${spreadText(costs.with)} with the checks, ${spreadText(costs.without)} without`)
}

function spreadText(values: readonly number[]): string {
  const { median, min, max } = spreadOf(values)
  const [middle, least, most] = [median, min, max].map((value) => value.toFixed(1))
  return `${middle} µs (${least} to ${most})`
}

await compare('a call on a connection that is kept', request('127.0.0.1', '/'), CALLS.kept)
await compare('a call on a new connection, to an address', request('127.0.0.1', '/new'), CALLS.new)
await compare('a call on a new connection, to a name', request('localhost', '/new'), CALLS.new)
const DECISIONS = 100_000
const decisions = Array.from({ length: ROUNDS }, () => {
  const before = process.cpuUsage()
  for (let call = 0; call < DECISIONS; call += 1) {
    policy.refusal('localhost', port)
    policy.addressRefusal('localhost', '127.0.0.1', port)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / DECISIONS
})
console.log(`the decisions for a new connection alone: ${spreadText(decisions)}`)
await Promise.all(Object.values(clients).map((client) => client.close()))
server.close()

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
writeFileSync(join(folder, 'key'), 'value')
const source = createSecretSource({ names: ['A'], folders: [folder] }, { A: 'value' })
for (const text of ['${env:A}', `\${file:${folder}/key}`]) {
  const costs = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    for (let call = 0; call < CALLS.resolve; call += 1) source.resolve(text)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / CALLS.resolve
  })
  console.log(`a reference to ${text.startsWith('${env') ? 'a variable' : 'a file'}: ${spreadText(costs)}`)
}
rmSync(folder, { recursive: true })
