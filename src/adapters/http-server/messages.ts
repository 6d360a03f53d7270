/** The dynamic routes of the message port: one catch-all in front of the registry. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../domain/failure.ts'
import type { JsonObject } from '../../domain/json.ts'
import type { Headers } from '../../domain/message.ts'
import type { Intake } from '../../registry/intake.ts'
import type { Compiled, Registry } from '../../registry/registry.ts'
import { closeIfUnread, fromFastify, pathOf, sendAnswer } from './server.ts'

/** The endpoint that a request was matched with, before its body was read. */
type Target = Readonly<{ compiled: Compiled; urlParams: JsonObject }>

const TARGET = Symbol('target')
type Targeted = FastifyRequest & { [TARGET]?: Target }

/**
 * Serves every path that nothing else on this server claims.
 *
 * A request is matched before its body is read: what has no endpoint, or comes while the service is full or
 * stopping, is refused without reading it. From then on it belongs to the configuration it was matched with.
 */
export function serveMessages(server: FastifyInstance, registry: Registry, intake: Intake): void {
  server.decorateRequest(TARGET, undefined)
  server.register(async (scope) => {
    scope.setErrorHandler((error, request: Targeted, reply) =>
      sendAnswer(reply, intake.refuse(request[TARGET]?.compiled, fromFastify(error)).answer),
    )
    scope.route({
      method: server.supportedMethods,
      url: '*',
      onRequest: (request: Targeted, reply, next) => {
        const refused = matchTarget(request, registry, intake)
        if (refused === undefined) return next()
        closeIfUnread(request, reply)
        sendAnswer(reply, intake.refuse(request[TARGET]?.compiled, refused).answer)
      },
      handler: (request: Targeted, reply) => handle(request, reply, intake),
    })
  })
}

function matchTarget(request: Targeted, registry: Registry, intake: Intake): Failure | undefined {
  const match = registry.match(request.method, request.raw.url ?? '/')
  if (match.kind === 'endpoint') {
    request[TARGET] = match
    return intake.refusal()
  }
  const path = pathOf(request.url)
  if (match.kind === 'unknown') return new Failure('ROUTE_UNKNOWN', `No endpoint listens on ${path}.`)
  return new Failure('METHOD_NOT_ALLOWED', `${path} does not take ${request.method}, but ${match.allow.join(', ')}.`, {
    headers: { allow: match.allow.join(', ') },
  })
}

function handle(request: Targeted, reply: FastifyReply, intake: Intake): FastifyReply | Promise<FastifyReply> {
  const { compiled, urlParams } = request[TARGET] as Target
  const outcome = intake.accept(compiled, {
    requestHeaders: request.headers as Headers,
    query: request.query as JsonObject,
    urlParams,
    body: request.body as Uint8Array | undefined,
  })
  if (outcome instanceof Promise) return outcome.then(({ answer }) => sendAnswer(reply, answer))
  return sendAnswer(reply, outcome.answer)
}
