/** Reads the bodies of messages and bounds the memory of all incomplete bodies together. */
import type { IncomingMessage } from 'node:http'
import { Failure } from '../../core/failure.ts'
import { createBodyPieces } from './body-pieces.ts'
import { chunksRefused } from './chunk-limits.ts'
import { bodyTooLarge } from './framework-failures.ts'
import { hasBody } from './replies.ts'
import { askForBody } from './unread-bodies.ts'

export type BodyLimits = Readonly<{
  /** The largest body. */
  limitBytes: number
  /** The most that all incomplete bodies may take; the reader allows two of the largest at least. */
  roomBytes: number
}>

/**
 * Reads a body to its end; `take` gets undefined if there is none. Fails at most once: BODY_TOO_LARGE, REQUEST_MALFORMED if it
 * arrives in too many tiny chunks, OVERLOADED if other bodies need its memory or very many short chunks arrive at once, or as
 * the socket does.
 */
export type ReadBody = (
  request: IncomingMessage,
  fail: (fault: Error) => void,
  take: (body?: Uint8Array) => void,
) => void

const NO_BYTES = Buffer.alloc(0)

type Partial = { bytes: number; giveUp(): void }

export function createBodyReader({ limitBytes, roomBytes }: BodyLimits): ReadBody {
  const mostBytes = Math.max(roomBytes, 2 * limitBytes)
  /** The first is the one that has received nothing for longest. */
  const partials = new Set<Partial>()
  let held = 0

  const release = (partial: Partial): void => {
    if (partials.delete(partial)) held -= partial.bytes
  }
  const hold = (partial: Partial, bytes: number): void => {
    partials.delete(partial)
    partials.add(partial)
    held += bytes - partial.bytes
    partial.bytes = bytes
    for (const idle of partials) {
      if (held <= mostBytes) return
      release(idle)
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
    let pieces = createBodyPieces()
    let last: Buffer | undefined
    let bytes = 0
    let partial: Partial | undefined
    let isOver = false
    const end = (): void => {
      isOver = true
      if (partial !== undefined) release(partial)
    }
    const giveUp = (fault: Error): void => {
      if (isOver) return
      end()
      pieces = createBodyPieces()
      fail(fault)
    }
    const holdPieces = (): void => {
      if (partial === undefined) {
        const one = { bytes: 0, giveUp: () => giveUp(tooMany()) }
        partial = one
        request.once('close', () => release(one))
      }
      hold(partial, pieces.heldBytes)
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

/** The rest of the body stays unread, so the connection cannot carry another request. */
const tooMany = (): Failure =>
  new Failure(
    'OVERLOADED',
    'More bodies are under way than there is room for (MAX_INCOMPLETE_BODIES), and of this one nothing came for longest; send it again in a moment.',
    { headers: { connection: 'close' } },
  )
