/** Writes OpenAPI documents in a thread of their own, so that messages do not wait for those of many endpoints. */
import { extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { PublishedEndpoints, WrittenOpenApi, writeOpenApi } from './openapi-document.ts'
import type { EndpointBatch, WriteReply, WriteTask } from './openapi-worker.ts'

export type OpenApiThread = Readonly<{
  /** As the function of that name; also rejects if the thread cannot be started or stops meanwhile. */
  writeOpenApi: typeof writeOpenApi
  /** Stops the thread; the promises of unfinished documents reject. */
  close(): Promise<void>
}>

/** In the folder of this file, in the source as in the bundle. */
const WORKER = new URL(`openapi-worker${extname(import.meta.url)}`, import.meta.url)

/** An idle thread holds the memory of its code and of the last document. */
const IDLE_MS = 10_000

/** The thread of messages writes this much without a pause: about 0.1 ms. */
const BATCH_CHARACTERS = 32_768

/** Starts the thread at the first document, and stops it after `idleMs` without one. An idle thread keeps no process alive. */
export function createOpenApiThread(idleMs = IDLE_MS): OpenApiThread {
  let worker: Worker | undefined
  let writing = 0
  let idle: NodeJS.Timeout | undefined
  const start = (): Worker => {
    const started = new Worker(WORKER)
    started.unref()
    // The promise of an unfinished document has a listener of its own; without any, the process would stop.
    started.on('error', () => {})
    started.on('exit', () => {
      if (worker === started) worker = undefined
    })
    return started
  }
  const stop = async (): Promise<void> => {
    clearTimeout(idle)
    const stopped = worker
    // A document that comes meanwhile gets a new one.
    worker = undefined
    await stopped?.terminate()
  }
  return {
    writeOpenApi: async (endpoints, info, settings, signal) => {
      clearTimeout(idle)
      worker ??= start()
      writing += 1
      try {
        return await writeIn(worker, endpoints, { info, settings }, signal)
      } finally {
        writing -= 1
        if (writing === 0) idle = setTimeout(stop, idleMs).unref()
      }
    },
    close: stop,
  }
}

async function writeIn(
  worker: Worker,
  endpoints: PublishedEndpoints,
  task: Omit<WriteTask, 'port'>,
  signal: AbortSignal | undefined,
): Promise<WrittenOpenApi> {
  const { port1: own, port2: port } = new MessageChannel()
  const batches = batchesOf(endpoints)
  const { promise, resolve, reject } = Promise.withResolvers<WrittenOpenApi>()
  const handOver = async (): Promise<void> => {
    const { value = 'all' } = await batches.next()
    own.postMessage(value)
  }
  own.on('message', (reply: WriteReply) => {
    if (reply === 'more') handOver().catch(reject)
    else if ('fault' in reply) reject(reply.fault)
    else resolve(reply)
  })
  let fault: unknown
  const fail = (thrown: unknown): void => {
    fault = thrown
  }
  const lose = (): void => reject(new Error('The thread that writes OpenAPI documents stopped.', { cause: fault }))
  const leave = (): void => reject(signal?.reason)
  worker.once('error', fail)
  worker.once('exit', lose)
  signal?.addEventListener('abort', leave)
  try {
    signal?.throwIfAborted()
    worker.postMessage({ ...task, port } satisfies WriteTask, [port])
    return await promise
  } finally {
    worker.off('error', fail)
    worker.off('exit', lose)
    signal?.removeEventListener('abort', leave)
    own.close()
    await batches.return(undefined)
  }
}

/** As text, which V8 writes and copies in a fifth of the time that a structured clone takes. */
async function* batchesOf(endpoints: PublishedEndpoints): AsyncGenerator<EndpointBatch, undefined, undefined> {
  let texts: string[] = []
  let characters = 0
  for await (const { endpoint, examples } of endpoints) {
    const text = JSON.stringify({ endpoint, examples })
    texts.push(text)
    characters += text.length
    if (characters < BATCH_CHARACTERS) continue
    yield { endpoints: `[${texts}]` }
    texts = []
    characters = 0
  }
  if (texts.length > 0) yield { endpoints: `[${texts}]` }
}
