/**
 * Bounds the connections of a server: each takes memory before anything of a request is known. One beyond the bound is closed,
 * and idle ones with it, so that callers who only hold connections keep no others out.
 */
import type { Server } from 'node:http'
import type { Logger } from '../../core/ports/logger-port.ts'

export type ConnectionCap = Readonly<{
  /** For the log. */
  port: 'message' | 'admin'
  setting: string
  max: number
}>

export type ConnectionCounts = Readonly<{ open: number; refused: number }>

/** A port with more callers than connections must not close idle ones faster than they can be used. */
const RECLAIM_EVERY_MS = 1_000
const WARN_EVERY_MS = 60_000

/** Out: the counts of this process, which change. */
export function capConnections(
  server: Server,
  { port, setting, max }: ConnectionCap,
  logger: Logger,
): ConnectionCounts {
  const counts = { open: 0, refused: 0 }
  let reclaimedAt = Number.NEGATIVE_INFINITY
  let warnedAt = Number.NEGATIVE_INFINITY
  server.maxConnections = max
  server.on('connection', (socket) => {
    counts.open += 1
    socket.once('close', () => {
      counts.open -= 1
    })
  })
  server.on('drop', () => {
    counts.refused += 1
    const now = performance.now()
    if (now - reclaimedAt >= RECLAIM_EVERY_MS) {
      reclaimedAt = now
      server.closeIdleConnections()
    }
    if (now - warnedAt < WARN_EVERY_MS) return
    warnedAt = now
    const { refused } = counts
    logger.warn({ port, max, refused }, `A connection was closed: the port has as many as ${setting} allows`)
  })
  return counts
}
