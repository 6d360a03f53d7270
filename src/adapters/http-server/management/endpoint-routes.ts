/** `/endpoints`: endpoint documents and their statistics, the same on both ports. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { allows, type Caller } from '../../../domain/access.ts'
import { Failure } from '../../../domain/failure.ts'
import type { Json, JsonObject } from '../../../domain/json.ts'
import type { Logger } from '../../../domain/ports/logger-port.ts'
import { NOTE_CHARACTERS, type Origin } from '../../../domain/stored-document.ts'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import type { Accepted } from '../../../endpoints/endpoint-writer.ts'
import type { ListSummaries } from '../../../endpoints/listing/endpoint-summaries.ts'
import { etagOf, isKnownEtag } from '../../../endpoints/precondition.ts'
import { type ById, NO_STORE, queryOf, refuseBelow, refuseOtherMethods, sendAnswer, sendJson } from '../replies.ts'
import { callerOf, entryOfChange, needs } from './auth-hook.ts'
import { readDocument } from './read-document.ts'
import { sendList } from './send-list.ts'

/** In a scope with the auth hook. */
export function serveManagement(
  scope: FastifyInstance,
  endpoints: EndpointService,
  listSummaries: ListSummaries,
  logger: Logger,
): void {
  scope.get('/endpoints', needs('viewer'), async (request, reply) => {
    const query = queryOf(request)
    const view = query.get('view')?.join()
    if (view === 'summary') return sendJson(reply, 200, await listSummaries(query), NO_STORE)
    // No document has a field of this name, so as a filter it would find nothing.
    if (view !== undefined) throw new Failure('FILTER_INVALID', `view cannot be "${view}"; it is "summary".`)
    return sendList(request, reply, endpoints, [...query], logger)
  })
  scope.post('/endpoints', needs('author'), async (request, reply) => {
    const accepted = await endpoints.create(readDocument(request), originOf(request), entryOfChange(request, 201))
    reply.header('location', `/endpoints/${accepted.document._id}`)
    return sendAccepted(request, reply, 201, accepted)
  })
  scope.get<ById>('/endpoints/:id', needs('viewer'), async (request, reply) =>
    send(request, reply, 200, await endpoints.get(request.params.id)),
  )
  for (const method of ['put', 'patch'] as const) {
    const change = method === 'put' ? endpoints.replace : endpoints.patch
    scope[method]<ById>('/endpoints/:id', needs('author'), async (request, reply) => {
      const ifMatch = request.headers['if-match']
      const [text, origin] = [readDocument(request), originOf(request)]
      const accepted = await change(request.params.id, text, ifMatch, origin, entryOfChange(request))
      return sendAccepted(request, reply, 200, accepted)
    })
  }
  scope.delete<ById>('/endpoints/:id', needs('author'), async (request, reply) => {
    const ifMatch = request.headers['if-match']
    const origin = originOf(request)
    const { document } = await endpoints.remove(request.params.id, ifMatch, origin, entryOfChange(request))
    return send(request, reply, 200, { message: `Endpoint with ID '${document._id}' deleted` })
  })
  refuseOtherMethods(scope, '/endpoints', ['GET', 'POST'])
  refuseOtherMethods(scope, '/endpoints/:id', ['GET', 'PUT', 'PATCH', 'DELETE'])
  refuseBelow(scope, '/endpoints')
}

export function serveStats(
  scope: FastifyInstance,
  endpoints: EndpointService,
  report: (endpointId: string) => Promise<JsonObject>,
): void {
  scope.get<ById>('/endpoints/:id/stats', needs('viewer'), async (request, reply) => {
    const { _id } = await endpoints.get(request.params.id)
    return sendJson(reply, 200, await report(_id))
  })
  refuseOtherMethods(scope, '/endpoints/:id/stats', ['GET'])
}

/** Sends a representation with its ETag. */
export function send(request: FastifyRequest, reply: FastifyReply, status: number, representation: Json): FastifyReply {
  const etag = etagOf(representation)
  if (request.method === 'GET' && isKnownEtag(request.headers['if-none-match'], etag)) {
    return sendAnswer(reply, { status: 304, headers: { etag }, body: '' })
  }
  return sendJson(reply, status, representation, { etag })
}

/** Clients commonly accept 16 KiB of all headers together. */
const WARNINGS_CHARACTERS = 4_000

/** The warnings that fit, as JSON in ASCII; a last one counts the others. */
function warningsHeader(warnings: Accepted['warnings']): string {
  const texts = warnings.map(({ path, message }) => asciiJson({ path, message }))
  let length = 0
  const fits = texts.findIndex((text) => {
    length += text.length + 1
    return length > WARNINGS_CHARACTERS
  })
  if (fits === -1) return `[${texts}]`
  const rest = asciiJson({ path: '', message: `and ${texts.length - fits} more` })
  return `[${[...texts.slice(0, fits), rest]}]`
}

const asciiJson = (value: Json): string =>
  JSON.stringify(value).replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Sends a stored document. Warnings go into a header, so that the body stays the document. */
export function sendAccepted(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  { document, warnings }: Accepted,
): FastifyReply {
  setWarnings(reply, warnings)
  return send(request, reply, status, document)
}

export function setWarnings(reply: FastifyReply, warnings: Accepted['warnings']): void {
  if (warnings.length > 0) reply.header('x-crosswalk-warnings', warningsHeader(warnings))
}

/** The note is for people, so nothing checks it. */
function noteOf({ headers }: FastifyRequest): Pick<Origin, 'note'> {
  const note = headers['x-crosswalk-change-note']
  return typeof note !== 'string' || note === '' ? {} : { note: headerText(note).slice(0, NOTE_CHARACTERS) }
}

/** Node reads headers as Latin-1; terminals and the console send UTF-8. */
function headerText(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

/** Fails with ACCESS_DENIED for callers who may not override the tests of an endpoint. */
function overrideOf(request: FastifyRequest): Pick<Origin, 'testsOverride'> {
  const reason = request.headers['x-crosswalk-override']
  if (typeof reason !== 'string' || reason.trim() === '') return {}
  if (!allows(callerOf(request)?.roles ?? [], 'admin')) {
    throw new Failure(
      'ACCESS_DENIED',
      'To override the tests of an endpoint (X-Crosswalk-Override), the role admin is needed.',
    )
  }
  return { testsOverride: headerText(reason).trim().slice(0, NOTE_CHARACTERS) }
}

/** Who asks for a change. */
export function originOf(request: FastifyRequest): Origin {
  const { remoteAddress } = request.socket
  const caller = callerOf(request)
  return {
    ...(remoteAddress === undefined ? {} : { address: remoteAddress }),
    ...(caller === undefined ? {} : identified(caller)),
    ...noteOf(request),
    ...overrideOf(request),
  }
}

/** Callers without credentials have no name: the address is all that is known of them. */
const identified = ({ who, name }: Caller): Origin =>
  who.includes(':') ? { who, ...(name === undefined ? {} : { name }) } : {}
