/** `/events` on the admin port: what happens in the service, as it happens. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../../domain/failure.ts'
import type { EventHub } from '../../../events/event-hub.ts'
import { readEventTypes } from '../../../events/service-event.ts'
import { authoriseAgain, callerOf, needs } from '../management/auth-hook.ts'
import { refuseOtherPages } from '../management/forged-calls.ts'
import { queryOf, refuseOtherMethods } from '../replies.ts'
import { openEventStream } from './event-stream.ts'
import { createStreamShares } from './stream-shares.ts'

/** Callers who read events at one time. */
export const MOST_STREAMS = 100

/** Between two heartbeats. The credentials are checked with each, so a revoked key reads events no longer than that. */
export const HEARTBEAT_MS = 15_000

/** `heartbeatMs`: for tests. */
export function serveEvents(server: FastifyInstance, hub: EventHub, heartbeatMs = HEARTBEAT_MS): void {
  const streams = createStreamShares(MOST_STREAMS)
  server.get('/events', needs('viewer'), async (request, reply) => {
    refuseOtherPages(request)
    const types = readEventTypes(queryOf(request).get('types'))
    const caller = streamCallerOf(request)
    if (!streams.hasRoom(caller)) {
      const sentence = `${MOST_STREAMS} callers read events already, and none of them reads more streams than you; close one of yours, or ask for what you need from time to time instead.`
      throw new Failure('EVENT_STREAMS_TOO_MANY', sentence)
    }
    await stream(request, reply, hub, types, heartbeatMs, (end) => streams.add(caller, end))
  })
  refuseOtherMethods(server, '/events', ['GET'])
}

/** Callers without a name are distinguished by their address. */
function streamCallerOf(request: FastifyRequest): string {
  const who = callerOf(request)?.who ?? ''
  return who.includes(':') ? who : (request.socket.remoteAddress ?? '')
}

async function stream(
  request: FastifyRequest,
  reply: FastifyReply,
  hub: EventHub,
  types: ReturnType<typeof readEventTypes>,
  heartbeatMs: number,
  addStream: (end: () => void) => () => void,
): Promise<void> {
  reply.hijack()
  let unsubscribe = () => {}
  const finish = () => {
    clearInterval(timer)
    unsubscribe()
    removeStream()
  }
  const out = openEventStream(reply.raw, finish)
  const removeStream = addStream(() => out.end('share', 'Another caller needed the place of one of your streams.'))
  const timer = setInterval(async () => {
    out.heartbeat()
    try {
      await authoriseAgain(request)
    } catch (thrown) {
      // Nothing shows what the caller may see now, so the stream ends in any case.
      out.end('credentials', thrown instanceof Failure ? thrown.message : 'The credentials could not be checked.')
    }
  }, heartbeatMs)
  timer.unref()
  const subscription = hub.subscribe({
    types,
    receive: out.send,
    end: () => out.end('stopping', 'The service stops.'),
  })
  unsubscribe = subscription.unsubscribe
  // The caller may have left before the stream could notice.
  if (reply.raw.destroyed) finish()
  await subscription.ready
  const isAgain = request.headers['last-event-id'] !== undefined
  out.send({ id: hub.lastId(), type: 'open', data: { types: [...types], heartbeatMs } })
  // Earlier events are not kept.
  if (isAgain) out.send({ type: 'reset', data: { error: 'Events may have been missed; read everything again.' } })
}
