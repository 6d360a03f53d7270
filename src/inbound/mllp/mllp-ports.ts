/**
 * The MLLP door: the ports that the active endpoints name. A port is open from the first endpoint that names it to the last;
 * one that cannot be opened is tried again. The message type (MSH-9) decides which endpoint of a port takes a message.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import { Failure } from '../../core/failure.ts'
import type { Answer, Headers } from '../../core/message.ts'
import type { Origin } from '../../core/origin.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import { CODECS, findCodec } from '../../formats/codecs.ts'
import { parseMediaType } from '../../formats/media-type.ts'
import { fitsFrame } from '../../outbound/mllp/frames.ts'
import {
  formatType,
  type MessageHeader,
  type MessageType,
  readHeader,
  readType,
} from '../../outbound/mllp/message-header.ts'
import { MEDIA_TYPE } from '../../outbound/mllp/mllp-client.ts'
import type { Incoming } from '../incoming-message.ts'
import type { IncompleteBodies } from '../incomplete-bodies.ts'
import type { Intake } from '../intake.ts'
import { type MessageResult, writeAnswers } from './acknowledgement.ts'
import { MllpConnection } from './mllp-connection.ts'

export type MllpSettings = Readonly<{
  host: string
  serverPort: number
  adminPort: number
  workers: number
  parserLimitBytes: number
  messageTimeoutMs: number
  serverRequestTimeoutMs: number
  mllpMaxConnections: number
  mllpIdleTimeoutMs: number
  mllpTlsCert: string | undefined
  mllpTlsKey: string | undefined
  mllpTlsCa: string | undefined
}>

type MllpOptions = Readonly<{
  registry: Pick<Registry, 'all' | 'watch'>
  intake: Pick<Intake, 'accept' | 'refuse'>
  incompleteBodies: IncompleteBodies
  settings: MllpSettings
  newId: () => string
  logger: Logger
}>

export const MLLP_PORT_STATES = ['opening', 'open', 'failed'] as const

export type MllpPortStatus = Readonly<{
  port: number
  state: (typeof MLLP_PORT_STATES)[number]
  /** Why it could not be opened. */
  error?: string | undefined
  connections: number
}>

const WARN_EVERY_MS = 60_000

/** A sender may connect before it has a message, but must not hold a connection for ever without one. */
const REQUESTS_TO_FIRST_FRAME = 10

const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 }

export class MllpPorts {
  readonly #options: MllpOptions
  readonly #ports = new Map<number, MllpPort>()
  #isStopping = false

