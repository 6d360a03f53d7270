/** Refuses input that is not a request which the router could serve. */
import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Failure } from '../../domain/failure.ts'
import type { AnswerUnread, Front } from './server-types.ts'
import { standIn } from './unrouted-methods.ts'

/** Connections whose last request was refused while its body arrived: the error that ends it is not a second failure. */
const refusedWithin = new WeakSet<Socket>()

export const wasRefused = (socket: Socket): boolean => refusedWithin.has(socket)

/** Answers input that node's parser refused: there is neither a request nor a response, only the socket. */
export function answerUnparsed(error: NodeJS.ErrnoException, socket: Socket, answer: AnswerUnread): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  refusedWithin.add(socket)
  const { status, headers, body } = answer(fromParser(error.code), socket)
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`)
}

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
  ({ socket }: IncomingMessage, response: ServerResponse): void =>
    send(
      response,
      answer(new Failure('EXPECTATION_REFUSED', 'The header Expect can be "100-continue" only; leave it out.'), socket),
    )

/** Out: a listener in front of `route`, whose requests then have a host, and a URL of path and query alone. */
export function listenBehind(route: RequestListener, answer: AnswerUnread, front?: Front): RequestListener {
  return (request, response) => {
    const { url = '/', headers, socket } = request
    if (headers.host === undefined && request.httpVersion !== '1.0') {
      // An answer before has ended the connection.
      if (socket.writableEnded) return
      send(
        response,
        answer(new Failure('REQUEST_MALFORMED', 'The request has no header Host, which HTTP/1.1 asks for.'), socket),
      )
      return
    }
    if (!url.startsWith('/')) request.url = originForm(url)
    if (front?.(request, response)) return
    standIn(request)
    route(request, response)
  }
}

/** The path and query of a URL in absolute form, as to a proxy (RFC 9112 section 3.2.2). */
function originForm(url: string): string {
  const rest = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1]
  if (rest === undefined) return url
  return rest.startsWith('/') ? rest : `/${rest}`
}

function send(response: ServerResponse, { status, headers, body }: ReturnType<AnswerUnread>): void {
  const length = { 'content-length': Buffer.byteLength(body), connection: 'close' }
  response.writeHead(status, { ...(headers as Record<string, string>), ...length }).end(body)
}
