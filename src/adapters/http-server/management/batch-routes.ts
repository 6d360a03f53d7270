/** `/endpoints/batch`: many changes of endpoints as one. */
import type { FastifyInstance } from 'fastify'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import { refuseOtherMethods, sendJson } from '../replies.ts'
import { needs, noteEffect } from './auth-hook.ts'
import { auditNote, originOf } from './endpoint-routes.ts'
import { readDocument } from './read-document.ts'

/** In a scope with the auth hook. */
export function serveBatch(scope: FastifyInstance, endpoints: EndpointService, batchLimitBytes: number): void {
  const { config } = needs('author')
  const options = { config: { ...config, limitSetting: 'BATCH_LIMIT' }, bodyLimit: batchLimitBytes }
  scope.post('/endpoints/batch', options, async (request, reply) => {
    const origin = originOf(request)
    const { results, dryRun, note } = await endpoints.batch(readDocument(request), origin)
    if (!dryRun) {
      const effects = results.map(({ id = '', version }) => ({ target: id, before: version - 1, after: version }))
      const notes = auditNote(note === undefined ? origin : { ...origin, note })
      noteEffect(request, ...effects.map((effect) => ({ ...effect, ...notes })))
    }
    return sendJson(reply, 200, { results, dryRun })
  })
  refuseOtherMethods(scope, '/endpoints/batch', ['POST'])
}
