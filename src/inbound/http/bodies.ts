/**
 * Reads the bodies of requests, with bounds on the memory of all incomplete ones together, and refuses a body such that its
 * caller can still read why.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../core/failure.ts'
import { createPause } from '../../core/slice.ts'
import type { IncompleteBodies, IncompleteBody } from '../incomplete-bodies.ts'
import { chunksRefused, ignoreBody } from './chunk-limits.ts'
import { hasBody } from './replies.ts'

type BodyLimits = Readonly<{
  /** The largest body. */
  limitBytes: number
  incomplete: IncompleteBodies
}>

/**
 * Reads a body to its end; `take` gets undefined if there is none. Fails at most once: BODY_TOO_LARGE, REQUEST_MALFORMED if
 * it arrives in too many tiny chunks, OVERLOADED if other bodies need its memory or very many short chunks arrive at once,
 * or as the socket does.
 */
export type ReadBody = (
  request: IncomingMessage,
  fail: (fault: Error) => void,
  take: (body?: Uint8Array) => void,
) => void

const NO_BYTES = Buffer.alloc(0)

export function createBodyReader({ limitBytes, incomplete }: BodyLimits): ReadBody {
  return (request, fail, take) => {
    if (!hasBody(request)) {
      take()
      return
    }
    const length = Number(request.headers['content-length'] ?? Number.NaN)
    if (length > limitBytes) {
      fail(bodyTooLarge())
      return
    }
    if (request.complete && !request.destroyed) {
      // Nearly every body is complete by now. A destroyed request has no caller any more, so it is not processed.
      const body = (request.read() ?? NO_BYTES) as Buffer
      if (body.length > limitBytes) fail(bodyTooLarge())
      else take(body)
      return
    }
    const refused = chunksRefused(request)
    if (refused !== undefined) {
      fail(refused)
      return
    }
    askForBody(request)
    let pieces = new BodyPieces()
    let last: Buffer | undefined
    let bytes = 0
    let partial: IncompleteBody | undefined
    let isOver = false
    const end = (): void => {
      isOver = true
      if (partial !== undefined) incomplete.release(partial)
    }
    const giveUp = (fault: Error): void => {
      if (isOver) return
      end()
      pieces = new BodyPieces()
      fail(fault)
    }
    const holdPieces = (): void => {
      if (partial === undefined) {
        const one = { bytes: 0, giveUp: () => giveUp(tooMany()) }
        partial = one
        request.once('close', () => incomplete.release(one))
      }
      incomplete.hold(partial, pieces.heldBytes)
    }
    request.on('error', giveUp)
    request.on('data', (chunk: Buffer) => {
      if (isOver) return
      bytes += chunk.length
      if (bytes > limitBytes) {
        giveUp(bodyTooLarge())
        return
      }
      // Nearly every body arrives in one piece, complete by its length.
      if (bytes === length && partial === undefined) last = chunk
      else {
        pieces.add(chunk)
        holdPieces()
      }
    })
    request.on('end', () => {
      if (isOver) return
      end()
      take(last ?? pieces.whole())
    })
  }
}

/** The rest of the body stays unread, so the connection cannot carry another request. `setting`: the name of the limit. */
export const bodyTooLarge = (setting = 'PARSER_LIMIT'): Failure =>
  new Failure('BODY_TOO_LARGE', `The body is larger than this service takes (${setting}).`, {
    headers: { connection: 'close' },
  })

const tooMany = (): Failure =>
  new Failure(
    'OVERLOADED',
    'Too many incomplete request bodies (MAX_INCOMPLETE_BODIES); this one was idle longest. Send it again shortly.',
    { headers: { connection: 'close' } },
  )

/** A smaller piece costs more to keep than to copy. */
const MIN_KEPT_BYTES = 4 * 1024
/** Of the buffers that small pieces are copied to; each is twice as large as the one before. */
const MIN_BUFFER_BYTES = 1024
const MAX_BUFFER_BYTES = 64 * 1024

/**
 * Collects the pieces in which a body arrives. A caller may send it byte by byte, and each piece is a view of what its
 * socket read at once: small pieces are copied together, so that a body takes at most about twice its bytes.
 */
export class BodyPieces {
  /** The memory that the pieces take. */
  heldBytes = 0
  private readonly full: Buffer[] = []
  private filling: Buffer | undefined = undefined
  private filled = 0

  add(piece: Buffer): void {
    if (piece.length < MIN_KEPT_BYTES || piece.length * 2 < piece.buffer.byteLength) this.copy(piece)
    else {
      this.endFilling()
      this.full.push(piece)
      this.heldBytes += piece.buffer.byteLength
    }
  }

  whole(): Buffer {
    this.endFilling()
    const [first] = this.full
    return first !== undefined && this.full.length === 1 ? first : Buffer.concat(this.full)
  }

  /** Of many megabytes. */
  async wholeInSlices(): Promise<Buffer> {
    this.endFilling()
    const whole = Buffer.allocUnsafeSlow(this.full.reduce((sum, { length }) => sum + length, 0))
    const pause = createPause()
    let at = 0
    for (const piece of this.full) {
      at += piece.copy(whole, at)
      await pause()
    }
    return whole
  }

