/** What the server does with a body before it wants it: it asks for it, or refuses it and still lets the caller read why. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ignoreBody } from './chunk-limits.ts'
import { hasBody } from './replies.ts'

/** The most that is read of a body that was refused. */
const MOST_BYTES = 128 * 1024 * 1024
const MOST_MS = 10_000
const LOOK_MS = 50

/** Requests that wait to be asked for their body. */
const expecting = new WeakMap<IncomingMessage, ServerResponse>()

/** A listener for callers who expect 100 Continue: node would ask for every body at once, also for one that is refused. */
export const deferContinue =
  (emit: RequestListener): RequestListener =>
  (request, response) => {
    expecting.set(request, response)
    emit(request, response)
  }

/** Asks for the body that a caller holds back. To be called where the body is about to be read. */
export function askForBody(request: IncomingMessage): void {
  if (request.headers.expect !== undefined) expecting.get(request)?.writeContinue()
}

/** Whether the length of a body says that it is larger than a limit. */
export const isTooLong = ({ headers }: Pick<IncomingMessage, 'headers'>, limitBytes: number): boolean =>
  Number(headers['content-length'] ?? 0) > limitBytes

/**
 * For a request that is answered before its body has arrived, so that its connection cannot carry another one. Out: whether
 * it is one; its answer must end the connection.
 *
 * If a socket is closed while bytes arrive, the operating system resets the connection, and the caller may lose the answer.
 * So after the answer the rest of the body is read, at most MOST_BYTES and for MOST_MS.
 */
export function readOn(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return false
  const { socket } = request
  ignoreBody(request)
  const { destroySoon } = socket
  const close = () => destroySoon.call(socket)
  // Node calls this when the answer is written.
  socket.destroySoon = () => {
    // The rest of one whose chunks were refused costs too much to be read, although its caller may then lose the answer.
    if (request.complete || request.destroyed) return close()
    endAndRead(socket)
    request.once('close', close).resume()
  }
  return true
}

/** Ends the own direction of a connection, and lets its caller read the answer before it is closed. */
export function endAndRead(socket: Socket, last?: string): void {
  socket.end(last ?? '')
  const until = performance.now() + MOST_MS
  const most = socket.bytesRead + MOST_BYTES
  const timer = setInterval(() => {
    if (performance.now() > until || socket.bytesRead > most) socket.destroy()
  }, LOOK_MS)
  socket.once('close', () => clearInterval(timer))
}
