/** Bodies byte by byte, long lists, and callers who take what belongs to all. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { type BundledService, type HostileCost, registerAt, send } from './row.ts'

const documentOf = (name: string, more: object = {}) => ({
  name,
  endpoint: { pattern: `/${name}` },
  transformation: { input: 'JSON', output: 'JSON' },
  ...more,
})

const PIECES = 10_000

/** Chunks of one byte, as fast as they are read. */
async function sendByteByByte(url: string, bytes: number): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text
  })
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(
    'POST /hostile HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
  )
  const pieces = '1\r\n \r\n'.repeat(PIECES)
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += PIECES) {
    await new Promise<void>((resolve) =>
      socket.write(pieces) ? setImmediate(resolve) : socket.once('drain', resolve).once('close', resolve),
    )
  }
  socket.write('2\r\n{}\r\n0\r\n\r\n')
  await closed
  return answer.slice(9, 12)
}

const byteByByte = (connections: number): HostileCost => ({
  group: 'bodies',
  name: `${connections} bodies of 1 MB that come byte by byte`,
  prepare: async ({ url }) => void (await registerAt(url, documentOf('hostile'))),
  attack: async ({ url }) => {
    const statuses = await Promise.all(Array.from({ length: connections }, () => sendByteByByte(url, 1_000_000)))
    return [...new Set(statuses)].join()
  },
})

async function registerMany({ url }: BundledService, count: number, more: object): Promise<void> {
  const atOnce = 100
  for (let start = 0; start < count; start += atOnce) {
    const operations = Array.from({ length: Math.min(atOnce, count - start) }, (_, n) => ({
      op: 'create',
      document: documentOf(`n${start + n}`, more),
    }))
    const status = await send(`${url}/endpoints/batch`, { operations })
    if (status !== '200') throw new Error(`The batch was answered with ${status}.`)
  }
}

const longList = (count: number, what: string, more: object): HostileCost => ({
  group: 'lists',
  name: `GET /endpoints of ${count} documents ${what}`,
  prepare: (service) => registerMany(service, count, more),
  attack: async ({ url }) => {
    const answer = await fetch(`${url}/endpoints`)
    let bytes = 0
    for await (const chunk of answer.body ?? []) bytes += chunk.byteLength
    return `${answer.status} with ${bytes} bytes`
  },
})

const fields = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`requestBody.f${n}`, `f${n}`]))

const costlyBatch = (dryRun: boolean): HostileCost => ({
  group: 'shares',
  name: `a batch of 1,000 documents of 60 fields${dryRun ? ', dry' : ''}, beside the change of another author`,
  attack: async ({ url }) => {
    const operations = Array.from({ length: 1_000 }, (_, n) => ({
      op: 'create',
      document: documentOf(`n${n}`, { inputMapping: fields }),
    }))
    const batch = send(`${url}/endpoints/batch`, { operations, dryRun })
    let isOver = false
    const ended = batch.finally(() => {
      isOver = true
    })
    let maxMs = 0
    for (let n = 0; !isOver; n += 1) {
      const startedAt = performance.now()
      await registerAt(url, documentOf(`other${n}`))
      maxMs = Math.max(maxMs, performance.now() - startedAt)
    }
    return `${await ended}; the changes of the other took at most ${maxMs.toFixed(0)} ms`
  },
})

const flood: HostileCost = {
  group: 'shares',
  name: 'a flood of failures of one endpoint, beside the failures of another',
  env: { MESSAGE_LOG_MAX_MB: '8' },
  attack: async ({ url, adminUrl }) => {
    for (const name of ['quiet', 'flood']) {
      await registerAt(url, documentOf(name, { inputValidation: { required: ['name'] } }))
    }
    for (let n = 0; n < 20; n += 1) await send(`${url}/quiet`, { n })
    for (let n = 0; n < 100; n += 1) {
      await Promise.all(Array.from({ length: 10 }, () => send(`${url}/flood`, { text: 'x'.repeat(50_000) })))
    }
    const { messages } = (await (await fetch(`${adminUrl}/messages?endpoint=quiet`)).json()) as { messages: object[] }
    return `${messages.length} of 20 are left`
  },
}

const manyStreams: HostileCost = {
  group: 'shares',
  name: 'a caller who opens 200 event streams, beside another',
  env: { MANAGEMENT_AUTH: 'off', ADMIN_HOST: '127.0.0.1' },
  attack: async ({ adminUrl }) => {
    const port = Number(new URL(adminUrl).port)
    const open = async (localAddress: string) => {
      const socket = connect({ host: '127.0.0.1', port, localAddress })
      socket.on('error', () => undefined)
      socket.write(`GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
      const [data] = await once(socket, 'data')
      return { socket, status: String(data).slice(9, 12) }
    }
    const streams: Awaited<ReturnType<typeof open>>[] = []
    for (let n = 0; n < 200; n += 1) streams.push(await open('127.0.0.1'))
    const other = await open('127.0.0.2')
    for (const { socket } of [...streams, other]) socket.destroy()
    const opened = streams.filter(({ status }) => status === '200').length
    return `${opened} of 200, and ${other.status} for the other`
  },
}

export const SHARES: readonly HostileCost[] = [
  byteByByte(8),
  byteByByte(24),
  longList(1_000, 'of 250 KB', { description: 'x'.repeat(250_000) }),
  longList(2_200, 'of 250 KB', { description: 'x'.repeat(250_000) }),
  longList(10_000, 'of 60 fields', { inputMapping: fields }),
  costlyBatch(true),
  costlyBatch(false),
  flood,
  manyStreams,
]
