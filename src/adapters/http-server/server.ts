/** A bare HTTP server with every limit set; what it serves is added by the modules beside this one. */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Needed } from '../../access/management.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import type { Json } from '../../domain/json.ts'
import type { Answer } from '../../domain/message.ts'
import { answerUnparsed, listenBehind, refuseExpectation } from './unparsed.ts'
import { methodOf } from './unrouted-methods.ts'

export type ServerLimits = Readonly<{
  parserLimitBytes: number
  serverHeadersTimeoutMs: number
  serverRequestTimeoutMs: number
  serverKeepAliveTimeoutMs: number
}>

/** Answers a failure that happened outside of any route, or before one was known. */
export type AnswerFailure = (failure: Failure) => Answer

/** Answers a request before any route is looked for; tells whether it did. */
export type Front = (request: IncomingMessage, response: ServerResponse) => boolean

/** What a server of messages does by itself. */
export type MessageSide = Readonly<{
  front: Front
  /** Refuses a request whose URL cannot be read; tells whether it did. */
  refuseUnreadable(failure: Failure, request: IncomingMessage, response: ServerResponse): boolean
  /** Answers what was no request yet, and leaves a record of it. */
  refuseUnparsed: AnswerFailure
}>

/**
 * Bodies are handed on as bytes, at most parserLimitBytes of them.
 *
 * Node's own defaults leave a slow sender 300 s; Fastify's, for ever.
 */
export function createServer(
  limits: ServerLimits,
  answerFailure: AnswerFailure,
  messages?: MessageSide,
): FastifyInstance {
  const answerUnread = messages?.refuseUnparsed ?? answerFailure
  const server = Fastify({
    bodyLimit: limits.parserLimitBytes,
    serverFactory: (route) => {
      const listener = listenBehind(route as RequestListener, answerUnread, messages?.front)
      const options = {
        requestTimeout: limits.serverRequestTimeoutMs,
        keepAliveTimeout: limits.serverKeepAliveTimeoutMs,
        headersTimeout: limits.serverHeadersTimeoutMs,
        connectionsCheckingInterval: 1_000,
        // Node would refuse it with nothing but a status; `listenBehind` does.
        requireHostHeader: false,
      }
      return createHttpServer(options, listener).on('checkExpectation', refuseExpectation(answerUnread))
    },
    exposeHeadRoutes: false,
    // Fastify would load its compilers of schemas at every start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // While stopping, messages are still answered: with a 503 of our own.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 65_536 },
    clientErrorHandler: (error, socket) => answerUnparsed(error, socket, answerUnread),
    frameworkErrors: (error, request, reply) => {
      const failure = fromFastify(error)
      if (messages?.refuseUnreadable(failure, request.raw, reply.raw)) reply.hijack()
      else sendAnswer(reply, answerFailure(failure))
    },
  })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  server.decorateRequest(FAILURE, undefined)
  server.setErrorHandler((error: FastifyError, request: Failed, reply) => {
    const failure = fromFastify(error)
    request[FAILURE] = failure
    return sendAnswer(reply, answerFailure(failure))
  })
  server.setNotFoundHandler((request, reply) =>
    sendAnswer(
      reply,
      answerFailure(
        new Failure('ROUTE_UNKNOWN', `There is nothing at ${methodOf(request.raw)} ${pathOf(request.url)}.`),
      ),
    ),
  )
  return server
}

const noSchemas = (): never => {
  throw new TypeError('No route has a schema of Fastify: what is checked is checked by the service.')
}

const FAILURE = Symbol('failure')
type Failed = FastifyRequest & { [FAILURE]?: Failure }

/** What a call was answered with, where it failed. */
export const failureOf = (request: FastifyRequest): Failure | undefined => (request as Failed)[FAILURE]

/** From now on each answer ends its connection: one closed between two requests would cut off the second. */
export function endConnections({ server }: FastifyInstance): void {
  server.prependListener('request', (_request, response) => void response.setHeader('connection', 'close'))
}

/** How long nothing must have come, and how long callers who never pause are waited for. */
const QUIET_MS = 100
const QUIET_WITHIN_MS = 1_000

/** Resolves when nobody has called or connected for a moment: closing the server then cuts off nobody. */
export function quiet({ server }: FastifyInstance): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(silence)
      clearTimeout(limit)
      clearImmediate(looked)
      for (const event of ['connection', 'request']) server.off(event, start)
      resolve()
    }
    let looked: NodeJS.Immediate | undefined
    // Where this process had no time to run, the time is up before it has looked who came meanwhile: that comes first.
    const look = () => {
      looked = setImmediate(end)
    }
    const silence = setTimeout(look, QUIET_MS)
    const limit = setTimeout(end, QUIET_WITHIN_MS)
    const start = () => {
      clearImmediate(looked)
      silence.refresh()
    }
    for (const event of ['connection', 'request']) server.on(event, start)
  })
}

export const pathOf = (url: string): string => url.split('?', 1)[0] as string

/** Answers calls with a failure before their body is read: nothing in it could change the answer. */
export function refuse(
  scope: FastifyInstance,
  url: string,
  methods: readonly string[],
  failureOf: (request: FastifyRequest) => Failure,
  needed: Needed = 'viewer',
): void {
  scope.route({
    method: [...methods],
    url,
    config: { needed },
    onRequest: async (request, reply) => {
      closeIfUnread(request, reply)
      throw failureOf(request)
    },
    handler: async () => undefined,
  })
}

export const hasBody = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** A body that stays unread: the connection cannot carry another request. */
export function closeIfUnread(request: FastifyRequest, reply: FastifyReply): void {
  if (hasBody(request)) reply.header('connection', 'close')
}

/**
 * Sends an answer as it is. Fastify would add a charset to every JSON type without a serialiser of our own, and a type
 * to an empty text.
 */
export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  reply.code(status).headers(headers as Record<string, string>)
  return reply.serializer(asItIs).send(body.length === 0 ? undefined : body)
}

/** Sends a value as JSON. `headers` has lower-case names. */
export function sendJson(
  reply: FastifyReply,
  status: number,
  value: Json | object,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply {
  return sendAnswer(reply, {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(value),
  })
}

const asItIs = (body: string): string => body

/** What is left of the body stays unread, so the connection cannot carry another request. */
export const bodyTooLarge = (): Failure =>
  new Failure('BODY_TOO_LARGE', 'The body is larger than this service takes (PARSER_LIMIT).', {
    headers: { connection: 'close' },
  })

/** Fastify's own errors by their codes (https://fastify.dev/docs/latest/Reference/Errors/); any other is a bug. */
export function fromFastify(error: unknown): Failure {
  const { code, statusCode } = error as Partial<FastifyError>
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge()
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Failure('MEDIA_TYPE_WRONG', 'The Content-Type of the request is not a media type.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'ECONNRESET':
      return new Failure('BODY_CUT_SHORT', 'The body is not as long as its Content-Length says.')
    case 'FST_ERR_BAD_URL':
      return new Failure('URL_MALFORMED', 'The URL of the request holds a broken percent-encoding.')
    default:
      return statusCode === 400
        ? new Failure('BODY_CUT_SHORT', 'The request could not be read to its end.')
        : asFailure(error)
  }
}
