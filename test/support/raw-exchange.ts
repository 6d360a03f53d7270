/** Bytes to a server exactly as they are given, for what no HTTP client would send. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** How the sender ends: it waits for the server, closes its own direction, or drops the connection. */
export type Ending = 'wait' | 'end' | 'drop'

export async function connectTo(base: string): Promise<Socket> {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/**
 * Sends bytes on a new connection and gives everything that came back until the connection was closed, as Latin-1.
 * A connection that is reset ends it too: what came before counts.
 */
export async function exchange(base: string, bytes: string | Uint8Array, ending: Ending = 'wait'): Promise<string> {
  const socket = await connectTo(base)
  const received = readToEnd(socket)
  socket.write(bytes)
  if (ending === 'end') socket.end()
  if (ending === 'drop') socket.resetAndDestroy()
  return received
}

export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}

/** The status of each answer in what came back. */
export const statusesIn = (received: string): readonly number[] =>
  [...received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))

/** The text of one request, its connection closed by the answer. */
export const requestText = (line: string, headers: readonly string[], body = ''): string =>
  [`${line} HTTP/1.1`, 'host: 127.0.0.1', 'connection: close', ...headers, '', body].join('\r\n')
