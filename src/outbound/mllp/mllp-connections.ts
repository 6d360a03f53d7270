/**
 * The connections to MLLP listeners. One carries one message at a time, because nothing but its place behind the message says
 * for sure which message an acknowledgement is for. Whatever goes wrong destroys the connection, so that a late
 * acknowledgement is never taken for that of the next message.
 */
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { OutboundError, overBudget, tooLarge } from '../../core/ports/http-client-port.ts'
import { type EgressGuard, guardedLookup } from '../egress-guard.ts'
import { FrameReader, writeFrame } from './frames.ts'

/** `host`: IPv6 without brackets. */
export type Address = Readonly<{ host: string; port: number }>

/** Contents of PEM files; the authorities of Node.js unless there is a `ca`. */
export type TlsFiles = Readonly<{ ca?: string | undefined; cert?: string | undefined; key?: string | undefined }>

export type ConnectionOptions = Readonly<{
  /** Name lookup and TLS included. */
  connectTimeoutMs: number
  /** Of an acknowledgement. */
  limitBytes: number
  /** To one address; further messages wait. */
  maxConnections: number
  /** How long a connection is kept without a message. */
  idleMs: number
  egress: EgressGuard
  /** Undefined for connections that are not encrypted. */
  tlsFor(address: Address): TlsFiles | undefined
}>

/** One message on the wire. */
export type Sending<Result> = Readonly<{
  /** The call, as messages name it. */
  subject: string
  content: Uint8Array
  /** Pays for what arrives; false where it does not suffice. */
  take(bytes: number): boolean
  /** Aborted at the deadline, with its error. */
  signal: AbortSignal
  /** Reads the acknowledgement; if it throws, or another one may follow, the connection is not used again. */
  read(acknowledgement: Uint8Array): Readonly<{ result: Result; mayContinue: boolean }>
}>

/**
 * The connection ended before the acknowledgement; `cause`: why, undefined if the listener closed it. `isStale`: it was
 * kept from an earlier message and nothing arrived, as when the listener closes it while idle.
 */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
  readonly isStale: boolean
  constructor(cause: unknown, isStale: boolean) {
    super('connection lost', { cause })
    this.isStale = isStale
  }
}

export class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout'
}

/** The connections to one address. */
export class MllpPool {
  private readonly address: Address
  private readonly options: ConnectionOptions
  /** The one used last is at the end, and is used first: so the others become idle for long enough to be closed. */
  private readonly idle: MllpConnection[] = []
  private readonly all = new Set<MllpConnection>()
  /** Messages with a permit, of which there are `maxConnections`. */
  private running = 0
  private readonly waiting = new Set<() => void>()

  constructor(address: Address, options: ConnectionOptions) {
    this.address = address
    this.options = options
  }

  /**
   * Out: what `read` makes of the acknowledgement. Fails with what `read` throws, OutboundError where what arrived is at
   * fault, the reason of the signal, ConnectionLost, ConnectTimeout, and the error of connecting.
   */
  async send<Result>(sending: Sending<Result>, isFresh = false): Promise<Result> {
    await this.enter(sending.signal)
    try {
      const connection = (isFresh ? undefined : this.takeIdle()) ?? (await this.open(sending.signal))
      const result = await connection.exchange(sending)
      this.keep(connection)
      return result
    } finally {
      this.leave()
    }
  }

  close(): void {
    for (const connection of this.all) connection.destroy()
  }

  private async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.running < this.options.maxConnections) {
      this.running += 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const abort = () => {
        this.waiting.delete(start)
        reject(signal.reason)
      }
      this.waiting.add(start)
      signal.addEventListener('abort', abort, { once: true })
    })
  }

  /** Hands the permit to the message that waits for longest. */
  private leave(): void {
    const [start] = this.waiting
    if (start === undefined) {
      this.running -= 1
      return
    }
    this.waiting.delete(start)
    start()
  }

  private takeIdle(): MllpConnection | undefined {
    let connection = this.idle.pop()
    while (connection?.isUsable === false) connection = this.idle.pop()
    return connection
  }

  private keep(connection: MllpConnection): void {
    if (!connection.isUsable) return
    connection.rest(this.options.idleMs)
    this.idle.push(connection)
  }

  private async open(signal: AbortSignal): Promise<MllpConnection> {
    // With those in use, one that rests would be one too many.
    if (this.all.size >= this.options.maxConnections) this.idle.shift()?.destroy()
    const socket = await openSocket(this.address, this.options, signal)
    const connection = new MllpConnection(socket, this.options.limitBytes, () => {
      this.all.delete(connection)
      const at = this.idle.indexOf(connection)
      if (at >= 0) this.idle.splice(at, 1)
    })
    this.all.add(connection)
    return connection
  }
}

