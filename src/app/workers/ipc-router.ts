/** Routes the requests of workers to all workers, in the primary. */
import type { WorkerCounts } from '../../core/worker-processes.ts'
import { addExpositions } from '../../observe/metrics/add-expositions.ts'
import type { Gathered, GatherOptions, ToPrimary, WorkerRequest, WorkerResponses } from './ipc-protocol.ts'
import { createScatterGather } from './scatter-gather.ts'
import { send, type WorkerHandle } from './worker-handle.ts'

export type IpcRouter = Readonly<{
  handle(worker: WorkerHandle, message: Extract<ToPrimary, { kind: 'join' | 'response' | 'gather' }>): void
  /** The worker has exited. */
  leave(worker: WorkerHandle): void
}>

/** The longest wait for responses, without `extraMs` of the request. */
const TIMEOUT_MS: Readonly<Record<WorkerRequest, number>> = {
  catchUp: 10_000,
  reloadCaptures: 10_000,
  flushRecords: 2_000,
  flushCounts: 2_000,
  status: 2_000,
  messageCounts: 2_000,
  drift: 2_000,
  metrics: 5_000,
}

export function createIpcRouter(handles: ReadonlySet<WorkerHandle>, counts: () => WorkerCounts): IpcRouter {
  const scatterGather = createScatterGather<WorkerHandle, WorkerResponses[WorkerRequest]>()
  /** The sum of the last expositions of lost workers. */
  let lost = Promise.resolve('')

  async function lostMetrics(): Promise<string> {
    for (;;) {
      const now = lost
      const text = await now
      if (now === lost) return text
    }
  }

  async function gather(
    sender: WorkerHandle,
    request: WorkerRequest,
    { extraMs, endpointId }: GatherOptions,
  ): Promise<Gathered> {
    // The worker that announces a change has activated it already.
    const members = [...handles].filter((handle) => handle.joined && !(request === 'catchUp' && handle === sender))
    const { responses, missing } = await scatterGather.gather(
      members,
      (handle, call) => send(handle, { kind: 'request', call, request, endpointId }),
      TIMEOUT_MS[request] + extraMs,
    )
    if (request !== 'metrics') return { responses: [...responses.values()], missing, workers: counts(), lost: [] }
    const text = await lostMetrics()
    // A worker that does not respond counts with its last exposition: a sum that decreases looks like a restart.
    return { responses: [...handles].map(({ metrics }) => metrics), missing, workers: counts(), lost: [text] }
  }

  return {
    handle: (worker, message) => {
      switch (message.kind) {
        case 'join':
          worker.joined = true
          send(worker, { kind: 'joined' })
          return
        case 'response':
          if (typeof message.response === 'string') worker.metrics = message.response
          scatterGather.respond(worker, message.call, message.response)
          return
        case 'gather':
          void gather(worker, message.request, message).then((gathered) =>
            send(worker, { kind: 'gathered', call: message.call, gathered }),
          )
      }
    },
    leave: (worker) => {
      scatterGather.leave(worker)
      if (worker.metrics !== '') lost = lost.then((text) => addExpositions([], [text, worker.metrics]))
    },
  }
}
