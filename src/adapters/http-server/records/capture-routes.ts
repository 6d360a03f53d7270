/** `/endpoints/{id}/capture` on the admin port, as the records of messages are. */
import type { FastifyInstance } from 'fastify'
import type { MessageCaptures } from '../../../message-log/captures/message-captures.ts'
import { callerOf, needs, noteEffect } from '../management/auth-hook.ts'
import { readJson } from '../management/read-document.ts'
import { type ById, NO_STORE, refuseOtherMethods, sendJson } from '../replies.ts'

/** A caller who may read bodies may also ask for them: the documents of endpoints, which authors change, stay as they are. */
export function serveCaptures(server: FastifyInstance, captures: MessageCaptures): void {
  const path = '/endpoints/:id/capture'
  server.get<ById>(path, needs('viewer'), async (request, reply) =>
    sendJson(reply, 200, await captures.get(request.params.id), NO_STORE),
  )
  server.post<ById>(path, needs('operator'), async (request, reply) => {
    const caller = callerOf(request)
    const by = caller?.name ?? caller?.who ?? 'unknown'
    const capture = await captures.start(request.params.id, readJson(request), by)
    noteEffect(request, { note: `${capture.messages} messages until ${capture.until}` })
    return sendJson(reply, 201, capture, { ...NO_STORE, location: `/endpoints/${capture.endpointId}/capture` })
  })
  server.delete<ById>(path, needs('operator'), async (request, reply) => {
    await captures.end(request.params.id)
    return sendJson(reply, 200, { message: `Capture of the endpoint with ID '${request.params.id}' ended` })
  })
  refuseOtherMethods(server, path, ['GET', 'POST', 'DELETE'])
}
