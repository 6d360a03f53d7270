/** `/endpoints/dry-run`: what an endpoint would make of a message. */
import type { FastifyInstance } from 'fastify'
import type { DryRun } from '../../../dry-run/dry-run.ts'
import { sendJson } from '../replies.ts'
import { needs } from './auth-hook.ts'
import { readDocument, refuseOtherMethods } from './endpoint-routes.ts'

/** In a scope whose callers may manage endpoints: a live lookup uses the network of the service. */
export function serveDryRun(scope: FastifyInstance, dryRun: DryRun): void {
  scope.post('/endpoints/dry-run', needs('author'), async (request, reply) =>
    sendJson(reply, 200, await dryRun(readDocument(request))),
  )
  refuseOtherMethods(scope, '/endpoints/dry-run', ['POST'])
}
