/** The dynamic routes of the message port: every path that is not reserved for the service belongs to the registry. */

import { type IncomingMessage, type RequestListener, type ServerResponse, validateHeaderValue } from 'node:http'
import type { Socket } from 'node:net'
import { parse as parseQuery } from 'node:querystring'
import type { FastifyInstance } from 'fastify'
import { Failure } from '../../core/failure.ts'
import { isBodiless, MESSAGE_ID_HEADER, MESSAGE_PORT_HEADERS, RESERVED, reservedBy } from '../../core/http.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Answer, Headers } from '../../core/message.ts'
import { HTTP, type Origin } from '../../core/origin.ts'
import { MASK } from '../../core/secrets/secrets.ts'
import { unknownRoute } from '../../core/unknown-route.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { LoadShedder } from '../admission/load-shedder.ts'
import type { CompletedMessage } from '../completed-message.ts'
import type { Incoming } from '../incoming-message.ts'
import type { Arrival, Intake } from '../intake.ts'
import { type ReadBody, readOn } from './bodies.ts'
import { hasBody, pathFromUrl, readMethod } from './replies.ts'
import type { Match, Routes } from './routes.ts'
import { fromFastify, type MessageSide, wasRefused } from './server.ts'

/** What the listener asks about callers that may be an OpenHIM core, and how it answers those that are. */
export type CoreAnswers = Readonly<{
  /** True if the caller of a request gets its answer in a wrapper. */
  isFromCore(
    request: Readonly<{
      headers: Readonly<Record<string, string | readonly string[] | undefined>>
      /** The remote address of the socket; headers that name another one are not read. */
      address: string | undefined
      /** The caller that the endpoint authenticated; undefined if it authenticated none. */
      caller: string | undefined
    }>,
  ): boolean
  /** Of the messages of a core: how many bytes of bodies that their calls send are kept; undefined: nothing is kept. */
  sentBytes: number | undefined
  /**
   * The answer of a completed message in a wrapper. An answer whose body isn't UTF-8 text is given unchanged: the core hands
   * bodies of wrappers on as texts. Never throws.
   */
  wrap(completed: CompletedMessage): Answer
}>

type ListenerOptions = Readonly<{
  routes: Routes
  intake: Intake
  shedder: LoadShedder
  readBody: ReadBody
  /** True if connections are to end with their next answer. */
  isStopping: () => boolean
  /** Gives callers that are an OpenHIM core their answers. */
  coreAnswers?: CoreAnswers | undefined
}>

/**
 * Answers requests with node:http alone: the way to a handler through a framework takes as long as the pipeline does for a
 * small message, and gives the same bytes.
 *
 * The listener matches a request, and the intake admits it before its body is read. From then on the request belongs to the
 * version of the endpoint that it matched.
 */
export function createMessageListener(options: ListenerOptions): MessageListener {
  const { routes, intake, shedder } = options
  /** The requests of this round of the event loop. */
  let arrived: Exchange[] = []
  const incomplete = new WeakMap<Socket, Exchange>()
  const startAll = (): void => {
    const all = arrived
    arrived = []
    for (const one of all) {
      if (!one.request.complete) incomplete.set(one.request.socket, one)
      one.start()
    }
  }
  const listen: RequestListener = (request, response) => {
    const url = request.url ?? '/'
    const match = routes.match(request.method ?? '', url)
    if (match.kind !== 'endpoint') {
      const failure = unrouted(match, request.method ?? '', url)
      sendRefusal(request, response, intake.refuse(undefined, failure, HTTP), options)
      return
    }
    const one = new Exchange(request, response, match, options)
    if (shedder.passes()) {
      // All together, once the bodies of all have arrived: the processor's caches then hold the same code for each.
      if (arrived.push(one) === 1) setImmediate(startAll)
    } else {
      incomplete.set(request.socket, one)
      shedder.wait({
        start: () => one.start(),
        shed: (failure) => one.refuse(intake.refuse(match.compiled, failure, HTTP), undefined),
      })
    }
  }
  const findEndpoint = (socket: Socket): CompiledEndpoint | undefined => {
    const one = arrived.find(({ request }) => request.socket === socket) ?? incomplete.get(socket)
    return one === undefined || one.request.complete ? undefined : one.match.compiled
  }
  return { listen, findEndpoint }
}

type MessageListener = Readonly<{
  listen: RequestListener
  /** The endpoint of the request whose body still arrives on a connection. */
  findEndpoint(socket: Socket): CompiledEndpoint | undefined
}>

