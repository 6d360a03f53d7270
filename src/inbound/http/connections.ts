/** The connections of a server: bounds their number, and closes them without cutting off a caller. */
import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Logger } from '../../core/ports/logger-port.ts'

type ConnectionCap = Readonly<{
  /** For the log. */
  port: 'message' | 'admin'
  setting: string
  max: number
}>

export type ConnectionCounts = Readonly<{ open: number; refused: number }>

/** A port with more callers than connections must not close idle ones faster than they can be used. */
const RECLAIM_EVERY_MS = 1_000
const WARN_EVERY_MS = 60_000

/**
 * Bounds the connections of a server: each takes memory before anything of a request is known. One beyond the bound is
 * closed, and idle ones with it, so that callers who only hold connections keep no others out. Out: the counts of this
 * process, which change.
 */
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

/** From now on each answer ends its connection: a close between two requests would cut off the second. */
export function endConnections({ server }: FastifyInstance): void {
  server.prependListener('request', (_request, response) => void response.setHeader('connection', 'close'))
}

/** How long no caller must have arrived, and how long to wait for callers who never pause. */
const QUIET_MS = 100
const QUIET_WITHIN_MS = 1_000

/** Resolves when no caller has called or connected for a moment: closing the server then cuts off none. */
export function quiet({ server }: FastifyInstance): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(silence)
      clearTimeout(limit)
      clearImmediate(checked)
      for (const event of ['connection', 'request']) server.off(event, restart)
      resolve()
    }
    let checked: NodeJS.Immediate | undefined
    // A busy process sees the end of the time before the callers who arrived meanwhile; the next round sees these first.
    const check = () => {
      checked = setImmediate(finish)
    }
    const silence = setTimeout(check, QUIET_MS)
    const limit = setTimeout(finish, QUIET_WITHIN_MS)
    const restart = () => {
      clearImmediate(checked)
      silence.refresh()
    }
    for (const event of ['connection', 'request']) server.on(event, restart)
  })
}
