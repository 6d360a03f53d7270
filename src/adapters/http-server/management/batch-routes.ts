/** `/endpoints/batch`: many changes of endpoints as one. */
import type { FastifyInstance } from 'fastify'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import { refuseOtherMethods, sendJson } from '../replies.ts'
import { entryOfChange, needs } from './auth-hook.ts'
import { originOf } from './endpoint-routes.ts'
import { readDocument } from './read-document.ts'

/**
 * In a scope with the auth hook. The entries of a batch are in its transaction; a dry run stores nothing, and its entry is
 * that of the call. `batchLimitBytes`: of the body.
 */
export function serveBatch(scope: FastifyInstance, endpoints: EndpointService, batchLimitBytes: number): void {
  const { config } = needs('author')
  const options = { config: { ...config, limitSetting: 'BATCH_LIMIT' }, bodyLimit: batchLimitBytes }
  scope.post('/endpoints/batch', options, async (request, reply) => {
    const text = readDocument(request)
    const { results, dryRun } = await endpoints.batch(text, originOf(request), entryOfChange(request))
    return sendJson(reply, 200, { results, dryRun })
  })
  refuseOtherMethods(scope, '/endpoints/batch', ['POST'])
}