type SendOptions = Pick<ListenerOptions, 'isStopping' | 'coreAnswers'>

/** A request with its response. */
class Exchange implements Arrival {
  readonly request: IncomingMessage
  readonly match: Extract<Match, { kind: 'endpoint' }>
  readonly #response: ServerResponse
  readonly #options: ListenerOptions
  #isFailed = false
  #isForCore = false

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    match: Extract<Match, { kind: 'endpoint' }>,
    options: ListenerOptions,
  ) {
    this.request = request
    this.match = match
    this.#response = response
    this.#options = options
  }

  get origin(): Origin {
    return HTTP
  }

  get headers(): Headers {
    return this.request.headers as Headers
  }

  get connection(): Socket {
    return this.request.socket
  }

  /** Starts after the requests before it on the connection are answered, unless that ended it or the caller has left. */
  start(): void {
    const { socket } = this.request
    if (this.#response.socket === null) this.#response.once('socket', () => this.start())
    else if (!socket.writableEnded && !socket.destroyed) this.#options.intake.receive(this.match.compiled, this)
  }

  /** A caller who left sends no body, and no event would report its end. */
  hasLeft(): boolean {
    return this.request.socket.destroyed && !this.request.complete
  }

  read(requestHeaders: Headers, caller: string | undefined, accept: (incoming: Incoming) => void): void {
    const { request, match } = this
    const { readBody, coreAnswers } = this.#options
    this.#isForCore = isFromCore(request, coreAnswers, caller)
    const sentBytes = this.#isForCore ? coreAnswers?.sentBytes : undefined
    readBody(
      request,
      (fault) => this.fail(fault),
      (body?: Uint8Array) => {
        const query = parseUrlQuery(request.url ?? '/')
        accept({ origin: HTTP, requestHeaders, query, urlParams: match.urlParams, body, caller, sentBytes })
      },
    )
  }

  refuse(refused: CompletedMessage, caller: string | undefined): void {
    sendRefusal(this.request, this.#response, refused, this.#options, caller)
  }

  answer(completed: CompletedMessage): void {
    try {
      this.#send(completed)
    } catch (thrown) {
      // An upstream may have set a header that node does not send.
      this.fail(thrown as Error)
    }
  }

  /** A connection may break after its message was refused already. */
  fail(fault: Error): void {
    const { intake } = this.#options
    readOn(this.request)
    if (!this.#isFailed && !wasRefused(this.request.socket)) {
      this.#send(intake.refuse(this.match.compiled, fromFastify(fault), HTTP))
    }
    this.#isFailed = true
  }

  #send(completed: CompletedMessage): void {
    const { coreAnswers, isStopping } = this.#options
    send(this.#response, this.#isForCore ? wrapped(completed, coreAnswers) : completed, isStopping())
  }
}

/** The longest body that is read over if its message is shed. */
const SHORT_BODY_BYTES = 65_536

/**
 * Answers a request whose body was not read, so its connection cannot carry another one. The short body of a shed request
 * is read over: most of it has arrived, and a new connection would add more to the load.
 */
function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  refused: CompletedMessage,
  { isStopping, coreAnswers }: SendOptions,
  caller?: string,
): void {
  const { 'content-length': length, expect } = request.headers
  const isReadOver =
    refused.failure?.kind.shed !== undefined && Number(length) <= SHORT_BODY_BYTES && expect === undefined
  if (!isReadOver && hasBody(request)) {
    readOn(request)
    response.setHeader('connection', 'close')
  }
  send(response, isFromCore(request, coreAnswers, caller) ? wrapped(refused, coreAnswers) : refused, isStopping())
}

/** `caller`: as the endpoint authenticated it. */
function isFromCore(
  { headers, socket }: IncomingMessage,
  coreAnswers: CoreAnswers | undefined,
  caller?: string,
): boolean {
  return coreAnswers?.isFromCore({ headers, address: socket.remoteAddress, caller }) === true
}

type Answered = Pick<CompletedMessage, 'answer' | 'messageId'>

/** Throws as `send` does for a header that HTTP does not allow: in the wrapper, it would make the core fail. */
function wrapped(completed: CompletedMessage, coreAnswers: CoreAnswers | undefined): Answered {
  for (const [name, value] of Object.entries(completed.answer.headers)) {
    for (const one of [value].flat()) validateHeaderValue(name, one)
  }
  return { answer: coreAnswers?.wrap(completed) ?? completed.answer, messageId: completed.messageId }
}

