/**
 * Collects the pieces in which a body arrives. A caller may send it byte by byte, and each piece is a view of what its socket
 * read at once: small pieces are copied together, so that a body takes at most about twice its bytes.
 */
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { chunksRefused } from './chunk-limits.ts'
import { bodyTooLarge } from './framework-failures.ts'
import { isTooLong } from './unread-bodies.ts'

export interface BodyPieces {
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

export function createBodyPieces(): BodyPieces {
  const full: Buffer[] = []
  let filling: Buffer | undefined
  let filled = 0
  let heldBytes = 0

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

/** Reads the body of a call to the management API. Fastify would keep every piece, of which a body may have a million. */
export function readWhole(
  { raw, routeOptions: { bodyLimit, config } }: FastifyRequest,
  payload: Readable,
  done: (fault: Error | null, body?: Buffer) => void,
): void {
  const pieces = createBodyPieces()
  let left = bodyLimit
  const end = (fault: Error | null): void => {
    payload.off('data', take).off('end', finish).off('error', end)
    done(fault, fault === null ? pieces.whole() : undefined)
  }
  const finish = (): void => end(null)
  const take = (piece: Buffer): void => {
    left -= piece.length
    if (left < 0) end(bodyTooLarge(config.limitSetting))
    else pieces.add(piece)
  }
  const refused = isTooLong(raw, bodyLimit) ? bodyTooLarge(config.limitSetting) : chunksRefused(raw)
  if (refused !== undefined) done(refused)
  else payload.on('data', take).on('end', finish).on('error', end)
}
