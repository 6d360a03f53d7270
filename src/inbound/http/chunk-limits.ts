/**
 * Bounds what the chunks of request bodies cost. Node's parser runs through the 64 KiB that a socket read at once, which
 * may have ten thousand chunks, and makes a buffer of each: a microsecond and some hundred bytes. Neither a pause nor the
 * end of the socket stops it, so chunks are counted as the parser gives them, and it makes none once its listener is
 * removed.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Failure } from '../../core/failure.ts'

/** Programs that write text by text send chunks this short too, but longer ones on average. */
const MAX_TINY_CHUNKS = 5_000
const MIN_BYTES_ON_AVERAGE = 4

/** A body of smaller ones is read on in a later iteration of the event loop where many arrived at once. */
const MIN_LARGE_BYTES = 4 * 1024
const MAX_SMALL_AT_ONCE = 1_000

/**
 * Of all bodies in one iteration: the connections that are read in it add up. Beyond it, those that sent many of them are
 * refused: as few as keep an iteration short where there are hundreds of connections, and as many as a caller sends whose chunks
 * are only short.
 */
const MAX_SMALL_PER_ITERATION = 32_000
const MAX_OF_ONE_BEYOND = 250
const MIN_BYTES_BEYOND = 64

type Parser = { [slot: string]: unknown }
type TakeChunk = (this: Parser, chunk: Buffer) => void

/** Its name in Node's source: the number of its property is not public. */
const LISTENER = 'parserOnBody'

const isListener = (value: unknown): value is TakeChunk => typeof value === 'function' && value.name === LISTENER

/** Out: whether the chunk belongs to the body; otherwise this one was too many. */
type CountChunk = (chunk: Buffer) => boolean

type Listener = Readonly<{ countWith(count: CountChunk): void; remove(): void; restore(): void }>

/** Of the parsers of sockets that had a chunked body. */
const listeners = new WeakMap<Socket, Listener>()

/** Why a body is not read to its end. For readers that come after the event 'error' of the request. */
export const chunksRefused = ({ errored }: IncomingMessage): Failure | undefined =>
  errored instanceof Failure ? errored : undefined

/** Nothing takes the rest of the body: no buffers are made of its chunks. */
export const ignoreBody = ({ socket }: IncomingMessage): void => listeners.get(socket)?.remove()

/**
 * To be called for every request, before its first chunk is parsed. A request whose chunks are too many fails as a stream.
 * `onUnbounded` is called once in the process, if its Node.js makes buffers of chunks also when they are refused.
 */
export function limitChunks(request: IncomingMessage, onUnbounded: () => void): void {
  const { headers, socket } = request
  const known = listeners.get(socket)
  if (headers['transfer-encoding'] === undefined) {
    known?.restore()
    return
  }
  const count = createChunkCounter(request)
  const listener = known ?? findListener(socket)
  listener?.countWith(count)
  if (listener !== undefined) return
  if (!isReported) onUnbounded()
  isReported = true
  const push = request.push.bind(request)
  request.push = (chunk: Buffer | null) => (chunk !== null && !count(chunk) ? true : push(chunk))
}

let isReported = false

/** Out: undefined if this Node.js has another parser, or another listener. */
function findListener(socket: Socket): Listener | undefined {
  const { parser } = socket as Socket & { parser?: Parser | null }
  if (!parser) return undefined
  const slot = Object.keys(parser).find((key) => isListener(parser[key]))
  if (slot === undefined) return undefined
  const takeChunk = parser[slot] as TakeChunk
  const listener: Listener = {
    countWith: (count) => {
      parser[slot] = function takeCounted(this: Parser, chunk: Buffer): void {
        if (count(chunk)) takeChunk.call(this, chunk)
      }
    },
    remove: () => {
      parser[slot] = undefined
    },
    restore: () => {
      parser[slot] = takeChunk
    },
  }
  listeners.set(socket, listener)
  // By then Node has kept the parser for other connections.
  socket.once('close', () => {
    listeners.delete(socket)
    listener.restore()
  })
  return listener
}

function createChunkCounter(request: IncomingMessage): CountChunk {
  const sender = senderFor(request.socket)
  let chunks = 0
  let bytes = 0
  let isRefused = false
  return ({ length }) => {
    if (isRefused) return false
    chunks += 1
    bytes += length
    if (length < MIN_LARGE_BYTES) countSmall(sender)
    const failure = excess(chunks, bytes, sender)
    if (failure === undefined) return true
    isRefused = true
    refuse(request, failure)
    return false
  }
}

/** No reader can take a part of the body for all of it: the request neither ends nor is complete, and holds nothing. */
function refuse(request: IncomingMessage, failure: Failure): void {
  ignoreBody(request)
  Object.defineProperty(request, 'complete', { get: () => false, set: () => {} })
  // Node's would close the socket, on which the answer is to be sent.
  request._destroy = (error, done) => done(error)
  // There may be no reader yet.
  request.on('error', () => {})
  request.destroy(failure)
  request.read()
  // Node may have paused the socket until somebody reads, and the connection may carry another request.
  request._read(0)
}

function excess(chunks: number, bytes: number, sender: Sender): Failure | undefined {
  if (chunks > MAX_TINY_CHUNKS && bytes < chunks * MIN_BYTES_ON_AVERAGE) {
    return new Failure(
      'REQUEST_MALFORMED',
      `The body has more than ${MAX_TINY_CHUNKS} chunks of less than ${MIN_BYTES_ON_AVERAGE} bytes on average; send it in larger chunks.`,
      { headers: { connection: 'close' } },
    )
  }
  const isFlood = smallInIteration > MAX_SMALL_PER_ITERATION && sender.small > MAX_OF_ONE_BEYOND
  if (!isFlood || bytes >= chunks * MIN_BYTES_BEYOND) return undefined
  return new Failure(
    'OVERLOADED',
    'Bodies arrive in more small chunks than the service can read at once; send this one again in a moment, in larger chunks.',
    { headers: { connection: 'close' } },
  )
}

/** `small`: how many small chunks its socket sent in the iteration in which it last did. */
type Sender = { readonly socket: Socket; iteration: number; small: number }

const senders = new WeakMap<Socket, Sender>()

function senderFor(socket: Socket): Sender {
  const sender = senders.get(socket) ?? { socket, iteration, small: 0 }
  senders.set(socket, sender)
  return sender
}

let iteration = 0
let smallInIteration = 0
let isCounting = false
const waiting = new Set<Socket>()

function countSmall(sender: Sender): void {
  const { socket } = sender
  if (sender.iteration !== iteration) {
    sender.iteration = iteration
    sender.small = 0
  }
  sender.small += 1
  smallInIteration += 1
  if (smallInIteration > MAX_SMALL_AT_ONCE && !waiting.has(socket)) {
    waiting.add(socket)
    socket.pause()
    // Node resumes a socket whenever its request may be read.
    socket.resume = () => socket
  }
  if (isCounting) return
  isCounting = true
  setImmediate(nextIteration)
}

/** One socket in each iteration. */
function nextIteration(): void {
  iteration += 1
  smallInIteration = 0
  const [next] = waiting
  isCounting = next !== undefined
  if (next === undefined) return
  waiting.delete(next)
  // First: the others are not to wait for ever, whatever becomes of this one.
  setImmediate(nextIteration)
  Reflect.deleteProperty(next, 'resume')
  try {
    next.resume()
  } catch (thrown) {
    next.destroy(thrown as Error)
  }
}
