/** `/endpoints`: the management of configurations, the same on both ports. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Needed } from '../../../access/authorise.ts'
import type { Caller } from '../../../domain/access.ts'
import { Failure } from '../../../domain/failure.ts'
import type { Json } from '../../../domain/json.ts'
import type { Origin } from '../../../domain/stored-document.ts'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import type { Accepted } from '../../../endpoints/endpoint-writer.ts'
import { etagOf } from '../../../endpoints/precondition.ts'
import { Unreadable } from '../../../formats/body-faults.ts'
import { CODECS, codecOf } from '../../../formats/codecs.ts'
import { type MediaType, parseMediaType } from '../../../formats/media-type.ts'
import { decodeText, isKnownCharset } from '../../../formats/text.ts'
import { pathOf, refuse, sendAnswer, sendJson } from '../replies.ts'
import { methodOf } from '../unrouted-methods.ts'
import { callerOf, needs, noteEffect } from './auth-hook.ts'

type ById = { Params: { id: string } }

/** In a guarded scope, as all that is below /endpoints. */
export function serveManagement(scope: FastifyInstance, catalogue: EndpointService): void {
  scope.get('/endpoints', needs('viewer'), async (request, reply) => {
    const filters = Object.entries(request.query as Record<string, string | string[]>)
    const documents = await catalogue.list(filters.map(([path, value]) => [path, [value].flat()] as const))
    return send(request, reply, 200, documents as Json)
  })
  scope.post('/endpoints', needs('author'), async (request, reply) => {
    const accepted = await catalogue.create(readDocument(request), originOf(request))
    reply.header('location', `/endpoints/${accepted.document._id}`)
    return sendAccepted(request, reply, 201, accepted)
  })
  scope.get<ById>('/endpoints/:id', needs('viewer'), async (request, reply) =>
    send(request, reply, 200, await catalogue.get(request.params.id)),
  )
  scope.put<ById>('/endpoints/:id', needs('author'), async (request, reply) =>
    sendAccepted(
      request,
      reply,
      200,
      await catalogue.replace(request.params.id, readDocument(request), request.headers['if-match'], originOf(request)),
    ),
  )
  scope.patch<ById>('/endpoints/:id', needs('author'), async (request, reply) =>
    sendAccepted(
      request,
      reply,
      200,
      await catalogue.patch(request.params.id, readDocument(request), request.headers['if-match'], originOf(request)),
    ),
  )
  scope.delete<ById>('/endpoints/:id', needs('author'), async (request, reply) => {
    const condition = request.headers['if-match']
    const { document, version } = await catalogue.remove(request.params.id, condition, originOf(request))
    noteEffect(request, { before: version - 1, after: version })
    return send(request, reply, 200, { message: `Endpoint with ID '${document._id}' deleted` })
  })
  refuseOtherMethods(scope, '/endpoints', ['GET', 'POST'])
  refuseOtherMethods(scope, '/endpoints/:id', ['GET', 'PUT', 'PATCH', 'DELETE'])
  refuseBelow(scope, '/endpoints')
}

/** Answers the methods that a path does not take with 405 and `Allow`. */
export function refuseOtherMethods(
  scope: FastifyInstance,
  url: string,
  allowed: readonly string[],
  needed: Needed = 'viewer',
): void {
  const allow = allowed.join(', ')
  const others = scope.supportedMethods.filter((method) => !allowed.includes(method))
  refuse(
    scope,
    url,
    others,
    (request) => {
      const sentence = `${pathOf(request.url)} does not take ${methodOf(request.raw)}, but ${allow}.`
      return new Failure('METHOD_NOT_ALLOWED', sentence, { headers: { allow } })
    },
    needed,
  )
}

/** Keeps what is below a path of the service from the routes of users. */
export function refuseBelow(scope: FastifyInstance, url: string, needed: Needed = 'viewer'): void {
  refuse(
    scope,
    `${url}/*`,
    scope.supportedMethods,
    (request) => {
      const sentence = `There is nothing at ${pathOf(request.url)}; paths below ${url} are reserved.`
      return new Failure('ROUTE_UNKNOWN', sentence)
    },
    needed,
  )
}

/** Sends a representation with its ETag. */
export function send(request: FastifyRequest, reply: FastifyReply, status: number, representation: Json): FastifyReply {
  const etag = etagOf(representation)
  if (request.method === 'GET' && request.headers['if-none-match'] === etag) {
    return sendAnswer(reply, { status: 304, headers: { etag }, body: '' })
  }
  return sendJson(reply, status, representation, { etag })
}

/** Well within the 16 KiB that clients commonly take of all headers together. */
const WARNINGS_CHARACTERS = 4_000

/** As many warnings as fit, as JSON of ASCII characters; a last one says how many more there are. */
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

/** Warnings go into a header, so that the body stays the stored document. */
export function sendAccepted(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  { document, version, warnings }: Accepted,
): FastifyReply {
  noteEffect(request, { target: document._id, before: version - 1, after: version })
  if (warnings.length > 0) reply.header('x-crosswalk-warnings', warningsHeader(warnings))
  return send(request, reply, status, document)
}

const NOTE_CHARACTERS = 200

/** Who asks for a change. The note is not checked: it is for people to recognise a change by. */
export function originOf(request: FastifyRequest): Origin {
  const { remoteAddress } = request.socket
  const note = request.headers['x-crosswalk-change-note']
  const caller = callerOf(request)
  return {
    ...(remoteAddress === undefined ? {} : { address: remoteAddress }),
    ...(caller === undefined ? {} : proved(caller)),
    ...(typeof note !== 'string' || note === '' ? {} : { note: note.slice(0, NOTE_CHARACTERS) }),
  }
}

/** Where nobody is asked who they are, the address says all that is known. */
const proved = ({ who, name }: Caller): Origin =>
  who.includes(':') ? { who, ...(name === undefined ? {} : { name }) } : {}

/** A change must say that it is JSON: what a web page can send to this machine unasked never does. */
export function demandJson(request: FastifyRequest): MediaType {
  const declared = parseMediaType(request.headers['content-type'] ?? '')
  if (declared !== undefined && codecOf(declared) === CODECS.json) return declared
  throw new Failure('MEDIA_TYPE_WRONG', 'Send the document as JSON, with the header Content-Type: application/json.')
}

/** The text of a JSON body. */
export function readDocument(request: FastifyRequest): string {
  const { charset } = demandJson(request)
  if (charset !== undefined && !isKnownCharset(charset)) {
    throw new Failure('MEDIA_TYPE_WRONG', 'The charset of the document is not known; send it as UTF-8.')
  }
  if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new Failure('MEDIA_TYPE_WRONG', 'The document has a content coding; send it without one.', {
      headers: { 'accept-encoding': 'identity' },
    })
  }
  const bytes = request.body as Uint8Array | undefined
  if (bytes === undefined || bytes.byteLength === 0) {
    throw new Failure('BODY_UNREADABLE', 'The request has no body; send the endpoint document as JSON.')
  }
  try {
    return decodeText(bytes, charset)
  } catch (thrown) {
    if (thrown instanceof Unreadable) throw new Failure('BODY_UNREADABLE', thrown.message)
    throw thrown
  }
}
