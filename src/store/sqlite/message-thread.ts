/** Calls to the thread of the message log, from the thread of the messages. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { storeClosed } from '../sql/database.ts'
import { StoreUnavailable } from '../store-access.ts'
import type { LogCall, LogReply, ThreadData } from './message-worker.ts'

/** In the folder of this file, in the source as in the bundle. */
const WORKER = new URL(`message-worker${extname(import.meta.url)}`, import.meta.url)

type PendingCall = Readonly<{ resolve(value: unknown): void; reject(reason: unknown): void }>

/** Starts the thread at the first call, and a new one after a thread has ended. An idle thread keeps no process alive. */
export class MessageThread {
  readonly #data: () => ThreadData
  #worker: Worker | undefined
  #pending: PendingCall[] = []
  #closing: Promise<void> | undefined

  constructor(data: () => ThreadData) {
    this.#data = data
  }

  /** Rejects with StoreUnavailable if the file does not answer. */
  async call<T>(call: LogCall, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    if (this.#closing !== undefined) throw storeClosed()
    return this.#send(call, transfer)
  }

  /** Accepts no more calls; resolves when the earlier ones are done and the file is closed. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  #send<T>(call: LogCall, transfer: readonly ArrayBuffer[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#worker ??= this.#start()
      this.#pending.push({ resolve: (value) => resolve(value as T), reject })
      this.#worker.ref()
      this.#worker.postMessage(call, transfer)
    })
  }

  #start(): Worker {
    const started = startWorker(this.#data())
    let fault: unknown
    started.on('message', (reply: LogReply) => {
      const next = this.#pending.shift()
      if (this.#pending.length === 0) started.unref()
      if ('value' in reply) next?.resolve(reply.value)
      else next?.reject('unavailable' in reply ? new StoreUnavailable(reply.unavailable) : new Error(reply.fault))
    })
    // The pending calls are rejected at the `exit` that follows.
    started.on('error', (thrown) => {
      fault = thrown
    })
    started.on('exit', () => this.#lose(started, fault))
    return started
  }

  #lose(ended: Worker, cause: unknown): void {
    if (this.#worker !== ended) return
    this.#worker = undefined
    const lost = this.#pending
    this.#pending = []
    for (const { reject } of lost) reject(threadFault('ended', cause))
  }

  async #end(): Promise<void> {
    if (this.#worker === undefined) return
    await this.#send({ kind: 'close' }, [])
    await this.#worker?.terminate()
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
