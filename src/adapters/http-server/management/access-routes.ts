/** `/keys` and `/audit` on the admin port: API keys, and who managed what. */
import type { FastifyInstance } from 'fastify'
import type { ApiKeys, KeyRequest } from '../../../access/api-keys.ts'
import type { AuditLog } from '../../../access/audit-log.ts'
import { searchAudit } from '../../../access/audit-search.ts'
import { Failure } from '../../../domain/failure.ts'
import { isObject, type Json, type JsonObject } from '../../../domain/json.ts'
import type { Clock } from '../../../domain/run.ts'
import type { StoredKey } from '../../../store/sql/key-store.ts'
import { type ById, NO_STORE, queryOf, refuseOtherMethods, sendJson } from '../replies.ts'
import { entryOfChange, needs } from './auth-hook.ts'
import { readDocument } from './read-document.ts'

export function serveKeys(scope: FastifyInstance, keys: ApiKeys): void {
  scope.get('/keys', needs('admin'), async (_request, reply) =>
    sendJson(reply, 200, { keys: (await keys.list()).map(shown) }, NO_STORE),
  )
  scope.post('/keys', needs('admin'), async (request, reply) => {
    const { key, stored } = await keys.create(readRequest(readDocument(request)), entryOfChange(request, 201))
    return sendJson(reply, 201, { ...shown(stored), key }, { ...NO_STORE, location: `/keys/${stored.id}` })
  })
  scope.delete<ById>('/keys/:id', needs('admin'), async (request, reply) => {
    await keys.revoke(request.params.id, entryOfChange(request))
    return sendJson(reply, 200, { message: `Key '${request.params.id}' revoked` })
  })
  refuseOtherMethods(scope, '/keys', ['GET', 'POST'])
  refuseOtherMethods(scope, '/keys/:id', ['DELETE'])
}

export function serveAudit(scope: FastifyInstance, log: AuditLog, clock: Clock): void {
  scope.get('/audit', needs('admin'), async (request, reply) =>
    sendJson(reply, 200, await searchAudit(log, queryOf(request), clock), NO_STORE),
  )
  refuseOtherMethods(scope, '/audit', ['GET'])
}

/** A key without its hash. */
const shown = ({ id, name, roles, createdAt, expiresAt, revokedAt }: StoredKey): JsonObject => ({
  id,
  name,
  roles,
  createdAt,
  ...(expiresAt === undefined ? {} : { expiresAt }),
  ...(revokedAt === undefined ? {} : { revokedAt }),
})

/** Fails with KEY_INVALID, BODY_UNREADABLE. */
function readRequest(text: string): KeyRequest {
  const { name, roles, expiresAt, ...others } = parse(text)
  const other = Object.keys(others)[0]
  const isTime = expiresAt === undefined || typeof expiresAt === 'string'
  if (typeof name === 'string' && isTexts(roles) && isTime && other === undefined) return { name, roles, expiresAt }
  throw new Failure(
    'KEY_INVALID',
    'A key is asked for as { "name": "deploy job", "roles": ["author"] }, and "expiresAt" if it expires.',
  )
}

const isTexts = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    throw new Failure('BODY_UNREADABLE', 'The body is not well-formed JSON.')
  }
}
