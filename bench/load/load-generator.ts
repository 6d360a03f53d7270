/**
 * Sends one message repeatedly on several connections, on command: `node load-generator.ts <settings as JSON>`.
 * It reads commands from standard input and answers on standard output, a line of JSON each, until its input ends.
 *
 * Written for little work a request: the request is one buffer made once, an answer is read as far as its length. A
 * generator that needs as much time for a request as the server does leaves the faster of two servers waiting, which
 * makes the slower one look good.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks'
import { createInterface } from 'node:readline'

export type GeneratorSettings = Readonly<{ url: string; contentType: string; body: string; connections: number }>

/**
 * A load of that many seconds, each connection with one message at least, which counts anew, as more of those before, or
 * instead of the last one. Its answer, a GeneratorResult of all loads that count, comes when all messages are answered.
 * `stop` ends the current load, and has no answer of its own.
 */
export type GeneratorCommand = Readonly<{ seconds: number; counts: 'anew' | 'more' | 'instead' } | { stop: true }>

/** `failed`: answers with another status than 2xx. */
export type GeneratorResult = Readonly<{
  messages: number
  failed: number
  seconds: number
  p50Ms: number
  p99Ms: number
  /** From sending a message to the whole of its answer, the longest. */
  maxMs: number
}>

type Counts = Readonly<{ latencies: RecordableHistogram; messages: number; failed: number; seconds: number }>

const nothing = (): Counts => ({ latencies: createHistogram(), messages: 0, failed: 0, seconds: 0 })

function sum(one: Counts, other: Counts): Counts {
  const latencies = createHistogram()
  latencies.add(one.latencies)
  latencies.add(other.latencies)
  return {
    latencies,
    messages: one.messages + other.messages,
    failed: one.failed + other.failed,
    seconds: one.seconds + other.seconds,
  }
}

const resultOf = ({ latencies, ...counts }: Counts): GeneratorResult => ({
  ...counts,
  p50Ms: latencies.percentile(50) / 1000,
  p99Ms: latencies.percentile(99) / 1000,
  maxMs: latencies.max / 1000,
})

const HEAD_END = Buffer.from('\r\n\r\n')

/** Opened anew where the server closed it while nothing was sent, which is its right. */
type Connection = Readonly<{
  ready(): Promise<void>
  /** One message at a time. */
  send(onAnswer: (status: number) => void): void
}>

function createConnection({ hostname, port }: URL, request: Buffer): Connection {
  let socket: Socket | undefined
  let answer: Buffer = Buffer.alloc(0)
  let waiting: ((status: number) => void) | undefined
  const receive = (chunk: Buffer): void => {
    answer = answer.length === 0 ? chunk : Buffer.concat([answer, chunk])
    const status = statusOfWhole(answer)
    if (status === undefined) return
    answer = answer.subarray(answer.length)
    const onAnswer = waiting
    waiting = undefined
    onAnswer?.(status)
  }
  const onread = {
    buffer: Buffer.alloc(65_536),
    callback: (bytes: number, buffer: Uint8Array) => {
      // The buffer is reused, so an incomplete answer must be copied.
      const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, bytes)
      receive(chunk)
      if (answer.length > 0) answer = Buffer.from(answer)
      return true
    },
  }
  return {
    ready: async () => {
      if (socket !== undefined) return
      socket = connect({ host: hostname, port: Number(port), noDelay: true, onread })
      socket.on('end', () => {
        if (waiting !== undefined) throw new Error('The server closed a connection before it answered.')
        socket = undefined
      })
      await once(socket, 'connect')
    },
    send: (onAnswer) => {
      waiting = onAnswer
      socket?.write(request)
    },
  }
}

/** Until `isOver`, and then until the last answer. */
async function load(connections: readonly Connection[], isOver: (now: number) => boolean): Promise<Counts> {
  await Promise.all(connections.map(({ ready }) => ready()))
  const latencies = createHistogram()
  const startedAt = performance.now()
  let messages = 0
  let failed = 0
  const sendAll = (connection: Connection): Promise<void> =>
    new Promise((resolve) => {
      let sentAt = performance.now()
      const receive = (status: number): void => {
        const now = performance.now()
        latencies.record(Math.max(1, Math.round((now - sentAt) * 1000)))
        messages += 1
        if (status < 200 || status > 299) failed += 1
        if (isOver(now)) {
          resolve()
          return
        }
        sentAt = now
        connection.send(receive)
      }
      connection.send(receive)
    })
  await Promise.all(connections.map(sendAll))
  return { latencies, messages, failed, seconds: (performance.now() - startedAt) / 1000 }
}

/** The status of an answer that is there to its last byte (RFC 9112 section 6, by `content-length` alone). */
function statusOfWhole(answer: Buffer): number | undefined {
  const headEnd = answer.indexOf(HEAD_END)
  if (headEnd === -1) return undefined
  const head = answer.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`An answer has no content-length: ${head}`)
  if (answer.length < headEnd + HEAD_END.length + Number(length)) return undefined
  return Number(head.slice(9, 12))
}

const settings = JSON.parse(process.argv[2] ?? '') as GeneratorSettings
const url = new URL(settings.url)
const head = `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: ${settings.contentType}\r\n`
const length = `content-length: ${Buffer.byteLength(settings.body)}\r\n\r\n`
const request = Buffer.from(head + length + settings.body)
const connections = Array.from({ length: settings.connections }, () => createConnection(url, request))
let [before, last] = [nothing(), nothing()]
let endsAt = 0

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const command = JSON.parse(line) as GeneratorCommand
    if ('stop' in command) {
      endsAt = 0
      return
    }
    if (command.counts === 'anew') before = nothing()
    if (command.counts === 'more') before = sum(before, last)
    endsAt = performance.now() + command.seconds * 1000
    last = await load(connections, (now) => now >= endsAt)
    process.stdout.write(`${JSON.stringify(resultOf(sum(before, last)))}\n`)
  })
  .on('close', () => process.exit())