class MllpConnection {
  private readonly socket: Socket
  private readonly reader: FrameReader
  private readonly limitBytes: number
  private current: Exchange | undefined
  private resting: NodeJS.Timeout | undefined
  private isKept = false
  private error: Error | undefined

  constructor(socket: Socket, limitBytes: number, onClose: () => void) {
    this.socket = socket
    this.limitBytes = limitBytes
    this.reader = new FrameReader(limitBytes)
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.receive(chunk))
    socket.on('error', (error) => {
      this.error ??= error
    })
    socket.on('close', () => {
      clearTimeout(this.resting)
      onClose()
      this.lose()
    })
  }

  get isUsable(): boolean {
    return !this.socket.destroyed && this.socket.readable && this.socket.writable
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** Until the next message. */
  rest(forMs: number): void {
    this.isKept = true
    this.resting = setTimeout(() => this.destroy(), forMs)
    this.resting.unref()
  }

  async exchange<Result>({ subject, content, take, signal, read }: Sending<Result>): Promise<Result> {
    clearTimeout(this.resting)
    const abort = () => this.fail(signal.reason)
    try {
      signal.throwIfAborted()
      if (!this.isUsable) throw new ConnectionLost(this.error, this.isKept)
      signal.addEventListener('abort', abort)
      const acknowledgement = await new Promise<Uint8Array>((resolve, reject) => {
        this.current = { subject, take, resolve, reject, isAnswered: false }
        this.socket.write(writeFrame(content))
      })
      const { result, mayContinue } = read(acknowledgement)
      if (mayContinue) this.destroy()
      return result
    } catch (thrown) {
      this.destroy()
      throw thrown
    } finally {
      signal.removeEventListener('abort', abort)
      this.current = undefined
    }
  }

  private receive(chunk: Buffer): void {
    const { current } = this
    const skippedBytes = this.reader.skippedBytes
    if (current !== undefined) {
      current.isAnswered = true
      if (!current.take(chunk.length)) {
        this.fail(overBudget(current.subject))
        return
      }
    }
    const [first, ...others] = this.reader.read(chunk)
    const isBeyond = others.length > 0 || this.reader.isWithinFrame || this.reader.skippedBytes > skippedBytes
    if (current === undefined) {
      // Line ends alone belong to the frame before them.
      if (first !== undefined || isBeyond) this.destroy()
    } else if (first === undefined) {
      if (this.reader.isLost || this.reader.skippedBytes > this.limitBytes) this.fail(notMllp(current.subject))
    } else if (first.isWhole) {
      this.current = undefined
      // What arrives unasked would be taken for the next acknowledgement.
      if (isBeyond) this.destroy()
      current.resolve(first.content)
    } else this.fail(tooLarge(current.subject, this.limitBytes))
  }

  private fail(reason: unknown): void {
    const { current } = this
    this.current = undefined
    this.destroy()
    current?.reject(reason)
  }

  private lose(): void {
    const { current } = this
    if (current === undefined) return
    this.fail(
      this.reader.skippedBytes > 0
        ? notMllp(current.subject)
        : new ConnectionLost(this.error, this.isKept && !current.isAnswered),
    )
  }
}

type Exchange = {
  readonly subject: string
  readonly take: (bytes: number) => boolean
  readonly resolve: (acknowledgement: Uint8Array) => void
  readonly reject: (reason: unknown) => void
  /** Something has arrived. */
  isAnswered: boolean
}

const notMllp = (subject: string): OutboundError =>
  new OutboundError('unreadable', `${subject} was answered with something that is not MLLP.`)

function openSocket(
  address: Address,
  { connectTimeoutMs, egress, tlsFor }: ConnectionOptions,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted()
  const { host, port } = address
  const tls = tlsFor(address)
  const target = { host, port, lookup: guardedLookup(port, egress) }
  const socket: Socket =
    tls === undefined
      ? connect(target)
      : connectSecurely({ ...target, ...tls, ...(isIP(host) === 0 ? { servername: host } : {}) })
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      socket.off('error', fail).off('close', closed)
    }
    const fail = (reason: unknown) => {
      end()
      // An error that follows belongs to no message.
      socket.on('error', () => undefined).destroy()
      reject(reason)
    }
    const abort = () => fail(signal.reason)
    const closed = () => fail(new ConnectionLost(undefined, false))
    const timer = setTimeout(() => fail(new ConnectTimeout()), connectTimeoutMs)
    signal.addEventListener('abort', abort)
    socket.once('error', fail).once('close', closed)
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      end()
      resolve(socket)
    })
  })
}
