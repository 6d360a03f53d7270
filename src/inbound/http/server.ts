/**
 * An HTTP server with every limit set and no routes. It refuses input that is not a request which the router could serve.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { asFailure, Failure } from '../../core/failure.ts'
import type { Answer } from '../../core/message.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import { bodyTooLarge, deferContinue, endAndRead, readOn, readWhole } from './bodies.ts'
import { limitChunks } from './chunk-limits.ts'
import { pathFromUrl, readMethod, sendAnswer, standIn } from './replies.ts'

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
    throw new Failure('ROUTE_UNKNOWN', `There is nothing at ${readMethod(request.raw)} ${pathFromUrl(request.url)}.`)
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
export const findFailure = (request: FastifyRequest): Failure | undefined => (request as Failed)[FAILURE]

type ServerLimits = Readonly<{
  parserLimitBytes: number
  serverHeadersTimeoutMs: number
  serverRequestTimeoutMs: number
  serverKeepAliveTimeoutMs: number
}>

/** Answers a failure of a management call, or of input that no route is known for. */
type AnswerFailure = (failure: Failure) => Answer

/** Answers a failure of input that did not become a whole request. */
type AnswerUnread = (failure: Failure, socket: Socket) => Answer

/**
 * Headers that every answer of a server has, by lower-case names; a message port adds them to answers to messages itself.
 */
type EveryAnswer = Readonly<Record<string, string>>

/** Answers a request before the router sees it. Out: whether it did. */
type Front = (request: IncomingMessage, response: ServerResponse) => boolean

/** What a server of messages adds to the router. */
export type MessageSide = Readonly<{
  front: Front
  /** Refuses a request whose URL cannot be read. Out: whether it did. */
  refuseUnreadable(failure: Failure, request: IncomingMessage, response: ServerResponse): boolean
  /** Answers input that is not a whole request yet, and records the refusal. */
  refuseUnparsed: AnswerUnread
}>

/**
 * The failure for an error of Fastify by its code (https://fastify.dev/docs/latest/Reference/Errors/); any other error is
 * a bug.
 */
export function fromFastify(error: unknown, limitSetting?: string): Failure {
  const { code, statusCode } = error as Partial<FastifyError>
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(limitSetting)
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

/** Connections whose last request was refused while its body arrived: the error that ends it is not a second failure. */
const refusedWithin = new WeakSet<Socket>()

export const wasRefused = (socket: Socket): boolean => refusedWithin.has(socket)

/** Answers input that node's parser refused: there is neither a request nor a response, only the socket. */
function answerUnparsed(error: NodeJS.ErrnoException, socket: Socket, answer: AnswerUnread): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  // The parser refuses every piece that arrives after the first refusal.
  if (!socket.writable) return
  refusedWithin.add(socket)
  if (isAnswering(socket)) {
    endAndRead(socket)
    return
  }
  const { status, headers, body } = answer(fromParser(error.code), socket)
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  endAndRead(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`)
}

/** The request is answered already: a caller could take a second answer for that of its next request. */
const isAnswering = (socket: Socket & { _httpMessage?: ServerResponse | null }): boolean =>
  socket._httpMessage?.headersSent === true

function fromParser(code: string | undefined): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Failure('HEADERS_TOO_LARGE', 'The headers of the request are larger than 16 KiB; send fewer or shorter.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Failure('REQUEST_TIMED_OUT', 'The request did not arrive in time; send it faster, or again.')
  }
  return new Failure('REQUEST_MALFORMED', 'The request is not well-formed HTTP/1.1, and the connection is closed.')
}

const refuseExpectation =
  (answer: AnswerUnread) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const failure = new Failure('EXPECTATION_REFUSED', 'The header Expect can be "100-continue" only; leave it out.')
    sendUnread(request, response, answer(failure, request.socket))
  }

/** Out: a listener in front of `route`, whose requests then have a host, and a URL of path and query alone. */
function listenBehind(route: RequestListener, answer: AnswerUnread, front?: Front): RequestListener {
  return (request, response) => {
    const { url = '/', socket } = request
    // The answer before ended the connection: no answer to this request could be sent.
    if (socket.writableEnded) return
    const wrong = wrongHost(request) ?? wrongCoding(request)
    if (wrong !== undefined) {
      sendUnread(request, response, answer(new Failure('REQUEST_MALFORMED', wrong), socket))
      return
    }
    if (!url.startsWith('/')) request.url = originForm(url)
    if (front?.(request, response)) return
    standIn(request)
    route(request, response)
  }
}

/** A name or an address, and perhaps a port (RFC 9110 section 7.2, RFC 3986 section 3.2.2). */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/**
 * Out: a sentence, unless there is exactly one well-formed host, or none in HTTP/1.0. Who reads the first of two hosts, or
 * only the start of a malformed one, could take the call for one to another host than a proxy did (RFC 9112 section 3.2).
 */
function wrongHost({ headers, rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  const { host } = headers
  if (host === undefined) {
    return httpVersion === '1.0' ? undefined : 'The request has no header Host, which HTTP/1.1 asks for.'
  }
  if (!HOST.test(host)) return 'The Host header is not a host with an optional port; send the host of the URL.'
  let hosts = 0
  // `headers` has only the first one.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1 ? 'The request has more than one header Host; send one.' : undefined
}

/**
 * Out: a sentence, unless the body has no coding, or the one that this service removes. Who reads a body to its chunks but
 * passes it on in another coding, or takes HTTP/1.0 to have none, finds another end of it (RFC 9112 section 6.1).
 */
function wrongCoding({ headers: { 'transfer-encoding': coding }, httpVersion }: IncomingMessage): string | undefined {
  if (coding === undefined) return undefined
  if (httpVersion === '1.0') return 'HTTP/1.0 has no Transfer-Encoding; send Content-Length, or HTTP/1.1.'
  if (coding.toLowerCase() === 'chunked') return undefined
  return 'The header Transfer-Encoding can be "chunked" only; send the body without other codings.'
}

/** The path and query of a URL in absolute form, as to a proxy (RFC 9112 section 3.2.2). */
function originForm(url: string): string {
  const rest = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1]
  if (rest === undefined) return url
  return rest.startsWith('/') ? rest : `/${rest}`
}

function sendUnread(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: ReturnType<AnswerUnread>,
): void {
  readOn(request)
  const length = { 'content-length': Buffer.byteLength(body), connection: 'close' }
  response.writeHead(status, { ...(headers as Record<string, string>), ...length }).end(body)
}
