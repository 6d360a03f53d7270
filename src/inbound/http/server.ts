/** An HTTP server with every limit set and no routes. */
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Failure } from '../../core/failure.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import { readWhole } from './body-pieces.ts'
import { limitChunks } from './chunk-limits.ts'
import { fromFastify } from './framework-failures.ts'
import { pathOf, sendAnswer } from './replies.ts'
import type { AnswerFailure, AnswerUnread, EveryAnswer, MessageSide, ServerLimits } from './server-types.ts'
import { answerUnparsed, listenBehind, refuseExpectation } from './unparsed-requests.ts'
import { deferContinue, readOn } from './unread-bodies.ts'
import { methodOf } from './unrouted-methods.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The setting that bounds the body, of a route with a bound of its own. */
    limitSetting?: string
  }
}

/**
 * Handlers get bodies as bytes, at most parserLimitBytes of them unless their route has another bound. Node's own limits
 * allow a slow sender 300 s; Fastify has none.
 */
export function createServer(
  limits: ServerLimits,
  answerFailure: AnswerFailure,
  { messages, headers = {}, logger }: Readonly<{ messages?: MessageSide; headers?: EveryAnswer; logger?: Logger }> = {},
): FastifyInstance {
  const answerUnread: AnswerUnread = (failure, socket) => {
    const answer = messages?.refuseUnparsed(failure, socket) ?? answerFailure(failure)
    return { ...answer, headers: { ...headers, ...answer.headers } }
  }
  const sendFailure = ({ raw }: FastifyRequest, reply: FastifyReply, failure: Failure) => {
    if (readOn(raw)) reply.header('connection', 'close')
    return sendAnswer(reply, answerFailure(failure))
  }
  const onUnbounded = () => logger?.warn({ node: process.version }, CHUNKS_COST_MORE)
  const limited =
    (listener: RequestListener): RequestListener =>
    (request, response) => {
      limitChunks(request, onUnbounded)
      listener(request, response)
    }
  const server = Fastify({
    bodyLimit: limits.parserLimitBytes,
    serverFactory: (route) => {
      const marked: RequestListener = (request, response) => {
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
        route(request, response)
      }
      const listener = listenBehind(marked, answerUnread, messages?.front)
      const options = {
        requestTimeout: limits.serverRequestTimeoutMs,
        keepAliveTimeout: limits.serverKeepAliveTimeoutMs,
        headersTimeout: limits.serverHeadersTimeoutMs,
        connectionsCheckingInterval: 1_000,
        // Node would answer with a status alone; `listenBehind` refuses such a request.
        requireHostHeader: false,
      }
      const http = createHttpServer(options, limited(listener))
      http.on('checkExpectation', limited(refuseExpectation(answerUnread)))
      http.on(
        'checkContinue',
        deferContinue((request, response) => http.emit('request', request, response)),
      )
      // Else a caller that closes its sending side gets no answer. Node has no option for it.
      Object.assign(http, { httpAllowHalfOpen: true })
      return http
    },
    exposeHeadRoutes: false,
    // Else Fastify loads its schema compilers at every start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // While the service stops, the intake answers with a 503 of its own.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 65_536 },
    clientErrorHandler: (error, socket) => answerUnparsed(error, socket, answerUnread),
    frameworkErrors: (error, request, reply) => {
      const failure = fromFastify(error)
      if (messages?.refuseUnreadable(failure, request.raw, reply.raw)) reply.hijack()
      else sendFailure(request, reply, failure)
    },
  })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', readWhole)
  server.decorateRequest(FAILURE, undefined)
  server.setErrorHandler((error: FastifyError, request: Failed, reply) => {
    const failure = fromFastify(error, request.routeOptions.config.limitSetting)
    request[FAILURE] = failure
    return sendFailure(request, reply, failure)
  })
  // Before the body is read.
  server.addHook('preParsing', async (request) => {
    if (!request.is404) return
    throw new Failure('ROUTE_UNKNOWN', `There is nothing at ${methodOf(request.raw)} ${pathOf(request.url)}.`)
  })
  return server
}

const CHUNKS_COST_MORE =
  'Bodies of very many chunks are refused, but cost more than on the Node.js that this version was built for'

const noSchemas = (): never => {
  throw new TypeError('No route has a schema of Fastify: the service checks its input itself.')
}

const FAILURE = Symbol('failure')
type Failed = FastifyRequest & { [FAILURE]?: Failure }

/** The failure that a call was answered with. */
export const failureOf = (request: FastifyRequest): Failure | undefined => (request as Failed)[FAILURE]
