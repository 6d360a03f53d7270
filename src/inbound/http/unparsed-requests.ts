/** Refuses input that is not a request which the router could serve. */
import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Failure } from '../../core/failure.ts'
import type { AnswerUnread, Front } from './server-types.ts'
import { endAndRead, readOn } from './unread-bodies.ts'
import { standIn } from './unrouted-methods.ts'

/** Connections whose last request was refused while its body arrived: the error that ends it is not a second failure. */
const refusedWithin = new WeakSet<Socket>()

export const wasRefused = (socket: Socket): boolean => refusedWithin.has(socket)

/** Answers input that node's parser refused: there is neither a request nor a response, only the socket. */
export function answerUnparsed(error: NodeJS.ErrnoException, socket: Socket, answer: AnswerUnread): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  // The parser refuses every piece that comes after the first refusal.
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

/** Whether the request was refused before the parser came to its fault: a caller could take a second answer for that of its next request. */
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

export const refuseExpectation =
  (answer: AnswerUnread) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const failure = new Failure('EXPECTATION_REFUSED', 'The header Expect can be "100-continue" only; leave it out.')
    send(request, response, answer(failure, request.socket))
  }

/** Out: a listener in front of `route`, whose requests then have a host, and a URL of path and query alone. */
export function listenBehind(route: RequestListener, answer: AnswerUnread, front?: Front): RequestListener {
  return (request, response) => {
    const { url = '/', socket } = request
    // The answer before ended the connection: no answer to this request could be sent.
    if (socket.writableEnded) return
    const wrong = wrongHost(request) ?? wrongCoding(request)
    if (wrong !== undefined) {
      send(request, response, answer(new Failure('REQUEST_MALFORMED', wrong), socket))
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
  if (!HOST.test(host)) return 'The header Host is no host with an optional port; send the one of the URL.'
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

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: ReturnType<AnswerUnread>,
): void {
  readOn(request)
  const length = { 'content-length': Buffer.byteLength(body), connection: 'close' }
  response.writeHead(status, { ...(headers as Record<string, string>), ...length }).end(body)
}
