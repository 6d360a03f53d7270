/** Upstreams of the tests: real servers on 127.0.0.1 that count connections and leave none behind. */
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { OutboundError, type OutboundRequest } from '../../../../src/core/ports/http-client-port.ts'
import {
  createHttpClient,
  type HttpClientOptions,
  type OwnHttpClient,
} from '../../../../src/outbound/http/http-client.ts'

export type Upstream = Readonly<{
  url: string
  /** Every connection so far, in order. */
  sockets: readonly Socket[]
  /** Resolves when no connection is open; rejects if one is open after five seconds. */
  quiet(): Promise<void>
}>

export const startHttp = (t: TestContext, listener: RequestListener): Promise<Upstream> =>
  start(t, createHttpServer(listener))

export const startTcp = (t: TestContext, onSocket: (socket: Socket, index: number) => void): Promise<Upstream> => {
  let index = 0
  return start(
    t,
    createTcpServer({ allowHalfOpen: true }, (socket) => onSocket(socket, index++)),
  )
}

async function start(t: TestContext, server: Server): Promise<Upstream> {
  const sockets: Socket[] = []
  server.on('connection', (socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const closed = (signal: AbortSignal) => (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      if (socket.closed) return resolve()
      socket.once('close', () => resolve())
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    quiet: async () => void (await Promise.all(sockets.map(closed(AbortSignal.timeout(5_000))))),
  }
}

/** The client takes a connection back for reuse a turn of the event loop after its answer. */
export const untilKept = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
}

/** Answers each request on a connection with what `answer` gives for its number there; undefined where that has answered already. */
export function onRequests(socket: Socket, answer: (index: number, head: string) => string | undefined): void {
  let pending = ''
  let index = 0
  socket.on('end', () => socket.end())
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1')
    for (let end = pending.indexOf('\r\n\r\n'); end !== -1; end = pending.indexOf('\r\n\r\n')) {
      const head = pending.slice(0, end)
      pending = pending.slice(end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0))
      const text = answer(index++, head)
      if (text !== undefined) socket.write(text)
    }
  })
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

export function startClient(t: TestContext, options: Partial<HttpClientOptions> = {}): OwnHttpClient {
  const client = createHttpClient({
    connectTimeoutMs: 2_000,
    answerLimitBytes: 64 * 1024,
    ...options,
    retry: { pauseMs: 1, ...options.retry },
  })
  t.after(() => client.close())
  return client
}

export const get = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url,
  headers: {},
  timeoutMs: 5_000,
  retries: 0,
  ...more,
})

/** For assert.rejects: an OutboundError of the fault whose message matches and names no secret of a test. */
export const failsWith =
  (faultName: OutboundError['fault'], message: RegExp) =>
  (error: unknown): boolean => {
    if (!(error instanceof OutboundError)) throw error
    if (error.fault !== faultName || !message.test(error.message) || /secret/.test(error.message)) {
      throw new Error(`unexpected ${error.fault}: ${error.message}`)
    }
    return true
  }

export const text = (body: Uint8Array): string => Buffer.from(body).toString()
