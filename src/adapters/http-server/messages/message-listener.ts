/** The dynamic routes of the message port: every path that the service has no use for itself belongs to the registry. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { parse as parseQuery } from 'node:querystring'
import type { FastifyInstance } from 'fastify'
import { Failure } from '../../../domain/failure.ts'
import { RESERVED, reservedBy } from '../../../domain/http.ts'
import type { JsonObject } from '../../../domain/json.ts'
import type { Headers } from '../../../domain/message.ts'
import type { CompiledEndpoint } from '../../../endpoints/compiled-endpoint.ts'
import type { Match, Registry } from '../../../endpoints/endpoint-registry.ts'
import type { LoadShedder } from '../../../intake/admission/load-shedder.ts'
import type { CompletedMessage } from '../../../intake/completed-message.ts'
import type { Intake } from '../../../intake/intake.ts'
import { fromFastify } from '../framework-failures.ts'
import { hasBody, pathOf } from '../replies.ts'
import type { MessageSide } from '../server-types.ts'
import { wasRefused } from '../unparsed-requests.ts'
import { methodOf } from '../unrouted-methods.ts'
import type { ReadBody } from './body-reader.ts'

export type ListenerOptions = Readonly<{
  registry: Registry
  intake: Intake
  turns: LoadShedder
  readBody: ReadBody
  /** Whether connections are to end with their next answer. */
  isStopping: () => boolean
}>

/**
 * Answers requests with node:http alone: a framework's own way to a handler takes as long as the pipeline does for a
 * small message, and ends with the same bytes.
 *
 * A request is matched before its body is read: what has no endpoint, or comes while the service is full or stopping, is
 * refused without reading it. From then on it belongs to the configuration it was matched with.
 */
export function createMessageListener(options: ListenerOptions): RequestListener {
  const { registry, intake, turns, isStopping } = options
  /** What came in this round of the loop. */
  let arrived: Arrived[] = []
  const beginAll = (): void => {
    const all = arrived
    arrived = []
    for (const one of all) begin(one, options)
  }
  return (request, response) => {
    // Its connection ends with the answer before: what was sent behind that would be done without an answer.
    if (request.socket.writableEnded) return
    const url = request.url ?? '/'
    const match = registry.match(request.method ?? '', url)
    if (match.kind !== 'endpoint') {
      leaveUnread(request, response)
      send(response, intake.refuse(undefined, unrouted(match, request.method ?? '', url)), isStopping())
      return
    }
    const one = { request, response, url, match }
    if (turns.passes()) {
      // All together, when the bodies of all have come: what is done for one after the other is in the processor's caches.
      if (arrived.push(one) === 1) setImmediate(beginAll)
    } else {
      turns.wait({
        begin: () => begin(one, options),
        refuse: () => turnAway(request, response, intake.refuse(match.compiled, tooMuch()), isStopping()),
      })
    }
  }
}

type Arrived = Readonly<{
  request: IncomingMessage
  response: ServerResponse
  url: string
  match: Extract<Match, { kind: 'endpoint' }>
}>

/** Begins when what was sent before on the same connection is answered, unless that ended it or its caller has left. */
function begin(one: Arrived, options: ListenerOptions): void {
  const { request, response } = one
  if (response.socket === null) response.once('socket', () => begin(one, options))
  else if (!request.socket.writableEnded && !request.socket.destroyed) serve(one, options)
}

const tooMuch = (): Failure =>
  new Failure('OVERLOADED', 'The service has more to do than it can; send this message again in a moment.')

function serve(
  { request, response, url, match: { compiled, urlParams } }: Arrived,
  { intake, readBody, isStopping }: ListenerOptions,
): void {
  const refuse = (failure: Failure): void => send(response, intake.refuse(compiled, failure), isStopping())
  const full = intake.refusalAtDoor(compiled)
  if (full !== undefined) {
    turnAway(request, response, intake.refuse(compiled, full), isStopping())
    return
  }
  let failed = false
  // A connection may break after its message was refused already.
  const fail = (fault: Error): void => {
    if (!failed && !wasRefused(request.socket)) refuse(fromFastify(fault))
    failed = true
  }
  const sendOrFail = (finished: CompletedMessage): void => {
    try {
      send(response, finished, isStopping())
    } catch (thrown) {
      // A header of an upstream may hold what node will not send.
      fail(thrown as Error)
    }
  }
  const read = (requestHeaders: Headers, caller?: string): void => {
    const tooMany = intake.overRate(compiled)
    if (tooMany !== undefined) {
      turnAway(request, response, intake.refuse(compiled, tooMany), isStopping())
      return
    }
    readBody(request, fail, (body?: Uint8Array) => {
      const incoming = { requestHeaders, query: queryOf(url), urlParams, body, caller }
      const outcome = intake.accept(compiled, incoming, response)
      if (outcome instanceof Promise) outcome.then(sendOrFail)
      else sendOrFail(outcome)
    })
  }
  const { auth } = compiled
  if (auth === undefined) {
    read(request.headers as Headers)
    return
  }
  const refuseUnread = (failure: Failure): void => {
    leaveUnread(request, response)
    refuse(failure)
  }
  authenticate(auth, request, refuseUnread, read).catch(fail)
}

