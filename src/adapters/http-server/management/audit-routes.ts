/** `/audit` on the admin port: who managed what. */
import type { FastifyInstance } from 'fastify'
import type { AuditLog } from '../../../access/audit-log.ts'
import { searchAudit } from '../../../access/audit-search.ts'
import type { Clock } from '../../../domain/run.ts'
import { sendJson } from '../replies.ts'
import { needs } from './auth-hook.ts'
import { refuseOtherMethods } from './endpoint-routes.ts'

export function serveAudit(scope: FastifyInstance, log: AuditLog, clock: Clock): void {
  scope.get('/audit', needs('admin'), async (request, reply) => {
    const query = Object.entries(request.query as Record<string, string | string[]>)
    const page = await searchAudit(log, new Map(query.map(([name, value]) => [name, [value].flat()])), clock)
    return sendJson(reply, 200, page, { 'cache-control': 'no-store' })
  })
  refuseOtherMethods(scope, '/audit', ['GET'])
}
