/**
 * Sends messages at a fixed pace, whatever becomes of those before (open loop), or each when the one before is answered
 * (closed loop): `node bin/node.js test/system/load/generator.ts <settings as JSON>`. Times count from when a message was to be sent, so that
 * one which had to wait for the generator or for a connection is not seen as a fast one.
 */
import { connect, type Socket } from 'node:net'

export type GeneratorSettings = Readonly<{
  url: string
  body: string
  seconds: number
  /** Messages a second; left out, `connections` send without a pause. */
  perSecond?: number
  /** At most so many. */
  connections: number
}>

export type GeneratorResult = Readonly<{
  sent: number
  /** Answers with 200, and when each was to be sent and how long it took from then, in milliseconds. */
  admitted: readonly Readonly<{ atMs: number; tookMs: number }>[]
  /** Answers with 503 and `Retry-After`, and when the last of them was to be sent. */
  refused: number
  lastRefusedAtMs: number
  /** Everything else that came of a message, by what it was. */
  others: Readonly<Record<string, number>>
  /** By how much the 99th of 100 messages was sent too late. */
  lateP99Ms: number
}>

const HEAD_END = '\r\n\r\n'

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN

/** Resolves to an answer when it is there to its last byte. */
type Connection = Readonly<{ ask(request: Buffer): Promise<string>; readonly isOpen: boolean; close(): void }>

function openConnection(url: URL): Connection {
  let pending = ''
  let answered: PromiseWithResolvers<string> | undefined
  const socket: Socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    pending += chunk
    const headEnd = pending.indexOf(HEAD_END)
    if (headEnd === -1) return
    const head = pending.slice(0, headEnd)
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1])
    if (pending.length < headEnd + HEAD_END.length + length) return
    answered?.resolve(pending)
    pending = ''
    answered = undefined
  })
  const fail = (what: string) => () => {
    answered?.reject(new Error(what))
    answered = undefined
  }
  socket.on('error', fail('broken')).on('close', fail('closed'))
  return {
    ask: (request) => {
      answered = Promise.withResolvers()
      if (socket.destroyed) fail('closed')()
      else socket.write(request)
      return answered?.promise ?? Promise.reject(new Error('closed'))
    },
    get isOpen() {
      return !socket.destroyed && !socket.readableEnded
    },
    close: () => socket.destroy(),
  }
}

async function generate({ url, body, seconds, perSecond, connections }: GeneratorSettings): Promise<GeneratorResult> {
  const target = new URL(url)
  const head = `POST ${target.pathname} HTTP/1.1\r\nhost: ${target.host}\r\ncontent-type: application/json\r\n`
  const request = Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}${HEAD_END}${body}`)
  const free: Connection[] = []
  const admitted: { atMs: number; tookMs: number }[] = []
  const others: Record<string, number> = {}
  const late: number[] = []
  let [sent, refused, lastRefusedAtMs, open] = [0, 0, 0, 0]
  const startedAt = performance.now()
  const sinceStart = () => performance.now() - startedAt
  const count = (what: string) => {
    others[what] = (others[what] ?? 0) + 1
  }

  /** The service closes those that were not used for a while. */
  const takeFree = (): Connection | undefined => {
    for (;;) {
      const connection = free.pop()
      if (connection === undefined || connection.isOpen) return connection
      open -= 1
    }
  }
  const send = async (atMs: number): Promise<void> => {
    sent += 1
    const reused = takeFree()
    if (reused === undefined && open === connections) return count('no connection free')
    if (reused === undefined) open += 1
    const connection = reused ?? openConnection(target)
    late.push(sinceStart() - atMs)
    try {
      const answer = await connection.ask(request)
      const status = answer.slice(9, 12)
      const isKept = !/\r\nconnection: *close/i.test(answer)
      if (status === '200') admitted.push({ atMs, tookMs: sinceStart() - atMs })
      else if (status === '503' && /\r\nretry-after: *[1-9]/i.test(answer)) {
        refused += 1
        lastRefusedAtMs = Math.max(lastRefusedAtMs, atMs)
      } else count(/"code":"(\w+)"/.exec(answer)?.[1] ?? status)
      if (isKept) free.push(connection)
      else {
        open -= 1
        connection.close()
      }
    } catch (thrown) {
      open -= 1
      connection.close()
      count((thrown as Error).message)
    }
  }

  const underWay: Promise<void>[] = []
  const endMs = seconds * 1_000
  if (perSecond === undefined) {
    const caller = async () => {
      while (sinceStart() < endMs) await send(sinceStart())
    }
    underWay.push(...Array.from({ length: connections }, caller))
  } else {
    const total = Math.floor(seconds * perSecond)
    while (sent < total) {
      for (let atMs = (sent * 1_000) / perSecond; sent < total && atMs <= sinceStart(); ) {
        underWay.push(send(atMs))
        atMs = (sent * 1_000) / perSecond
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  await Promise.all(underWay)
  for (const connection of free) connection.close()
  return { sent, admitted, refused, lastRefusedAtMs, others, lateP99Ms: percentile(late, 0.99) }
}

if (import.meta.main) {
  process.stdout.write(JSON.stringify(await generate(JSON.parse(process.argv[2] ?? '') as GeneratorSettings)))
}
