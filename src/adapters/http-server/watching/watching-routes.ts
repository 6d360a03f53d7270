/** The calls of pages and programs that watch the service: who the caller is, faults and drift of endpoints, vocabulary, suggestions, drafts. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { allows, type Caller, ROLES } from '../../../domain/access.ts'
import { Failure } from '../../../domain/failure.ts'
import type { JsonObject } from '../../../domain/json.ts'
import { readDriftHours } from '../../../drift/drift-report.ts'
import type { FindFaults } from '../../../endpoints/listing/endpoint-faults.ts'
import { etagOf } from '../../../endpoints/precondition.ts'
import type { DraftEndpoint } from '../../../suggestions/draft-endpoint.ts'
import type { Suggest } from '../../../suggestions/suggest.ts'
import { callerOf, leaveNoEntry, needs } from '../management/auth-hook.ts'
import { readDocument } from '../management/read-document.ts'
import { type ById, NO_STORE, refuseOtherMethods, sendAnswer, sendJson } from '../replies.ts'

export type EndpointAids = Readonly<{
  faults: FindFaults
  /** Of the last hours. Fails with ID_MALFORMED, ENDPOINT_UNKNOWN, STORE_UNAVAILABLE. */
  drift: (endpointId: string, hours: number) => Promise<JsonObject>
  /** Resolves to the same value each time. */
  vocabulary: () => Promise<JsonObject>
  suggest: Suggest
}>

/** `/me` on the admin port. `messageOrigin`: of the message port; it gets the header `Host` of the call. */
export function serveMe(server: FastifyInstance, messageOrigin: (calledAs: string | undefined) => string): void {
  server.get('/me', needs('viewer'), async (request, reply) => {
    const caller = describe(callerOf(request))
    return sendJson(reply, 200, { ...caller, messageOrigin: messageOrigin(request.headers.host) }, NO_STORE)
  })
  refuseOtherMethods(server, '/me', ['GET'])
}

/** On both ports, below `/endpoints`. */
export function serveEndpointAids(scope: FastifyInstance, aids: EndpointAids): void {
  const { faults, drift, vocabulary, suggest } = aids
  scope.get<ById>('/endpoints/:id/faults', needs('viewer'), async (request, reply) =>
    sendJson(reply, 200, await faults(request.params.id)),
  )
  scope.get<ById & { Querystring: { hours?: unknown } }>(
    '/endpoints/:id/drift',
    needs('viewer'),
    async (request, reply) =>
      sendJson(reply, 200, await drift(request.params.id, readDriftHours(request.query.hours)), NO_STORE),
  )
  const sendVocabulary = createVocabularyReply(vocabulary)
  scope.get('/endpoints/vocabulary', needs('viewer'), sendVocabulary)
  scope.post('/endpoints/suggest', needs('viewer'), async (request, reply) => {
    const mayReadBodies = () => demandOperator(callerOf(request))
    return sendJson(reply, 200, await suggest(readDocument(request), mayReadBodies), NO_STORE)
  })
  refuseOtherMethods(scope, '/endpoints/:id/faults', ['GET'])
  refuseOtherMethods(scope, '/endpoints/:id/drift', ['GET'])
  refuseOtherMethods(scope, '/endpoints/vocabulary', ['GET'])
  refuseOtherMethods(scope, '/endpoints/suggest', ['POST'])
}

/** `/endpoints/draft`, the same on both ports. For authors: the sample runs through the document. Nothing is stored or sent, so the audit log gets no entry. */
export function serveDraft(scope: FastifyInstance, draft: DraftEndpoint): void {
  scope.post('/endpoints/draft', needs('author'), async (request, reply) => {
    leaveNoEntry(request)
    return sendJson(reply, 200, await draft(readDocument(request)), NO_STORE)
  })
  refuseOtherMethods(scope, '/endpoints/draft', ['POST'])
}

/** `open`: the service asks this caller for no credentials. */
const modeOf = (who: string): 'keys' | 'oidc' | 'open' =>
  who.startsWith('key:') ? 'keys' : who.startsWith('token:') ? 'oidc' : 'open'

function describe({ who, name, roles }: Caller = { who: 'unknown', roles: [] }) {
  const may = ROLES.filter((role) => allows(roles, role))
  return { who, ...(name === undefined ? {} : { name }), roles, may, mode: modeOf(who) }
}

/** Suggestions show names of fields from the bodies of a message. */
function demandOperator(caller: Caller | undefined): void {
  if (caller !== undefined && allows(caller.roles, 'operator')) return
  const has = caller?.roles.join(', ') || 'none'
  throw new Failure('ACCESS_DENIED', `Recorded messages need the role operator; the roles of the caller: ${has}.`)
}

/** Only a new version of the service changes the vocabulary, so its text and ETag are made once. */
function createVocabularyReply(vocabulary: () => Promise<JsonObject>) {
  let text: Promise<Readonly<{ body: string; etag: string }>> | undefined
  const make = async () => {
    const value = await vocabulary()
    return { body: JSON.stringify(value), etag: etagOf(value) }
  }
  return async (request: FastifyRequest, reply: FastifyReply) => {
    text ??= make()
    const { body, etag } = await text
    const headers = { etag, 'cache-control': 'private, no-cache' }
    if (request.headers['if-none-match'] === etag) return sendAnswer(reply, { status: 304, headers, body: '' })
    return sendAnswer(reply, { status: 200, headers: { ...headers, 'content-type': 'application/json' }, body })
  }
}
