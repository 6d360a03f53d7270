/**
 * Collects the pieces in which a body arrives. A caller may send it byte by byte, and each piece is a view of what its socket
 * read at once: small pieces are copied together, so that a body takes at most about twice its bytes.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { asFailure, Failure } from '../../domain/failure.ts'
import { bodyTooLarge } from './framework-failures.ts'
import { closeUnread, isTooLong } from './unread-bodies.ts'

export interface BodyPieces {
  /** Fails with REQUEST_MALFORMED where very many pieces have only a few bytes each. */
  add(piece: Buffer): void
  /** The memory that the pieces take. */
  readonly heldBytes: number
  whole(): Buffer
}

/** A smaller piece costs more to keep than to copy. */
const MIN_KEPT_BYTES = 4 * 1024
/** Of the buffers that small pieces are copied to; each is twice as large as the one before. */
const MIN_BUFFER_BYTES = 1024
const MAX_BUFFER_BYTES = 64 * 1024

/**
 * Each piece costs about a microsecond and 200 bytes until it is collected, so a body of 1 MiB in pieces of one byte costs as
 * much as a thousand messages. Programs that write text by text send such pieces, but longer ones on average.
 */
const MAX_TINY_PIECES = 5_000
const MIN_BYTES_ON_AVERAGE = 4

const tooFragmented = (): Failure =>
  new Failure(
    'REQUEST_MALFORMED',
    `The body arrives in more than ${MAX_TINY_PIECES} pieces of less than ${MIN_BYTES_ON_AVERAGE} bytes on average; send it in larger pieces.`,
    { headers: { connection: 'close' } },
  )

/** `request`: whose body it is. Its socket is read on in a later turn of the event loop if it sends too many at once. */
export function createBodyPieces(request: IncomingMessage): BodyPieces {
  const { socket } = request
  const full: Buffer[] = []
  let filling: Buffer | undefined
  let filled = 0
  let heldBytes = 0
  let count = 0
  let bytes = 0

  function endFilling(): void {
    if (filling !== undefined) full.push(filling.subarray(0, filled))
    filling = undefined
    filled = 0
  }

  function copy(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      if (filling === undefined || filled === filling.length) {
        const size = Math.min(MAX_BUFFER_BYTES, 2 * (filling?.length ?? MIN_BUFFER_BYTES / 2))
        endFilling()
        filling = Buffer.allocUnsafeSlow(size)
        heldBytes += size
      }
      const copied = piece.copy(filling, filled, at)
      filled += copied
      at += copied
    }
  }

  return {
    add: (piece) => {
      count += 1
      bytes += piece.length
      if (count > MAX_TINY_PIECES && bytes < count * MIN_BYTES_ON_AVERAGE) {
        closeUnread(request)
        throw tooFragmented()
      }
      if (piece.length < MIN_KEPT_BYTES) countSmall(socket)
      if (piece.length < MIN_KEPT_BYTES || piece.length * 2 < piece.buffer.byteLength) copy(piece)
      else {
        endFilling()
        full.push(piece)
        heldBytes += piece.buffer.byteLength
      }
    },
    get heldBytes() {
      return heldBytes
    },
    whole: () => {
      endFilling()
      const [first] = full
      return first !== undefined && full.length === 1 ? first : Buffer.concat(full)
    },
  }
}

/** A socket gives ten thousand pieces of one byte at once, and other callers wait meanwhile. */
const MAX_SMALL_AT_ONCE = 1_000

let small = 0
let isCounting = false
const waiting = new Set<Socket>()

function countSmall(socket: Socket): void {
  small += 1
  if (small > MAX_SMALL_AT_ONCE && !waiting.has(socket)) {
    waiting.add(socket)
    socket.pause()
    // Node resumes a socket whenever its request may be read.
    socket.resume = () => socket
  }
  if (isCounting) return
  isCounting = true
  setImmediate(nextTurn)
}

/** One socket in each turn. */
function nextTurn(): void {
  small = 0
  const [next] = waiting
  isCounting = next !== undefined
  if (next === undefined) return
  waiting.delete(next)
  Reflect.deleteProperty(next, 'resume')
  next.resume()
  setImmediate(nextTurn)
}

/** Reads the body of a call to the management API. Fastify would keep every piece, of which a body may have a million. */
export function readWhole(
  { raw, routeOptions: { bodyLimit, config } }: FastifyRequest,
  payload: Readable,
  done: (fault: Error | null, body?: Buffer) => void,
): void {
  const pieces = createBodyPieces(raw)
  let left = bodyLimit
  const end = (fault: Error | null): void => {
    payload.off('data', take).off('end', finish).off('error', end)
    done(fault, fault === null ? pieces.whole() : undefined)
  }
  const finish = (): void => end(null)
  const take = (piece: Buffer): void => {
    left -= piece.length
    try {
      if (left < 0) throw bodyTooLarge(config.limitSetting)
      pieces.add(piece)
    } catch (thrown) {
      end(asFailure(thrown))
    }
  }
  if (isTooLong(raw, bodyLimit)) done(bodyTooLarge(config.limitSetting))
  else payload.on('data', take).on('end', finish).on('error', end)
}
