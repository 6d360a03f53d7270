/** `/keys` on the admin port: API keys, made, listed and revoked. */
import type { FastifyInstance } from 'fastify'
import type { ApiKeys, KeyRequest } from '../../../access/api-keys.ts'
import { Failure } from '../../../domain/failure.ts'
import { isObject, type Json, type JsonObject } from '../../../domain/json.ts'
import type { StoredKey } from '../../../domain/ports/key-store-port.ts'
import { sendJson } from '../replies.ts'
import { needs, noteEffect } from './auth-hook.ts'
import { readDocument, refuseOtherMethods } from './endpoint-routes.ts'

type ById = { Params: { id: string } }

/** The answer to a new key is the one place where it is ever told. */
const NO_STORE = { 'cache-control': 'no-store' }

export function serveKeys(scope: FastifyInstance, keys: ApiKeys): void {
  scope.get('/keys', needs('admin'), async (_request, reply) =>
    sendJson(reply, 200, { keys: (await keys.list()).map(shown) }, NO_STORE),
  )
  scope.post('/keys', needs('admin'), async (request, reply) => {
    const { key, stored } = await keys.create(readRequest(readDocument(request)))
    noteEffect(request, { target: stored.id })
    return sendJson(reply, 201, { ...shown(stored), key }, { ...NO_STORE, location: `/keys/${stored.id}` })
  })
  scope.delete<ById>('/keys/:id', needs('admin'), async (request, reply) => {
    await keys.revoke(request.params.id)
    return sendJson(reply, 200, { message: `Key '${request.params.id}' revoked` })
  })
  refuseOtherMethods(scope, '/keys', ['GET', 'POST'])
  refuseOtherMethods(scope, '/keys/:id', ['DELETE'])
}

/** Without its hash. */
const shown = ({ id, name, roles, createdAt, revokedAt }: StoredKey): JsonObject => ({
  id,
  name,
  roles,
  createdAt,
  ...(revokedAt === undefined ? {} : { revokedAt }),
})

/** Fails with KEY_INVALID. */
function readRequest(text: string): KeyRequest {
  const { name, roles, ...others } = parse(text)
  const other = Object.keys(others)[0]
  if (typeof name === 'string' && isTexts(roles) && other === undefined) return { name, roles }
  throw new Failure('KEY_INVALID', 'A key is asked for as { "name": "deploy job", "roles": ["author"] }.')
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