/** A body that is longer is not waited for, where its message is refused. */
const SHORT_BODY_BYTES = 65_536

/**
 * Refuses what is too much at the time. A short body is mostly there already, and read over: to make its caller connect
 * again would cost more.
 */
function turnAway(
  request: IncomingMessage,
  response: ServerResponse,
  finished: CompletedMessage,
  isLast: boolean,
): void {
  const { 'content-length': length, expect } = request.headers
  if (!(Number(length) <= SHORT_BODY_BYTES) || expect !== undefined) leaveUnread(request, response)
  send(response, finished, isLast)
}

/** A connection cannot carry another request where the body of this one stays unread. */
function leaveUnread(request: IncomingMessage, response: ServerResponse): void {
  if (hasBody(request)) response.setHeader('connection', 'close')
}

/** Nothing of a body is read before it is known that its sender may send it. */
async function authenticate(
  auth: NonNullable<CompiledEndpoint['auth']>,
  request: IncomingMessage,
  refuse: (failure: Failure) => void,
  goOn: (headers: Headers, caller: string) => void,
): Promise<void> {
  const headers = request.headers as Headers
  const caller = await auth.identify(headers)
  if (caller instanceof Failure) refuse(caller)
  // Who has left meanwhile sends no body, and nothing would ever tell its end.
  else if (!request.destroyed || request.complete) goOn(auth.withoutCredentials(headers), caller)
}

/** Whether a URL leads to none of the service's own paths for sure; where it may, the service's router decides. */
const SURELY_A_MESSAGE = new RegExp(`^(?!${RESERVED.join('|')})/[^%?]*(?:\\?|$)`)

const isSurelyMessage = ({ url = '' }: IncomingMessage): boolean => SURELY_A_MESSAGE.test(url)

/** Gives every request that nothing else on this server claims to `listener`. */
export function serveMessages(server: FastifyInstance, listener: RequestListener): void {
  server.route({
    method: server.supportedMethods,
    url: '*',
    onRequest: ({ raw }, reply, _next) => {
      reply.hijack()
      raw.method = methodOf(raw)
      listener(raw, reply.raw)
    },
    handler: async () => undefined,
  })
}

/** What the server of messages does by itself. */
export function messageSide({ intake, isStopping }: ListenerOptions, listener: RequestListener): MessageSide {
  return {
    front: (request, response) => {
      const isMessage = isSurelyMessage(request)
      if (isMessage) listener(request, response)
      return isMessage
    },
    // A URL that cannot be read is that of a message, unless it begins as one of the service's own does.
    refuseUnreadable: (failure, request, response) => {
      if (reservedBy(pathOf(request.url ?? '/')) !== undefined) return false
      if (hasBody(request)) response.setHeader('connection', 'close')
      send(response, intake.refuse(undefined, failure), isStopping())
      return true
    },
    refuseUnparsed: (failure) => {
      const { answer, messageId } = intake.refuse(undefined, failure)
      return { ...answer, headers: { [ID_HEADER]: messageId, ...answer.headers } }
    },
  }
}

function unrouted(match: Exclude<Match, { kind: 'endpoint' }>, method: string, url: string): Failure {
  const path = pathOf(url)
  if (match.kind === 'unknown') {
    const unquoted = 'No endpoint listens on the path.'
    return new Failure('ROUTE_UNKNOWN', `No endpoint listens on ${path}.`, { unquoted })
  }
  const allow = match.allow.join(', ')
  const sentence = (what: string) => `${what} does not take ${method}, but ${allow}.`
  return new Failure('METHOD_NOT_ALLOWED', sentence(path), { headers: { allow }, unquoted: sentence('The path') })
}

/** The values of a query by their names; of a name that is repeated, a list. */
function queryOf(url: string): JsonObject {
  const start = url.indexOf('?')
  if (start === -1) return {}
  const end = url.indexOf('#', start)
  const unbounded = { maxKeys: 0 }
  return parseQuery(url.slice(start + 1, end === -1 ? undefined : end), '&', '=', unbounded) as JsonObject
}

/** What the sender can name the message by, whatever became of it. */
const ID_HEADER = 'x-crosswalk-message-id'

/** Statuses whose answers have neither a body nor a length (RFC 9110 section 8.6). */
const isBodiless = (status: number): boolean => status === 204 || status === 304

/** `isLast`: the connection ends with it. Throws where a header holds what HTTP cannot. */
function send(
  response: ServerResponse,
  { answer: { status, headers, body }, messageId }: CompletedMessage,
  isLast: boolean,
): void {
  const head: (string | string[])[] = [ID_HEADER, messageId]
  if (isLast) head.push('connection', 'close')
  for (const name in headers) {
    // An upstream may be a service of this kind: its id is that of another message.
    if (name !== ID_HEADER) head.push(name, headers[name] as string | string[])
  }
  const bytes = Buffer.byteLength(body)
  if (!isBodiless(status)) head.push('content-length', String(bytes))
  response.writeHead(status, head)
  // Of a text in ASCII the bytes are the same in both encodings, and Latin-1 is written without a look at each character.
  if (typeof body === 'string' && bytes === body.length) response.end(body, 'latin1')
  else response.end(body)
}
