/** `/endpoints/draft`: a first document from a sample, the same on both ports. */
import type { FastifyInstance } from 'fastify'
import type { DraftEndpoint } from '../../../suggestions/draft-endpoint.ts'
import { leaveNoEntry, needs } from '../management/auth-hook.ts'
import { readDocument } from '../management/read-document.ts'
import { NO_STORE, refuseOtherMethods, sendJson } from '../replies.ts'

/** For authors: the sample runs through the document. Nothing is stored or sent, so the audit log gets no entry. */
export function serveDraft(scope: FastifyInstance, draft: DraftEndpoint): void {
  scope.post('/endpoints/draft', needs('author'), async (request, reply) => {
    leaveNoEntry(request)
    return sendJson(reply, 200, await draft(readDocument(request)), NO_STORE)
  })
  refuseOtherMethods(scope, '/endpoints/draft', ['POST'])
}
