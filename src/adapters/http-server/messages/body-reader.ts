/** Reads the bodies of messages, and bounds what those take in all that have not come whole. */
import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../domain/failure.ts'
import { bodyTooLarge } from '../framework-failures.ts'
import { hasBody } from '../replies.ts'

export type BodyLimits = Readonly<{
  /** The largest body. */
  limitBytes: number
  /** What bodies that have not come whole may take; room for two of the largest at least. */
  roomBytes: number
}>

/**
 * Reads a body to its end; `take` gets undefined where there is none. Fails once at most: BODY_TOO_LARGE, OVERLOADED where the room is
 * needed by others, or as the socket does.
 */
export type ReadBody = (
  request: IncomingMessage,
  fail: (fault: Error) => void,
  take: (body?: Uint8Array) => void,
) => void

/** What a piece takes beside its bytes: a body can come in pieces of one byte. */
const PIECE_BYTES = 128

const NO_BYTES = Buffer.alloc(0)

type Partial = { bytes: number; giveUp(): void }

export function createBodyReader({ limitBytes, roomBytes }: BodyLimits): ReadBody {
  const mostBytes = Math.max(roomBytes, 2 * limitBytes)
  /** Of whom nothing came for longest is the first. */
  const partials = new Set<Partial>()
  let held = 0

  const letGo = (partial: Partial): void => {
    if (partials.delete(partial)) held -= partial.bytes
  }
  const hold = (partial: Partial, bytes: number): void => {
    partials.delete(partial)
    partials.add(partial)
    partial.bytes += bytes
    held += bytes
    for (const idle of partials) {
      if (held <= mostBytes) return
      letGo(idle)
      idle.giveUp()
    }
  }

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
    request.on('error', fail)
    if (request.complete && !request.destroyed) {
      // It came before its message began, as nearly all do. Who has left is not answered, so nothing is done for them.
      const body = (request.read() ?? NO_BYTES) as Buffer
      if (body.length > limitBytes) fail(bodyTooLarge())
      else take(body)
      return
    }
    let chunks: Buffer[] = []
    let bytes = 0
    let partial: Partial | undefined
    let isOver = false
    const giveUp = (failure: Failure): void => {
      isOver = true
      chunks = []
      fail(failure)
    }
    const holdPiece = (size: number): void => {
      if (partial === undefined) {
        const one = { bytes: 0, giveUp: () => giveUp(tooMany()) }
        partial = one
        request.once('close', () => letGo(one))
      }
      hold(partial, size + PIECE_BYTES)
    }
    request.on('data', (chunk: Buffer) => {
      if (isOver) return
      bytes += chunk.length
      if (bytes > limitBytes) {
        if (partial !== undefined) letGo(partial)
        giveUp(bodyTooLarge())
        return
      }
      chunks.push(chunk)
      // Nearly every body comes in one piece, and is told by its length to be whole.
      if (bytes !== length) holdPiece(chunk.length)
    })
    request.on('end', () => {
      if (isOver) return
      if (partial !== undefined) letGo(partial)
      take(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    })
  }
}

/** What is left of the body stays unread, so the connection cannot carry another request. */
const tooMany = (): Failure =>
  new Failure(
    'OVERLOADED',
    'More bodies are under way than there is room for (MAX_INCOMPLETE_BODIES), and of this one nothing came for longest; send it again in a moment.',
    { headers: { connection: 'close' } },
  )
