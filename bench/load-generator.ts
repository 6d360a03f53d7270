/**
 * Sends one message over and over on several connections: `node load-generator.ts <settings as JSON>`.
 *
 * Written for little work a request: the request is one buffer made once, an answer is read as far as its length. A
 * generator that needs as much time for a request as the server does leaves the faster of two servers waiting, which
 * makes the slower one look good.
 */
import { connect } from 'node:net'
import { createHistogram, performance } from 'node:perf_hooks'

export type GeneratorSettings = Readonly<{
  url: string
  contentType: string
  body: string
  connections: number
  /** When to stop, but not before the first answer; at the end of standard input where it is left out. */
  seconds?: number
}>

/** `failed`: answers with another status than 200. */
export type GeneratorResult = Readonly<{
  messages: number
  failed: number
  seconds: number
  p50Ms: number
  p99Ms: number
  /** From sending a message to the whole of its answer, the longest. */
  maxMs: number
}>

const HEAD_END = Buffer.from('\r\n\r\n')

function generate(settings: GeneratorSettings): void {
  const { hostname, port, pathname, host } = new URL(settings.url)
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${settings.contentType}\r\n`
  const length = `content-length: ${Buffer.byteLength(settings.body)}\r\n\r\n`
  const request = Buffer.from(head + length + settings.body)
  const latencies = createHistogram()
  let messages = 0
  let failed = 0
  const startedAt = performance.now()
  let endsAt = startedAt + (settings.seconds ?? Number.POSITIVE_INFINITY) * 1000

  for (let connection = 0; connection < settings.connections; connection += 1) {
    let answer: Buffer = Buffer.alloc(0)
    let sentAt = 0
    const send = (): void => {
      sentAt = performance.now()
      if (messages > 0 && sentAt >= endsAt) {
        socket.end()
        return
      }
      socket.write(request)
    }
    const receive = (chunk: Buffer): void => {
      answer = answer.length === 0 ? chunk : Buffer.concat([answer, chunk])
      const status = statusOfWhole(answer)
      if (status === undefined) return
      answer = answer.subarray(answer.length)
      latencies.record(Math.max(1, Math.round((performance.now() - sentAt) * 1000)))
      messages += 1
      if (status !== 200) failed += 1
      send()
    }
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer: Buffer.alloc(65_536),
        callback: (bytes, buffer) => {
          // The buffer is used again: what is not a whole answer yet has to be kept.
          const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, bytes)
          receive(chunk)
          if (answer.length > 0) answer = Buffer.from(answer)
          return true
        },
      },
    })
    socket.on('connect', send)
  }

  if (settings.seconds === undefined) {
    process.stdin.resume().on('end', () => {
      endsAt = startedAt
    })
  }
  process.on('exit', () => {
    const result: GeneratorResult = {
      messages,
      failed,
      seconds: (performance.now() - startedAt) / 1000,
      p50Ms: latencies.percentile(50) / 1000,
      p99Ms: latencies.percentile(99) / 1000,
      maxMs: latencies.max / 1000,
    }
    process.stdout.write(JSON.stringify(result))
  })
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

generate(JSON.parse(process.argv[2] ?? '') as GeneratorSettings)
