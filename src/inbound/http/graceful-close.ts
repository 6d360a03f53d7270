/** Closes a server without cutting off a caller. */
import type { FastifyInstance } from 'fastify'

/** From now on each answer ends its connection: a close between two requests would cut off the second. */
export function endConnections({ server }: FastifyInstance): void {
  server.prependListener('request', (_request, response) => void response.setHeader('connection', 'close'))
}

/** How long no caller must have come, and how long to wait for callers who never pause. */
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
    // A busy process sees the end of the time before the callers who came meanwhile; the next round sees these first.
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
