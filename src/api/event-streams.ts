/**
 * The event streams of callers (https://html.spec.whatwg.org/multipage/server-sent-events.html). Callers share a bounded number
 * of streams: one that has many gives way to one that has fewer.
 */
import type { ServerResponse } from 'node:http'
import { Failure } from '../core/failure.ts'
import type { EventHub, EventType } from '../observe/events/event-hub.ts'
import type { Call } from './call.ts'

/** Streams that are open at one time. */
export const MAX_STREAMS = 100

/** Between two heartbeats. The credentials are checked with each, so a revoked key reads events no longer than that. */
export const HEARTBEAT_MS = 15_000

/** What waits for a caller in memory, in bytes. */
export const MAX_BUFFERED_BYTES = 256 * 1024

/** How long a caller may take to read what is left when its stream has ended. */
const LINGER_MS = 10_000

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // A proxy that buffers answers would hold events back.
  'x-accel-buffering': 'no',
}

type EndReason = 'slow' | 'stopping' | 'credentials' | 'share'

export class EventStreams {
  readonly #hub: EventHub
  readonly #heartbeatMs: number
  readonly #shares = new StreamShares(MAX_STREAMS)

  /** `heartbeatMs`: for tests. */
  constructor(hub: EventHub, heartbeatMs = HEARTBEAT_MS) {
    this.#hub = hub
    this.#heartbeatMs = heartbeatMs
  }

  /** Takes the reply of a call over and writes events until the caller leaves. Fails with EVENT_STREAMS_TOO_MANY. */
  async open(call: Call, types: ReadonlySet<EventType>): Promise<void> {
    const { request, reply } = call
    const caller = streamCaller(call)
    if (!this.#shares.hasRoom(caller)) {
      const sentence = `${MAX_STREAMS} callers read events already, and none of them reads more streams than you; close one of yours, or ask for what you need from time to time instead.`
      throw new Failure('EVENT_STREAMS_TOO_MANY', sentence)
    }
    reply.hijack()
    let unsubscribe = () => {}
    const finish = () => {
      clearInterval(timer)
      unsubscribe()
      removeStream()
    }
    const out = new EventStream(reply.raw, finish)
    const removeStream = this.#shares.add(caller, () =>
      out.end('share', 'Another caller needed the slot of one of your streams.'),
    )
    const timer = setInterval(async () => {
      out.heartbeat()
      try {
        await call.authorise()
      } catch (thrown) {
        // Nothing shows what the caller may see now, so the stream ends in any case.
        out.end('credentials', thrown instanceof Failure ? thrown.message : 'The credentials could not be checked.')
      }
    }, this.#heartbeatMs)
    timer.unref()
    const subscription = this.#hub.subscribe({
      types,
      receive: (event) => out.send(event),
      end: () => out.end('stopping', 'The service stops.'),
    })
    unsubscribe = subscription.unsubscribe
    // The caller may have left before the stream could notice.
    if (reply.raw.destroyed) finish()
    await subscription.ready
    const isAgain = request.headers['last-event-id'] !== undefined
    out.send({ id: this.#hub.lastId(), type: 'open', data: { types: [...types], heartbeatMs: this.#heartbeatMs } })
    // Earlier events are not kept.
    if (isAgain) out.send({ type: 'reset', data: { error: 'Events may have been missed; read everything again.' } })
  }
}

/** Callers without a name are distinguished by their address. */
function streamCaller({ caller, request }: Call): string {
  const who = caller?.who ?? ''
  return who.includes(':') ? who : (request.socket.remoteAddress ?? '')
}

/** The events that one caller gets. */
class EventStream {
  readonly #response: ServerResponse
  readonly #onEnd: () => void
  #isOpen = true

  /** `onEnd`: called once, when the stream has ended or the caller has closed it. */
  constructor(response: ServerResponse, onEnd: () => void) {
    this.#response = response
    this.#onEnd = onEnd
    const close = () => this.#close()
    response.on('close', close)
    // A caller that has closed its side asks for nothing more, and would count as a reader until the next heartbeat.
    response.socket?.once('end', () => response.destroy())
    response.on('error', close)
    response.writeHead(200, HEADERS)
    response.flushHeaders()
  }

  /** Writes an event; ends the stream instead if the caller reads too slowly. */
  send(event: Readonly<{ id?: string; type: string; data: object }>): void {
    this.#write(formatEvent(event))
  }

  /** A line that keeps proxies from closing an idle connection. */
  heartbeat(): void {
    this.#write(':\n\n')
  }

  /** Writes a last event `end` with the reason, and closes the connection. */
  end(reason: EndReason, error: string): void {
    if (!this.#isOpen) return
    const response = this.#response
    response.end(formatEvent({ type: 'end', data: { reason, error } }))
    // The connection of a caller that reads nothing would stay for ever.
    const timer = setTimeout(() => response.destroy(), LINGER_MS)
    timer.unref()
    response.once('close', () => clearTimeout(timer))
    this.#close()
  }

  #write(text: string): void {
    if (!this.#isOpen) return
    if (this.#response.writableLength > MAX_BUFFERED_BYTES) {
      this.end('slow', 'Events arrived faster than they were read; read all again.')
    } else this.#response.write(text)
  }

  #close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#onEnd()
  }
}

/** JSON has no line breaks, so an event has one line of data. */
const formatEvent = ({ id, type, data }: Readonly<{ id?: string; type: string; data: object }>): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`

class StreamShares {
  readonly #max: number
  readonly #streams = new Map<string, Set<() => void>>()
  #count = 0

  constructor(max: number) {
    this.#max = max
  }

  /** True if a stream is free, or another caller has more streams than the caller would have. */
  hasRoom(caller: string): boolean {
    return this.#count < this.#max || this.#countStreams(this.#largest()) > this.#countStreams(caller) + 1
  }

  /** Adds a stream; ends the newest one of the caller that has most if none is free. Out: removes the stream. */
  add(caller: string, end: () => void): () => void {
    if (this.#count >= this.#max) [...(this.#streams.get(this.#largest()) ?? [])].at(-1)?.()
    const own = this.#streams.get(caller) ?? new Set()
    this.#streams.set(caller, own.add(end))
    this.#count += 1
    return () => {
      if (!own.delete(end)) return
      this.#count -= 1
      if (own.size === 0 && this.#streams.get(caller) === own) this.#streams.delete(caller)
    }
  }

  #countStreams(caller: string): number {
    return this.#streams.get(caller)?.size ?? 0
  }

  #largest(): string {
    return [...this.#streams.keys()].reduce(
      (most, one) => (this.#countStreams(one) > this.#countStreams(most) ? one : most),
      '',
    )
  }
}
