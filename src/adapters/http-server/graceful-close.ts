/** Closing a server without cutting off a caller. */
import type { FastifyInstance } from 'fastify'

/** From now on each answer ends its connection: one closed between two requests would cut off the second. */
export function endConnections({ server }: FastifyInstance): void {
  server.prependListener('request', (_request, response) => void response.setHeader('connection', 'close'))
}

/** How long nothing must have come, and how long callers who never pause are waited for. */
const QUIET_MS = 100
const QUIET_WITHIN_MS = 1_000

/** Resolves when nobody has called or connected for a moment: closing the server then cuts off nobody. */
export function quiet({ server }: FastifyInstance): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(silence)
      clearTimeout(limit)
      clearImmediate(looked)
      for (const event of ['connection', 'request']) server.off(event, start)
      resolve()
    }
    let looked: NodeJS.Immediate | undefined
    // Where this process had no time to run, the time is up before it has looked who came meanwhile: that comes first.
    const look = () => {
      looked = setImmediate(end)
    }
    const silence = setTimeout(look, QUIET_MS)
    const limit = setTimeout(end, QUIET_WITHIN_MS)
    const start = () => {
      clearImmediate(looked)
      silence.refresh()
    }
    for (const event of ['connection', 'request']) server.on(event, start)
  })
}
