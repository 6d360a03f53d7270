/** Calls to the thread of the message log, from the thread of the messages. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../../domain/ports.ts'
import { storeClosed } from './faults.ts'
import type { Call, Reply, ThreadData } from './message-worker.ts'

export type MessageThread = Readonly<{
  /** Rejects with StoreUnavailable where the file does not answer. */
  call<T>(call: Call, transfer?: readonly ArrayBuffer[]): Promise<T>
  /** Takes no more calls; resolves when those before it are done and the file is closed. */
  close(): Promise<void>
}>

/** Beside this file: in the source, or where both are bundled. */
const WORKER = new URL(`message-worker${extname(import.meta.url)}`, import.meta.url)

type Waiting = Readonly<{ resolve(value: unknown): void; reject(reason: unknown): void }>

/** Starts the thread with the first call, and another one after a thread that ended. It keeps no process alive at rest. */
export function startMessageThread(data: () => ThreadData): MessageThread {
  let worker: Worker | undefined
  let waiting: Waiting[] = []
  let closing: Promise<void> | undefined

  function lose(ended: Worker, cause: unknown): void {
    if (worker !== ended) return
    worker = undefined
    const lost = waiting
    waiting = []
    for (const { reject } of lost) reject(threadFault('ended', cause))
  }

  function start(): Worker {
    const started = startWorker(data())
    let fault: unknown
    started.on('message', (reply: Reply) => {
      const next = waiting.shift()
      if (waiting.length === 0) started.unref()
      if ('value' in reply) next?.resolve(reply.value)
      else next?.reject('unavailable' in reply ? new StoreUnavailable(reply.unavailable) : new Error(reply.fault))
    })
    // Whoever waits is told by the end that follows.
    started.on('error', (thrown) => {
      fault = thrown
    })
    started.on('exit', () => lose(started, fault))
    return started
  }

  function send<T>(call: Call, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      worker ??= start()
      waiting.push({ resolve: (value) => resolve(value as T), reject })
      worker.ref()
      worker.postMessage(call, transfer)
    })
  }

  async function end(): Promise<void> {
    if (worker === undefined) return
    await send({ kind: 'close' })
    await worker?.terminate()
  }

  return {
    call: async (call, transfer) => {
      if (closing !== undefined) throw storeClosed()
      return send(call, transfer)
    },
    close: () => {
      closing ??= end()
      return closing
    },
  }
}

function startWorker(workerData: ThreadData): Worker {
  try {
    return new Worker(WORKER, { workerData })
  } catch (thrown) {
    throw threadFault('could not be started', thrown)
  }
}

/** As without file descriptors or memory: what waits may be written later. */
function threadFault(what: string, cause: unknown): StoreUnavailable {
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  return new StoreUnavailable(`The thread of the message log ${what}${reason}`.replace(/\.?$/, '.'), { cause })
}
