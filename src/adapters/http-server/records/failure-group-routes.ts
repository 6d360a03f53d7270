/** `/messages/groups`: failures that are alike, and what people say of them. */
import type { FastifyInstance } from 'fastify'
import type { FailureGroups } from '../../../message-log/groups/failure-groups.ts'
import { callerOf, entryOfChange, needs } from '../management/auth-hook.ts'
import { readJson } from '../management/read-document.ts'
import { NO_STORE, queryOf, refuseOtherMethods, sendJson } from '../replies.ts'

type ByKey = { Params: { key: string } }

export function serveFailureGroups(scope: FastifyInstance, groups: FailureGroups): void {
  scope.get('/messages/groups', needs('viewer'), async (request, reply) =>
    sendJson(reply, 200, await groups.list(queryOf(request)), NO_STORE),
  )
  scope.get<ByKey>('/messages/groups/:key', needs('viewer'), async (request, reply) =>
    sendJson(reply, 200, await groups.get(request.params.key), NO_STORE),
  )
  scope.put<ByKey>('/messages/groups/:key', needs('operator'), async (request, reply) => {
    const caller = callerOf(request)
    const by = caller?.name ?? caller?.who ?? 'unknown'
    const group = await groups.mark(request.params.key, readJson(request), by, entryOfChange(request))
    return sendJson(reply, 200, group, NO_STORE)
  })
  refuseOtherMethods(scope, '/messages/groups', ['GET'])
  refuseOtherMethods(scope, '/messages/groups/:key', ['GET', 'PUT'])
}
