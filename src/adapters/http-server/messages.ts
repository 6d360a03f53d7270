/** The dynamic routes of the message port: one catch-all in front of the registry. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../domain/failure.ts'
import type { JsonObject } from '../../domain/json.ts'
import type { Headers } from '../../domain/message.ts'
import type { Finished } from '../../registry/finished.ts'
import type { Intake } from '../../registry/intake.ts'
import type { Compiled, Registry } from '../../registry/registry.ts'
import { bodyTooLarge, closeIfUnread, fromFastify, hasBody, pathOf, sendAnswer } from './server.ts'

/** The endpoint that a request was matched with, before its body was read. */
type Target = Readonly<{ compiled: Compiled; urlParams: JsonObject }>

const TARGET = Symbol('target')
type Targeted = FastifyRequest & { [TARGET]?: Target }

/**
 * Serves every path that nothing else on this server claims.
 *
 * A request is matched before its body is read: what has no endpoint, or comes while the service is full or
 * stopping, is refused without reading it. From then on it belongs to the configuration it was matched with.
 *
 * All of it happens in the first hook. Fastify's own way to a handler (media type, body, validation, promises) takes as
 * long as the pipeline does for a small message, and ends with the same bytes.
 */
export function serveMessages(server: FastifyInstance, registry: Registry, intake: Intake): void {
  const limitBytes = server.initialConfig.bodyLimit as number
  server.decorateRequest(TARGET, undefined)
  server.register(async (scope) => {
    scope.setErrorHandler((error, request: Targeted, reply) =>
      sendFinished(reply, intake.refuse(request[TARGET]?.compiled, fromFastify(error))),
    )
    scope.route({
      method: server.supportedMethods,
      url: '*',
      onRequest: (request: Targeted, reply, next) => {
        const refused = matchTarget(request, registry, intake)
        if (refused === undefined) {
          readBody(request, limitBytes, (body) => run(request, reply, intake, body, next), next)
          return
        }
        closeIfUnread(request, reply)
        sendFinished(reply, intake.refuse(request[TARGET]?.compiled, refused))
      },
      handler: async () => undefined,
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
  if (match.kind === 'unknown') {
    const unquoted = 'No endpoint listens on the path.'
    return new Failure('ROUTE_UNKNOWN', `No endpoint listens on ${path}.`, { unquoted })
  }
  const allow = match.allow.join(', ')
  const sentence = (what: string) => `${what} does not take ${request.method}, but ${allow}.`
  return new Failure('METHOD_NOT_ALLOWED', sentence(path), { headers: { allow }, unquoted: sentence('The path') })
}

type Fail = (fault: Error) => void

/** Reads a body to its end; `take` gets undefined where there is none. Fails: BODY_TOO_LARGE, or as the socket does. */
function readBody(request: FastifyRequest, limitBytes: number, take: (body?: Uint8Array) => void, fail: Fail): void {
  if (!hasBody(request)) {
    take()
    return
  }
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    fail(bodyTooLarge())
    return
  }
  const chunks: Buffer[] = []
  let bytes = 0
  request.raw.on('data', (chunk: Buffer) => {
    const before = bytes
    bytes += chunk.length
    if (bytes <= limitBytes) chunks.push(chunk)
    else if (before <= limitBytes) fail(bodyTooLarge())
  })
  request.raw.on('error', fail)
  request.raw.on('end', () => {
    if (bytes <= limitBytes) take(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  })
}

/** What the sender can name the message by, whatever became of it. */
const sendFinished = (reply: FastifyReply, { answer, messageId }: Finished): FastifyReply =>
  sendAnswer(reply, answer, messageId)

/** Runs the message and sends its answer. Whatever goes wrong with that goes to `fail`: nothing above here catches. */
function run(request: Targeted, reply: FastifyReply, intake: Intake, body: Uint8Array | undefined, fail: Fail): void {
  const send = (finished: Finished): void => void sendFinished(reply, finished)
  try {
    const { compiled, urlParams } = request[TARGET] as Target
    const outcome = intake.accept(compiled, {
      requestHeaders: request.headers as Headers,
      query: request.query as JsonObject,
      urlParams,
      body,
    })
    if (outcome instanceof Promise) outcome.then(send).catch(fail)
    else send(outcome)
  } catch (thrown) {
    fail(thrown as Error)
  }
}
