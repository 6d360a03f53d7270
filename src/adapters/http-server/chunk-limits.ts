/**
 * Bounds what the chunks of request bodies cost. Node's parser runs through the 64 KiB that a socket read at once, which may
 * have ten thousand chunks, and makes a buffer of each: a microsecond and some hundred bytes. Neither a pause nor the end of the
 * socket stops it, so chunks are counted as the parser gives them, and it makes none once its listener is removed.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Failure } from '../../domain/failure.ts'

/** Programs that write text by text send chunks this short too, but longer ones on average. */
const MAX_TINY_CHUNKS = 5_000
const MIN_BYTES_ON_AVERAGE = 4

/** A body of smaller ones is read on in a later turn of the event loop where it has many at once. */
const MIN_LARGE_BYTES = 4 * 1024
const MAX_SMALL_AT_ONCE = 1_000

/** Of all bodies in one turn: the connections that are read in it add up. Beyond it, bodies of short chunks are refused soon. */
const MAX_SMALL_IN_TURN = 32_000
const MAX_CHUNKS_BEYOND = 100
const MIN_BYTES_BEYOND = 64

type Parser = { [slot: string]: unknown; incoming: IncomingMessage | null }
type TakeChunk = (this: Parser, chunk: Buffer) => void

/** Its name in Node's source: the number of its property is not public. */
const LISTENER = 'parserOnBody'

const isListener = (value: unknown): value is TakeChunk => typeof value === 'function' && value.name === LISTENER

/** Sets or removes the listener of the parser, for the sockets of chunked bodies. */
const listeners = new WeakMap<Socket, Readonly<{ set(): void; remove(): void }>>()
const refused = new WeakMap<IncomingMessage, Failure>()

/** Why a body is not read to its end; its parser gives no more of it. */
export const chunksRefused = (request: IncomingMessage): Failure | undefined => refused.get(request)

/** Nothing takes the rest of the body: no buffers are made of its chunks. */
export const ignoreBody = ({ socket }: IncomingMessage): void => listeners.get(socket)?.remove()

/** To be called for every request, before its first chunk is parsed. */
export function limitChunks({ headers, socket }: IncomingMessage): void {
  const known = listeners.get(socket)
  if (known !== undefined) known.set()
  if (known !== undefined || headers['transfer-encoding'] === undefined) return
  const { parser } = socket as Socket & { parser?: Parser | null }
  if (!parser) return
  const slot = Object.keys(parser).find((key) => isListener(parser[key]))
  if (slot === undefined) return
  const takeChunk = parser[slot] as TakeChunk
  let current: IncomingMessage | null = null
  let chunks = 0
  let bytes = 0
  const count = (request: IncomingMessage | null, { length }: Buffer): void => {
    if (request !== current) {
      current = request
      chunks = 0
      bytes = 0
    }
    chunks += 1
    bytes += length
    if (length < MIN_LARGE_BYTES) countSmall(socket)
    const failure = excess(chunks, bytes)
    if (failure === undefined || request === null) return
    refused.set(request, failure)
    ignoreBody(request)
  }
  function takeCounted(this: Parser, chunk: Buffer): void {
    count(this.incoming, chunk)
    takeChunk.call(this, chunk)
  }
  const listener = {
    set: () => {
      parser[slot] = takeCounted
    },
    remove: () => {
      parser[slot] = undefined
    },
  }
  listener.set()
  listeners.set(socket, listener)
  // By then Node has kept the parser for other connections.
  socket.once('close', () => {
    listeners.delete(socket)
    parser[slot] = takeChunk
  })
}

function excess(chunks: number, bytes: number): Failure | undefined {
  if (chunks > MAX_TINY_CHUNKS && bytes < chunks * MIN_BYTES_ON_AVERAGE) {
    return new Failure(
      'REQUEST_MALFORMED',
      `The body has more than ${MAX_TINY_CHUNKS} chunks of less than ${MIN_BYTES_ON_AVERAGE} bytes on average; send it in larger chunks.`,
      { headers: { connection: 'close' } },
    )
  }
  if (smallInTurn <= MAX_SMALL_IN_TURN || chunks <= MAX_CHUNKS_BEYOND || bytes >= chunks * MIN_BYTES_BEYOND)
    return undefined
  return new Failure(
    'OVERLOADED',
    'Bodies arrive in more small chunks than the service can read at once; send this one again in a moment, in larger chunks.',
    { headers: { connection: 'close' } },
  )
}

let smallInTurn = 0
let isCounting = false
const waiting = new Set<Socket>()

function countSmall(socket: Socket): void {
  smallInTurn += 1
  if (smallInTurn > MAX_SMALL_AT_ONCE && !waiting.has(socket)) {
    waiting.add(socket)
    socket.pause()
    // Node resumes a socket whenever its request may be read.
    socket.resume = () => socket
  }
  if (isCounting) return
  isCounting = true
  setImmediate(nextTurn)
}

/** One socket in each turn. */
function nextTurn(): void {
  smallInTurn = 0
  const [next] = waiting
  isCounting = next !== undefined
  if (next === undefined) return
  waiting.delete(next)
  Reflect.deleteProperty(next, 'resume')
  next.resume()
  setImmediate(nextTurn)
}
