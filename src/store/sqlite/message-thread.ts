/** Calls to the thread of the message log, from the thread of the messages. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../../domain/ports/store-port.ts'
import { storeClosed } from '../sql/store-faults.ts'
import type { LogCall, LogReply, ThreadData } from './message-worker.ts'

export type MessageThread = Readonly<{
  /** Rejects with StoreUnavailable if the file does not answer. */
  call<T>(call: LogCall, transfer?: readonly ArrayBuffer[]): Promise<T>
  /** Accepts no more calls; resolves when the earlier ones are done and the file is closed. */
  close(): Promise<void>
}>

/** In the folder of this file, in the source as in the bundle. */
const WORKER = new URL(`message-worker${extname(import.meta.url)}`, import.meta.url)

type PendingCall = Readonly<{ resolve(value: unknown): void; reject(reason: unknown): void }>

/** Starts the thread at the first call, and a new one after a thread has ended. An idle thread keeps no process alive. */
export function startMessageThread(data: () => ThreadData): MessageThread {
  let worker: Worker | undefined
  let pending: PendingCall[] = []
  let closing: Promise<void> | undefined

  function lose(ended: Worker, cause: unknown): void {
    if (worker !== ended) return
    worker = undefined
    const lost = pending
    pending = []
    for (const { reject } of lost) reject(threadFault('ended', cause))
  }

  function start(): Worker {
    const started = startWorker(data())
    let fault: unknown
    started.on('message', (reply: LogReply) => {
      const next = pending.shift()
      if (pending.length === 0) started.unref()
      if ('value' in reply) next?.resolve(reply.value)
      else next?.reject('unavailable' in reply ? new StoreUnavailable(reply.unavailable) : new Error(reply.fault))
    })
    // The pending calls are rejected at the `exit` that follows.
    started.on('error', (thrown) => {
      fault = thrown
    })
    started.on('exit', () => lose(started, fault))
    return started
  }

  function send<T>(call: LogCall, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      worker ??= start()
      pending.push({ resolve: (value) => resolve(value as T), reject })
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

/** For lack of file descriptors or memory, for example: a retry may succeed. */
function threadFault(what: string, cause: unknown): StoreUnavailable {
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  return new StoreUnavailable(`The thread of the message log ${what}${reason}`.replace(/\.?$/, '.'), { cause })
}
