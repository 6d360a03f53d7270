/**
 * What `idempotency` costs a message, in microseconds of processor time of the service, on the store that DATABASE_URL names,
 * else on a file: `node bin/node.js bench/costs/idempotency-cost.ts`.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import type { ServerProcess } from '../processes/server-process.ts'
import { spreadOf } from '../report/spread.ts'
import { flat } from '../workloads/flat.ts'

const ROUNDS = 10
const MESSAGES = 4_000
const CONNECTIONS = 32

type Way = Readonly<{ name: string; url: string; toKey(n: number): string | undefined }>

/** Each on its connection one after the other. Rejects where an answer is not 200. */
async function send({ url, toKey }: Way, body: string, first: number): Promise<void> {
  const { hostname, port, pathname, host } = new URL(url)
  let next = first
  const run = async (): Promise<void> => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    while (next < first + MESSAGES) {
      const key = toKey(next++)
      const header = key === undefined ? '' : `idempotency-key: "${key}"\r\n`
      const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n${header}`
      socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
      // Answers are small: each comes in one piece.
      const [answer] = (await once(socket, 'data')) as [Buffer]
      if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(answer.toString())
    }
    socket.end()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, run))
}

async function measure(server: ServerProcess): Promise<void> {
  const document = flat.document({ origin: '' })
  const plain = { ...document, name: 'plain', endpoint: { pattern: '/plain' } }
  const keyed = { ...document, name: 'keyed', endpoint: { pattern: '/keyed' }, idempotency: {} }
  const [plainUrl, keyedUrl] = [await register(server, plain), await register(server, keyed)]
  const ways: readonly Way[] = [
    { name: 'without the field', url: plainUrl, toKey: () => undefined },
    { name: 'with the field, without a key', url: keyedUrl, toKey: () => undefined },
    { name: 'with a new key each', url: keyedUrl, toKey: (n) => `new ${n}` },
    { name: 'given again', url: keyedUrl, toKey: () => 'always the same' },
  ]
  const costs = new Map(ways.map((way) => [way, { cpu: [] as number[], perSecond: [] as number[] }]))
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [way, { cpu, perSecond }] of costs) {
      const [cpuBefore, startedAt] = [server.cpuSeconds(), performance.now()]
      await send(way, flat.message, round * MESSAGES)
      // The first round warms up.
      if (round < 0) continue
      cpu.push(((server.cpuSeconds() - cpuBefore) * 1e6) / MESSAGES)
      perSecond.push((MESSAGES * 1_000) / (performance.now() - startedAt))
    }
  }
  for (const [{ name }, { cpu, perSecond }] of costs) {
    const spreadText = (values: readonly number[]) => {
      const { median, min, max } = spreadOf(values)
      return `${median.toFixed(0)} (${min.toFixed(0)} to ${max.toFixed(0)})`
    }
    console.log(`${name}: ${spreadText(cpu)} µs of processor time, ${spreadText(perSecond)} messages/s`)
  }
}

const { DATABASE_URL } = process.env
const server = await startCrosswalk('server', { ...(DATABASE_URL && { DATABASE_URL }) })
await measure(server).finally(server.stop)