  constructor(options: MllpOptions) {
    this.#options = options
    this.#change([], options.registry.all())
    options.registry.watch(({ removed, added }) => this.#change(removed, added))
  }

  status(): readonly MllpPortStatus[] {
    return [...this.#ports.values()].map((port) => port.status)
  }

  /** Takes no further messages; resolves when those under way are answered and all connections are closed. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all([...this.#ports.values()].map((port) => port.close()))
  }

  /** Of what was given up: nothing more is answered. */
  destroy(): void {
    for (const port of this.#ports.values()) port.destroy()
  }

  #change(removed: readonly CompiledEndpoint[], added: readonly CompiledEndpoint[]): void {
    if (this.#isStopping) return
    // All are removed first: one endpoint may take the types that another gives up.
    for (const compiled of removed) {
      const { mllp } = compiled.endpoint
      if (mllp !== undefined) this.#ports.get(mllp.port)?.remove(compiled, mllp.types)
    }
    for (const compiled of added) {
      const { mllp } = compiled.endpoint
      if (mllp === undefined) continue
      const port = this.#ports.get(mllp.port) ?? new MllpPort(mllp.port, this.#options)
      this.#ports.set(mllp.port, port)
      port.add(compiled, mllp.types)
    }
    for (const [number, port] of this.#ports) {
      if (!port.isUnused) continue
      this.#ports.delete(number)
      void port.close()
    }
  }
}

const MLLP: Origin = { door: 'mllp' }

/** What an endpoint without `types` takes: every type that no other one takes. */
const ANY_TYPE = ''

class MllpPort {
  readonly #port: number
  readonly #options: MllpOptions
  readonly #byType = new Map<string, CompiledEndpoint>()
  readonly #connections = new Set<MllpConnection>()
  #server: Server | undefined
  #state: MllpPortStatus['state'] = 'opening'
  #error: string | undefined
  #retryTimer: NodeJS.Timeout | undefined
  #pauseMs = 0
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(port: number, options: MllpOptions) {
    this.#port = port
    this.#options = options
    const { serverPort, adminPort } = options.settings
    if (port !== serverPort && port !== adminPort) {
      this.#open()
      return
    }
    // A stored document may name it since a change of the settings. Not tried: it must not take what the service needs.
    this.#state = 'failed'
    this.#error = `The service itself listens on port ${port}; change "mllp.port", SERVER_PORT or ADMIN_PORT.`
    options.logger.error({ port }, this.#error)
  }

  get isUnused(): boolean {
    return this.#byType.size === 0
  }

  get status(): MllpPortStatus {
    const error = this.#error === undefined ? {} : { error: this.#error }
    return { port: this.#port, state: this.#state, ...error, connections: this.#connections.size }
  }

  add(compiled: CompiledEndpoint, types: readonly string[] = [ANY_TYPE]): void {
    for (const type of types) this.#byType.set(type, compiled)
  }

  remove(compiled: CompiledEndpoint, types: readonly string[] = [ANY_TYPE]): void {
    for (const type of types) if (this.#byType.get(type) === compiled) this.#byType.delete(type)
  }

  async close(): Promise<void> {
    clearTimeout(this.#retryTimer)
    const server = this.#server
    this.#server = undefined
    server?.close()
    const closed = [...this.#connections].map((connection) => connection.closed)
    for (const connection of this.#connections) connection.stop()
    await Promise.all(closed)
  }

  destroy(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  #open(): void {
    const { settings, logger } = this.#options
    const { mllpTlsCert: cert, mllpTlsKey: key, mllpTlsCa: ca, serverRequestTimeoutMs: handshakeTimeout } = settings
    const onConnection = (socket: Socket): void => this.#connect(socket)
    const server =
      cert === undefined
        ? createServer({ allowHalfOpen: true }, onConnection)
        : createTlsServer(
            {
              allowHalfOpen: true,
              cert,
              key,
              ca,
              requestCert: ca !== undefined,
              rejectUnauthorized: ca !== undefined,
              handshakeTimeout,
            },
            onConnection,
          )
    server.maxConnections = settings.mllpMaxConnections
    server.on('tlsClientError', (err: Error) => this.#warn({ err }, 'A sender over MLLP did not agree on TLS'))
    server.on('drop', () =>
      this.#warn({ max: settings.mllpMaxConnections }, 'A connection was closed: MLLP_MAX_CONNECTIONS are open'),
    )
    server.once('listening', () => {
      this.#state = 'open'
      this.#error = undefined
      this.#pauseMs = 0
      logger.info({ port: this.#port }, 'An MLLP port is open')
    })
    server.on('error', (fault: NodeJS.ErrnoException) => this.#fail(server, fault))
    this.#server = server
    // Each worker has a socket of its own, among which the system divides the connections: a handle that node:cluster shares
    // stays behind where the port is in use, and the next try ends the worker.
    server.listen({ port: this.#port, host: settings.host, reusePort: settings.workers > 1 })
  }

  #fail(server: Server, fault: NodeJS.ErrnoException): void {
    if (this.#server !== server) return
    server.close()
    this.#state = 'failed'
    this.#error = describeFault(this.#port, fault)
    // The first alone: it is tried again for as long as an endpoint names the port.
    if (this.#pauseMs === 0) this.#options.logger.error({ port: this.#port, err: fault }, this.#error)
    this.#pauseMs = nextPauseMs(this.#pauseMs, BACKOFF)
    this.#retryTimer = setTimeout(() => this.#open(), this.#pauseMs)
    this.#retryTimer.unref()
  }

  /** At most one in a minute: senders try again, and ports are scanned. */
  #warn(fields: object, message: string): void {
    const now = performance.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#options.logger.warn({ port: this.#port, ...fields }, message)
  }

  #connect(socket: Socket): void {
    const { settings, logger } = this.#options
    const remoteAddress = socket.remoteAddress ?? ''
    const headers: Headers = { 'mllp-port': String(this.#port), 'mllp-remote-address': remoteAddress }
    const connection = new MllpConnection(socket, {
      limitBytes: settings.parserLimitBytes,
      incomplete: this.#options.incompleteBodies,
      frameTimeoutMs: settings.serverRequestTimeoutMs,
      firstFrameTimeoutMs: settings.serverRequestTimeoutMs * REQUESTS_TO_FIRST_FRAME,
      idleTimeoutMs: settings.mllpIdleTimeoutMs,
      take: async ({ content, isWhole }) =>
        isWhole ? this.#take(content, headers, socket) : this.#refuse(content, tooLarge(settings)),
      refuse: (content) => this.#refuse(content, broken()),
      onForeign: () => this.#warn({ remoteAddress }, 'A sender on an MLLP port does not speak MLLP'),
      onBug: (err) => logger.error({ port: this.#port, err }, 'A message over MLLP could not be answered'),
    })
    this.#connections.add(connection)
    void connection.closed.then(() => this.#connections.delete(connection))
  }

  async #take(content: Uint8Array, requestHeaders: Headers, socket: Socket): Promise<readonly Uint8Array[]> {
    const { intake, settings } = this.#options
    const header = readHeader(content)
    const compiled = header && this.#find(readType(header))
    if (compiled === undefined) return this.#refuse(content, header && this.#unrouted(header))
    const recorded = Promise.withResolvers<boolean>()
    let answers: readonly Uint8Array[] = []
    const incoming: Incoming = {
      origin: MLLP,
      requestHeaders,
      body: content,
      onRecorded: recorded.resolve,
      answer: ({ answer, failure }, messageId) => {
        const message = failure === undefined ? ownAnswer(compiled, answer) : undefined
        answers = this.#answer(header, { failure, message }, messageId)
        return { ...answer, headers: { 'content-type': MEDIA_TYPE }, body: answers.at(-1) ?? '' }
      },
    }
    const { failure, messageId } = await intake.accept(compiled, incoming, socket)
    const isLost = failure === undefined && (await orAfter(settings.messageTimeoutMs, recorded.promise))
    return isLost ? this.#answer(header, { failure: notRecorded() }, messageId) : answers
  }

  /** `content`: the message or its start. `failure`: unless it has no header. */
  #refuse(content: Uint8Array, failure = unreadable()): readonly Uint8Array[] {
    const header = readHeader(content)
    const known = header === undefined ? unreadable() : failure
    const { messageId } = this.#options.intake.refuse(header && this.#find(readType(header)), known, MLLP)
    return this.#answer(header, { failure: known }, messageId)
  }

  #answer(header: MessageHeader | undefined, result: MessageResult, messageId: string): readonly Uint8Array[] {
    // The first answer can be found in the message log by it.
    const ids = [messageId]
    const newControlId = (): string => toControlId(ids.pop() ?? this.#options.newId())
    return writeAnswers(header, result, { newControlId, nowMs: Date.now() })
  }

  #find(type: MessageType): CompiledEndpoint | undefined {
    const byType = this.#byType
    return byType.get(formatType(type)) ?? byType.get(type.code) ?? byType.get(ANY_TYPE)
  }

  #unrouted(header: MessageHeader): Failure {
    const shown = formatType(readType(header)) || 'a message without a type'
    const sentence = (what: string): string => `No endpoint takes ${what} on the MLLP port ${this.#port}.`
    const unquoted = sentence(/^[A-Z0-9]{3}(?:\^[A-Z0-9]{3})?$/.test(shown) ? shown : 'the type of a message')
    return new Failure('ROUTE_UNKNOWN', sentence(shown), { unquoted })
  }
}

/** The answer that the endpoint made itself: by `answer.mapping`, or the output of one that sends it nowhere; if its format is HL7 v2. */
function ownAnswer({ endpoint }: CompiledEndpoint, { headers, body }: Answer): Uint8Array | undefined {
  const isOwn = endpoint.requests.response.length === 0 || Object.keys(endpoint.answer?.mapping ?? {}).length > 0
  const type = parseMediaType(String(headers['content-type']))
  if (!isOwn || type === undefined || findCodec(type)?.name !== CODECS.hl7v2.name) return undefined
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return fitsFrame(bytes) ? bytes : undefined
}

const MAX_CONTROL_ID_CHARACTERS = 20

/** MSH-10 has at most 20 characters before version 2.7; the last digits of an id tell it from all others of some weeks. */
const toControlId = (id: string): string => id.slice(-MAX_CONTROL_ID_CHARACTERS)

const unreadable = (): Failure =>
  new Failure('BODY_UNREADABLE', 'The frame does not start with the segment MSH; send one HL7 v2 message in a frame.')

const broken = (): Failure =>
  new Failure(
    'BODY_UNREADABLE',
    'The message contains the byte 0x1C, which ends the frame; send it as an escape sequence (\\X1C\\).',
  )

const tooLarge = ({ parserLimitBytes }: MllpSettings): Failure =>
  new Failure('BODY_TOO_LARGE', `The message has more than ${parserLimitBytes} bytes, which is PARSER_LIMIT.`)

const notRecorded = (): Failure =>
  new Failure('STORE_UNAVAILABLE', 'The message was processed, but the message log could not store it; send it again.')

/** True if nothing is known after the time. */
async function orAfter(timeoutMs: number, isLost: Promise<boolean>): Promise<boolean> {
  const { promise: timeUp, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(true), timeoutMs)
  const result = await Promise.race([isLost, timeUp])
  clearTimeout(timer)
  return result
}

function describeFault(port: number, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return `The MLLP port ${port} is in use already; stop what uses it, or change "mllp.port".`
  if (code === 'EACCES') return `The MLLP port ${port} needs more rights; choose one above 1023.`
  if (code === 'ENOTSUP') return `The workers cannot share the MLLP port ${port} on this system; set WORKERS=1.`
  return `The MLLP port ${port} cannot be opened: ${message}`
}