/** URLs that are certainly none of the service's own paths; the router decides on any other. */
const SURELY_A_MESSAGE = new RegExp(`^(?!${RESERVED.join('|')})/[^%?]*(?:\\?|$)`)

const isSurelyMessage = ({ url = '' }: IncomingMessage): boolean => SURELY_A_MESSAGE.test(url)

/** Gives every request without another route to the listener. */
export function serveMessages(server: FastifyInstance, { listen }: MessageListener): void {
  server.route({
    method: server.supportedMethods,
    url: '*',
    onRequest: ({ raw }, reply, _next) => {
      reply.hijack()
      raw.method = readMethod(raw)
      listen(raw, reply.raw)
    },
    handler: async () => undefined,
  })
}

export function messageSide(options: ListenerOptions, { listen, findEndpoint }: MessageListener): MessageSide {
  const { intake } = options
  return {
    front: (request, response) => {
      const isMessage = isSurelyMessage(request)
      if (isMessage) listen(request, response)
      return isMessage
    },
    // An unreadable URL belongs to a message, unless it starts with a reserved path.
    refuseUnreadable: (failure, request, response) => {
      if (reservedBy(pathFromUrl(request.url ?? '/')) !== undefined) return false
      sendRefusal(request, response, intake.refuse(undefined, failure, HTTP), options)
      return true
    },
    refuseUnparsed: (failure, socket) => {
      const { answer, messageId } = intake.refuse(findEndpoint(socket), failure, HTTP)
      return { ...answer, headers: { [MESSAGE_ID_HEADER]: messageId, ...answer.headers } }
    },
  }
}

function unrouted(match: Exclude<Match, { kind: 'endpoint' }>, method: string, url: string): Failure {
  const path = pathFromUrl(url)
  if (match.kind === 'unknown') {
    const unquoted = unknownRoute(method, maskedPath(path))
    return new Failure('ROUTE_UNKNOWN', unknownRoute(method, path), { unquoted })
  }
  const allow = match.allow.join(', ')
  const sentence = (what: string) => `${what} does not take ${method}, but ${allow}.`
  return new Failure('METHOD_NOT_ALLOWED', sentence(path), { headers: { allow }, unquoted: sentence(maskedPath(path)) })
}

/** A segment of words, as routes have them: an identifier, a token or a name of a person has other characters. */
const WORDS = /^[a-z]{1,24}(?:[-_.][a-z]{1,24}){0,4}$|^v\d{1,3}$/
const MAX_SEGMENTS = 8

/** For the log and records, which may be read by more people than those who may read the message. */
function maskedPath(path: string): string {
  const [, ...segments] = path.split('/', MAX_SEGMENTS + 2)
  const shown = segments.slice(0, MAX_SEGMENTS).map((one) => (one === '' || WORDS.test(one) ? one : MASK))
  return `/${[...shown, ...(segments.length > MAX_SEGMENTS ? ['…'] : [])].join('/')}`
}

/** The values of a query by their names; a list for a repeated name. */
function parseUrlQuery(url: string): JsonObject {
  const start = url.indexOf('?')
  if (start === -1) return {}
  const end = url.indexOf('#', start)
  const unbounded = { maxKeys: 0 }
  return parseQuery(url.slice(start + 1, end === -1 ? undefined : end), '&', '=', unbounded) as JsonObject
}

const EVERY_HEAD = Object.entries(MESSAGE_PORT_HEADERS).flat()

/** `isLast`: the connection ends with this answer. Throws if a header holds characters that HTTP does not allow. */
function send(
  response: ServerResponse,
  { answer: { status, headers, body }, messageId }: Answered,
  isLast: boolean,
): void {
  const head: (string | string[])[] = [MESSAGE_ID_HEADER, messageId, ...EVERY_HEAD]
  if (isLast) head.push('connection', 'close')
  for (const name in headers) {
    // Responses that an earlier version stored may have the id of an upstream of this kind.
    if (name !== MESSAGE_ID_HEADER) head.push(name, headers[name] as string | string[])
  }
  const bytes = Buffer.byteLength(body)
  if (!isBodiless(status)) head.push('content-length', String(bytes))
  response.writeHead(status, head)
  // ASCII has the same bytes in both encodings, and node writes Latin-1 without a look at each character.
  if (typeof body === 'string' && bytes === body.length) response.end(body, 'latin1')
  else response.end(body)
}
