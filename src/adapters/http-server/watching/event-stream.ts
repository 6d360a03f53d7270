/** Writes events to one caller as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import type { ServerResponse } from 'node:http'

export type EventStream = Readonly<{
  /** Writes an event; ends the stream instead if the caller reads too slowly. */
  send(event: Readonly<{ id?: string; type: string; data: object }>): void
  /** A line that keeps proxies from closing an idle connection. */
  heartbeat(): void
  /** Writes a last event `end` with the reason, and closes the connection. */
  end(reason: EndReason, error: string): void
}>

export type EndReason = 'slow' | 'stopping' | 'credentials' | 'share'

/** What waits for a caller in memory, in bytes. */
export const MOST_BUFFERED = 256 * 1024

/** How long a caller may take to read what is left when its stream has ended. */
const LINGER_MS = 10_000

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // A proxy that buffers answers would hold events back.
  'x-accel-buffering': 'no',
}

/** `onEnd`: called once, when the stream has ended or the caller has closed it. */
export function openEventStream(response: ServerResponse, onEnd: () => void): EventStream {
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    onEnd()
  }
  const end: EventStream['end'] = (reason, error) => {
    if (!isOpen) return
    response.end(eventText({ type: 'end', data: { reason, error } }))
    // The connection of a caller that reads nothing would stay for ever.
    const timer = setTimeout(() => response.destroy(), LINGER_MS)
    timer.unref()
    response.once('close', () => clearTimeout(timer))
    close()
  }
  const write = (text: string): void => {
    if (!isOpen) return
    if (response.writableLength > MOST_BUFFERED) end('slow', 'Events came faster than they were read; read all again.')
    else response.write(text)
  }
  response.on('close', close)
  // A caller that has closed its side asks for nothing more, and would count as a reader until the next heartbeat.
  response.socket?.once('end', () => response.destroy())
  response.on('error', close)
  response.writeHead(200, HEADERS)
  response.flushHeaders()
  return { send: (event) => write(eventText(event)), heartbeat: () => write(':\n\n'), end }
}

/** JSON has no line breaks, so an event has one line of data. */
const eventText = ({ id, type, data }: Readonly<{ id?: string; type: string; data: object }>): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
