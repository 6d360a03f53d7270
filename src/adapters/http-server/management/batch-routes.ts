/** `/endpoints/batch`: many changes of endpoints as one. */
import type { FastifyInstance } from 'fastify'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import { refuseOtherMethods, sendJson } from '../replies.ts'
import { needs, noteEffect } from './auth-hook.ts'
import { originOf } from './endpoint-routes.ts'
import { readDocument } from './read-document.ts'

/** In a scope with the auth hook. */
export function serveBatch(scope: FastifyInstance, endpoints: EndpointService, batchLimitBytes: number): void {
  const { config } = needs('author')
  const options = { config: { ...config, limitSetting: 'BATCH_LIMIT' }, bodyLimit: batchLimitBytes }
  scope.post('/endpoints/batch', options, async (request, reply) => {
    const { results, dryRun, note } = await endpoints.batch(readDocument(request), originOf(request))
    if (!dryRun) {
      const effects = results.map(({ id = '', version }) => ({ target: id, before: version - 1, after: version }))
      noteEffect(request, ...effects.map((effect) => ({ ...effect, ...(note === undefined ? {} : { note }) })))
    }
    return sendJson(reply, 200, { results, dryRun })
  })
  refuseOtherMethods(scope, '/endpoints/batch', ['POST'])
}
