/**
 * A program: targets of deliveries, one at each of its ports, that fail, drop connections and answer late, until its standard
 * input ends. It shares no code with the service, and writes what arrives to a file that judge.ts reads, each line before the
 * answer.
 */
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../crash/random.ts'

const { TARGET_PORTS = '', TARGET_LOG = '', TARGET_SEED, TARGET_LATE_MS } = process.env
const random = createRandom(Number(TARGET_SEED))
const write = (line: object) => appendFileSync(TARGET_LOG, `${JSON.stringify({ ...line, at: Date.now() })}\n`)
let arrivals = 0

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { key, number } = JSON.parse(Buffer.concat(chunks).toString()) as { key: string; number: number }
  const arrival = `${process.pid} ${arrivals++}`
  const isTaken = !random.chance(0.3)
  const [isLate, isDropped] = [random.chance(0.003), random.chance(0.02)]
  const { 'idempotency-key': id, 'x-process': sender } = request.headers
  write({ arrival, key, number, id, isTaken, process: sender })
  if (isLate) await pause(Number(TARGET_LATE_MS))
  if (isDropped) return void response.destroy()
  response.statusCode = isTaken ? 200 : 503
  response.on('finish', () => write({ arrival }))
  response.end()
}

const servers = TARGET_PORTS.split(',').map(async (port) => {
  // A request that ends early is that of a service that was killed.
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  server.on('clientError', (_error, socket) => socket.destroy())
  await once(server.listen(Number(port), '127.0.0.1'), 'listening')
})
await Promise.all(servers)
console.log(JSON.stringify({ url: `http://127.0.0.1:${TARGET_PORTS}` }))
process.stdin.resume().on('end', () => process.exit())
