/**
 * What many stored endpoints cost a start: how long it takes, the memory right after it and later, and what messages take
 * meanwhile. `npm run -s bundle && node bin/node.js bench/costs/many-endpoints.ts [endpoints] [own | equal] [used]`:
 * the fields of each endpoint have names of their own, or those of all endpoints are equal; `used`: how many of them get
 * messages in the end.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { checkDocument } from '../../src/document/checks/check-document.ts'
import { readClaims } from '../../src/document/doors.ts'
import { startCrosswalk } from '../processes/crosswalk.ts'
import { freePort } from '../processes/free-port.ts'
import { typicalEndpoint, typicalMessage } from '../workloads/typical.ts'

const [endpoints = 10_000, , used = 200] = process.argv.slice(2).map(Number)
const own = process.argv[3] !== 'equal'
/** Checks that a start left for later are complete within this time. */
const SETTLE_MS = Math.max(10_000, endpoints * 15)

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-many-'))
const file = join(folder, 'crosswalk.db')
const other = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{"id":"p1"}'))
}).listen(0, '127.0.0.1')
const adminPort = await freePort()
const env = { DATABASE_URL: `sqlite:${file}`, ADMIN_PORT: adminPort, MAX_ENDPOINTS: String(endpoints + 1) }

const show = (what: string, text: string): void => void process.stdout.write(`${what.padEnd(34)} ${text}\n`)
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`

/** As registering them leaves them, without the time that it takes. */
function store(): void {
  const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const db = new DatabaseSync(file)
  const insert = db.prepare('insert into endpoints (id, name, document) values (?, ?, ?)')
  const claim = db.prepare('insert into endpoint_claims (key, endpoint_id) values (?, ?)')
  db.exec('begin')
  for (let number = 0; number < endpoints; number += 1) {
    const { endpoint } = checkDocument(typicalEndpoint(number, own, origin))
    const _id = number.toString(16).padStart(24, '0')
    const at = '2026-01-01T00:00:00.000Z'
    const document = { _id, ...endpoint, createdAt: at, updatedAt: at, __v: 0 }
    insert.run(_id, endpoint.name, JSON.stringify(document))
    for (const { key } of readClaims(endpoint)) claim.run(key, _id)
  }
  db.exec('commit')
  db.close()
}

const highestBytes = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

try {
  const empty = await startCrosswalk('both', env)
  await empty.stop()
  store()

  const startedAt = performance.now()
  const server = await startCrosswalk('both', env)
  show('start, until the ports are open', `${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  show('processor time of the start', `${server.cpuSeconds().toFixed(1)} s`)
  show('memory then', megabytes(server.residentBytes()))
  const message = async (number: number): Promise<number> => {
    const sentAt = performance.now()
    const answer = await fetch(`${server.origin}/typical/${number}/north`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typicalMessage(number, own),
    })
    if (answer.status !== 200) throw new Error(await answer.text())
    await answer.arrayBuffer()
    return performance.now() - sentAt
  }
  const times = (all: readonly number[]): string => {
    const sorted = all.toSorted((one, another) => one - another)
    const at = (share: number) => `${(sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(1)} ms`
    return `median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`
  }
  await message(0)
  const meanwhile: number[] = []
  const cpuBefore = server.cpuSeconds()
  for (const until = performance.now() + SETTLE_MS; performance.now() < until; await pause(20)) {
    meanwhile.push(await message(0))
  }
  show('messages of one endpoint meanwhile', times(meanwhile))
  show('processor time meanwhile', `${(server.cpuSeconds() - cpuBefore).toFixed(1)} s of ${SETTLE_MS / 1000} s`)
  show(
    'memory then, at most until then',
    `${megabytes(server.residentBytes())}, ${megabytes(highestBytes(server.pid()))}`,
  )
  const first: number[] = []
  const second: number[] = []
  for (let index = 1; index <= used; index += 1) {
    const number = Math.floor((index * endpoints) / (used + 1))
    first.push(await message(number))
    second.push(await message(number))
  }
  show('first message of an endpoint', times(first))
  show('second message of an endpoint', times(second))
  show(`memory with ${used} endpoints in use`, megabytes(server.residentBytes()))
  await server.stop()
} finally {
  other.close()
  rmSync(folder, { recursive: true, force: true })
}
