/** An MLLP listener that answers as a test says. */
import { createServer, type Server, type Socket } from 'node:net'
import { FrameReader, writeFrame } from '../../../../src/outbound/mllp/frames.ts'
import { until } from '../../../support/until.ts'

/** In: a message, and the connection that it came on. Out: the acknowledgement; undefined for none. */
export type Answer = (message: string, socket: Socket) => string | Uint8Array | undefined

export const acknowledge =
  (code: string): Answer =>
  (message) =>
    `MSH|^~\\&|LAB||||20260101||ACK|a1|P|2.5\rMSA|${code}|${message.split('|')[9]}\r`

/** The status that each code of an acknowledgement is answered with. */
export const STATUSES: readonly (readonly [code: string, status: number])[] = [
  ['AA', 200],
  ['CA', 200],
  ['AE', 503],
  ['CE', 503],
  ['AR', 422],
  ['CR', 422],
]

export const message = (id: string): string => `MSH|^~\\&|HIS||||20260101||ADT^A01|${id}|P|2.5\rPID|1||77\r`

export class Listener {
  answer: Answer = acknowledge('AA')
  readonly messages: string[] = []
  readonly sockets = new Set<Socket>()
  connections = 0
  maxBusy = 0
  readonly server: Server

  constructor(create: (onConnection: (socket: Socket) => void) => Server = createServer) {
    this.server = create((socket) => this.#accept(socket))
  }

  async start(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', resolve))
    return this
  }

  get port(): number {
    const address = this.server.address()
    return typeof address === 'object' ? (address?.port ?? 0) : 0
  }

  get url(): string {
    return `mllp://127.0.0.1:${this.port}`
  }

  kill(): void {
    for (const socket of this.sockets) socket.resetAndDestroy()
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve))
    for (const socket of this.sockets) socket.destroy()
    await closed
  }

  allClosed(): Promise<unknown> {
    return until(
      () => this.sockets.size,
      (size) => size === 0,
    )
  }

  #accept(socket: Socket): void {
    this.connections += 1
    this.sockets.add(socket)
    this.maxBusy = Math.max(this.maxBusy, this.sockets.size)
    socket.on('close', () => this.sockets.delete(socket)).on('error', () => undefined)
    const reader = new FrameReader(1024 * 1024)
    socket.on('data', (chunk: Buffer) => {
      for (const { content } of reader.read(chunk)) {
        const text = Buffer.from(content).toString()
        this.messages.push(text)
        const answer = this.answer(text, socket)
        if (answer !== undefined) socket.write(typeof answer === 'string' ? writeFrame(Buffer.from(answer)) : answer)
      }
    })
  }
}