  private copy(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      if (this.filling === undefined || this.filled === this.filling.length) {
        const size = Math.min(MAX_BUFFER_BYTES, 2 * (this.filling?.length ?? MIN_BUFFER_BYTES / 2))
        this.endFilling()
        this.filling = Buffer.allocUnsafeSlow(size)
        this.heldBytes += size
      }
      const copied = piece.copy(this.filling, this.filled, at)
      this.filled += copied
      at += copied
    }
  }

  private endFilling(): void {
    if (this.filling !== undefined) this.full.push(this.filling.subarray(0, this.filled))
    this.filling = undefined
    this.filled = 0
  }
}

/** From here on, a body of a known length is collected into one buffer. */
const LARGE_BYTES = 1_048_576
/** Of that buffer to what has arrived: a caller who declares much and sends little takes little. */
const GROWTH = 8

/**
 * Reads the body of a call to the management API. Fastify would keep every piece, of which a body may have a million. A large one
 * is never joined from its pieces at once, which would hold up messages.
 */
export function readWhole(
  { raw, routeOptions: { bodyLimit, config } }: FastifyRequest,
  payload: Readable,
  done: (fault: Error | null, body?: Buffer) => void,
): void {
  const pieces = new BodyPieces()
  const declared = Number(raw.headers['content-length'] ?? 0)
  let whole: Buffer | undefined
  let bytes = 0
  const leave = (): void => void payload.off('data', take).off('end', finish).off('error', refuse)
  const refuse = (fault: Error): void => {
    leave()
    done(fault)
  }
  const finish = (): void => {
    leave()
    if (whole === undefined && bytes >= LARGE_BYTES) pieces.wholeInSlices().then((body) => done(null, body), done)
    else done(null, whole?.subarray(0, bytes) ?? pieces.whole())
  }
  const take = (piece: Buffer): void => {
    const total = bytes + piece.length
    if (total > bodyLimit) {
      refuse(bodyTooLarge(config.limitSetting))
      return
    }
    if (declared >= LARGE_BYTES && total > (whole?.length ?? LARGE_BYTES - 1)) {
      const grown = Buffer.allocUnsafeSlow(Math.max(total, Math.min(declared, GROWTH * total)))
      ;(whole ?? pieces.whole()).copy(grown, 0, 0, bytes)
      whole = grown
    }
    if (whole === undefined) pieces.add(piece)
    else piece.copy(whole, bytes)
    bytes = total
  }
  const refused = isTooLong(raw, bodyLimit) ? bodyTooLarge(config.limitSetting) : chunksRefused(raw)
  if (refused !== undefined) done(refused)
  else payload.on('data', take).on('end', finish).on('error', refuse)
}

/** The most that is read of a body that was refused. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024
const MAX_UNREAD_MS = 10_000
const LOOK_MS = 50

/** Requests that wait to be asked for their body. */
const expecting = new WeakMap<IncomingMessage, ServerResponse>()

/** A listener for callers who expect 100 Continue: node would ask for every body at once, also for one that is refused. */
export const deferContinue =
  (emit: RequestListener): RequestListener =>
  (request, response) => {
    expecting.set(request, response)
    emit(request, response)
  }

/** Asks for the body that a caller holds back. To be called where the body is about to be read. */
export function askForBody(request: IncomingMessage): void {
  if (request.headers.expect !== undefined) expecting.get(request)?.writeContinue()
}

/** Trusts the length that the body declares. */
export const isTooLong = ({ headers }: Pick<IncomingMessage, 'headers'>, limitBytes: number): boolean =>
  Number(headers['content-length'] ?? 0) > limitBytes

/**
 * For a request that is answered before its body has arrived, so that its connection cannot carry another one. Out: whether
 * it is one; its answer must end the connection.
 *
 * If a socket is closed while bytes arrive, the operating system resets the connection, and the caller may lose the answer.
 * So after the answer the rest of the body is read, at most MAX_UNREAD_BYTES and for MAX_UNREAD_MS.
 */
export function readOn(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return false
  const { socket } = request
  ignoreBody(request)
  const { destroySoon } = socket
  const close = () => destroySoon.call(socket)
  // Node calls this when the answer is written.
  socket.destroySoon = () => {
    // The rest of one whose chunks were refused costs too much to be read, although its caller may then lose the answer.
    if (request.complete || request.destroyed) return close()
    endAndRead(socket)
    request.once('close', close).resume()
  }
  return true
}

/** Ends the own direction of a connection, and lets its caller read the answer before it is closed. */
export function endAndRead(socket: Socket, last?: string): void {
  socket.end(last ?? '')
  const until = performance.now() + MAX_UNREAD_MS
  const max = socket.bytesRead + MAX_UNREAD_BYTES
  const timer = setInterval(() => {
    if (performance.now() > until || socket.bytesRead > max) socket.destroy()
  }, LOOK_MS)
  socket.once('close', () => clearInterval(timer))
}
