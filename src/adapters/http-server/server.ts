/** A bare HTTP server with every limit set; what it serves is added by the modules beside this one. */
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify'
import { Failure } from '../../domain/failure.ts'
import { fromFastify } from './framework-failures.ts'
import { pathOf, sendAnswer } from './replies.ts'
import type { AnswerFailure, MessageSide, ServerLimits } from './server-types.ts'
import { answerUnparsed, listenBehind, refuseExpectation } from './unparsed-requests.ts'
import { methodOf } from './unrouted-methods.ts'

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
