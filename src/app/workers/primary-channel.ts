/** The worker's end of the channel to the primary. */
import { buffer } from 'node:stream/consumers'
import type {
  Gathered,
  GatherOptions,
  Start,
  ToPrimary,
  ToWorker,
  WorkerReport,
  WorkerRequest,
  WorkerResponses,
} from './ipc-protocol.ts'

export type PrimaryChannel = Readonly<{
  /** The first message of the primary. */
  started: Promise<Start>
  /** Resolves when the primary sends requests to this worker from then on. */
  join(report: WorkerReport): Promise<void>
  /** Sends a request to all workers, this one included. */
  gather<R extends WorkerRequest>(request: R, options?: Partial<GatherOptions>): Promise<Gathered<R>>
  onAdminister(listen: (adminPort: number) => void): void
  onStop(stop: () => void): void
  /** Resolves when the message is sent, or cannot be sent. */
  send(message: ToPrimary): Promise<void>
}>

/** Opens the channel of this process and listens at once. */
export function openPrimaryChannel(): PrimaryChannel {
  const started = Promise.withResolvers<Start>()
  const joined = Promise.withResolvers<void>()
  const administer = Promise.withResolvers<number>()
  const stop = Promise.withResolvers<void>()
  const waiting = new Map<number, (gathered: Gathered) => void>()
  let own: WorkerReport | undefined
  let calls = 0

  // Without a primary the message is dropped, since this process exits soon.
  const send = (message: ToPrimary): Promise<void> =>
    new Promise((resolve) => {
      if (process.send === undefined) resolve()
      else process.send(message, undefined, undefined, () => resolve())
    })

  async function respond({ call, request, endpointId }: Extract<ToWorker, { kind: 'request' }>): Promise<void> {
    const response = own && (await responseOf(own, request, endpointId).catch(() => undefined))
    await send({ kind: 'response', call, response })
  }

  process.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'start':
        started.resolve(message.start)
        return
      case 'joined':
        joined.resolve()
        return
      case 'administer':
        administer.resolve(message.adminPort)
        return
      case 'request':
        void respond(message)
        return
      case 'gathered':
        waiting.get(message.call)?.(message.gathered)
        waiting.delete(message.call)
        return
      case 'stop':
        stop.resolve()
    }
  })

  return {
    started: started.promise,
    join: async (report) => {
      own = report
      await send({ kind: 'join' })
      await joined.promise
    },
    gather: <R extends WorkerRequest>(request: R, { extraMs = 0, endpointId = '' }: Partial<GatherOptions> = {}) =>
      new Promise<Gathered<R>>((resolve) => {
        calls += 1
        waiting.set(calls, (gathered) => resolve(gathered as Gathered<R>))
        void send({ kind: 'gather', call: calls, request, extraMs, endpointId })
      }),
    onAdminister: (listen) => void administer.promise.then(listen),
    onStop: (listener) => void stop.promise.then(listener),
    send,
  }
}

async function responseOf(
  own: WorkerReport,
  request: WorkerRequest,
  endpointId: string,
): Promise<WorkerResponses[WorkerRequest]> {
  switch (request) {
    case 'drift':
      return own.drift(endpointId)
    case 'status':
    case 'messageCounts':
      return own[request]()
    case 'metrics':
      return (await buffer(own.metrics())).toString()
    default:
      await own[request]()
      return true
  }
}
