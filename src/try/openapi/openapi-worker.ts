/** THE THREAD that writes OpenAPI documents of many endpoints. */
import { on } from 'node:events'
import { getPriority, setPriority } from 'node:os'
import { type MessagePort, parentPort } from 'node:worker_threads'
import { type DocumentInfo, type WrittenOpenApi, writeOpenApi } from './openapi-document.ts'
import type { PublishedEndpoint } from './published-operation.ts'
import type { PublishSettings } from './request-schema.ts'

/** A document to write. Its port carries the endpoints, and the document back; the writing stops when it is closed. */
export type WriteTask = Readonly<{ info: DocumentInfo; settings: PublishSettings; port: MessagePort }>

/** Endpoints as a JSON array, or that there are no more. */
export type EndpointBatch = Readonly<{ endpoints: string }> | 'all'

export type WriteReply = 'more' | WrittenOpenApi | Readonly<{ fault: unknown }>

/** Below the thread of messages, which then gets about ten times as much time on a busy core. */
const LEVELS_BELOW = 10
const LOWEST_PRIORITY = 19

// Elsewhere a priority belongs to the whole process.
if (process.platform === 'linux') setPriority(Math.min(LOWEST_PRIORITY, getPriority() + LEVELS_BELOW))

parentPort?.on('message', async ({ info, settings, port }: WriteTask) => {
  const send = (reply: WriteReply, ...own: ArrayBuffer[]): void => port.postMessage(reply, own)
  const left = new AbortController()
  port.on('close', () => left.abort())
  try {
    const written = await writeOpenApi(received(port, send), info, settings, left.signal)
    send(written, written.bytes.buffer)
  } catch (fault) {
    send({ fault })
  }
})

/** Asks for the next batch before it returns the endpoints of one, so that the thread does not wait. */
async function* received(port: MessagePort, send: (reply: WriteReply) => void): AsyncGenerator<PublishedEndpoint> {
  const batches = on(port, 'message', { close: ['close'] })
  send('more')
  for await (const [batch] of batches as AsyncIterable<[EndpointBatch]>) {
    if (batch === 'all') return
    send('more')
    yield* JSON.parse(batch.endpoints) as PublishedEndpoint[]
  }
}
