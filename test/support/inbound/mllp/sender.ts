/** A sender of HL7 v2 over MLLP. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { FrameReader, writeFrame } from '../../../../src/outbound/mllp/frames.ts'
import { until } from '../../until.ts'

export const admission = (controlId: string, { type = 'ADT^A01', rest = 'P|2.5' } = {}): string =>
  `MSH|^~\\&|LAB|NORTH|HIS|SOUTH|20260101||${type}|${controlId}|${rest}\rPID|1||${controlId}\r`

export const frame = (content: string): Buffer => Buffer.from(writeFrame(Buffer.from(content)))

export class Sender {
  readonly socket: Socket
  /** Every answer so far. */
  readonly answers: string[] = []
  readonly closed: Promise<unknown>

  constructor(socket: Socket) {
    this.socket = socket
    const reader = new FrameReader(10_000_000)
    this.closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      for (const { content } of reader.read(chunk)) this.answers.push(Buffer.from(content).toString())
    })
  }

  /** Resolves to the first `count` answers. */
  async answered(count: number): Promise<readonly string[]> {
    await until(
      () => this.answers.length,
      (length) => length >= count,
    )
    return this.answers.slice(0, count)
  }

  async ask(content: string): Promise<string> {
    const count = this.answers.length + 1
    this.socket.write(frame(content))
    return (await this.answered(count)).at(-1) as string
  }

  /** MSA-1 and MSA-2 of each answer. */
  get codes(): readonly string[] {
    return this.answers.map(codeOf)
  }
}

export const codeOf = (answer: string): string =>
  /\rMSA\|([^|\r]*\|?[^|\r]*)/.exec(answer)?.[1]?.replace('|', ' ') ?? ''

/** Tries again until the port is open. */
export async function connectSender(port: number, tls?: ConnectionOptions): Promise<Sender> {
  for (let left = 200; ; left -= 1) {
    const socket = tls === undefined ? connect(port, '127.0.0.1') : connectTls({ port, host: '127.0.0.1', ...tls })
    try {
      await once(socket, tls === undefined ? 'connect' : 'secureConnect')
      return new Sender(socket)
    } catch (thrown) {
      if (left === 0 || (thrown as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw thrown
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
