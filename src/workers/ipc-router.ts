/** Routes the questions of workers to all workers, in the primary. */
import type { WorkerCounts } from '../domain/worker-processes.ts'
import { addExpositions } from '../metrics/add-expositions.ts'
import type { Answers, Gathered, Question, ToPrimary } from './ipc-protocol.ts'
import { createScatterGather } from './scatter-gather.ts'
import { send, type WorkerHandle } from './worker-handle.ts'

export type IpcRouter = Readonly<{
  hear(handle: WorkerHandle, message: Extract<ToPrimary, { kind: 'join' | 'answered' | 'gather' }>): void
  /** The worker has exited. */
  leave(handle: WorkerHandle): void
}>

/** The longest wait for answers. */
const TIMEOUT_MS: Readonly<Record<Question, number>> = {
  follow: 10_000,
  settle: 2_000,
  count: 2_000,
  status: 2_000,
  metrics: 5_000,
}

export function createIpcRouter(handles: ReadonlySet<WorkerHandle>, counts: () => WorkerCounts): IpcRouter {
  const scatterGather = createScatterGather<WorkerHandle, Answers[Question]>()
  /** The sum of the last expositions of lost workers. */
  let lost = Promise.resolve('')

  async function lostMetrics(): Promise<string> {
    for (;;) {
      const now = lost
      const text = await now
      if (now === lost) return text
    }
  }

  async function gather(asker: WorkerHandle, question: Question): Promise<Gathered> {
    // The worker that announces a change has it active already.
    const asked = [...handles].filter((handle) => handle.joined && !(question === 'follow' && handle === asker))
    const { answers, missing } = await scatterGather.gather(
      asked,
      (handle, call) => send(handle, { kind: 'asked', call, question }),
      TIMEOUT_MS[question],
    )
    if (question !== 'metrics') return { answers: [...answers.values()], missing, workers: counts(), lost: [] }
    const text = await lostMetrics()
    // A worker that does not answer now counts with its last exposition: a sum that goes down looks like a restart.
    return { answers: [...handles].map(({ metrics }) => metrics), missing, workers: counts(), lost: [text] }
  }

  return {
    hear: (handle, message) => {
      switch (message.kind) {
        case 'join':
          handle.joined = true
          send(handle, { kind: 'joined' })
          return
        case 'answered':
          if (typeof message.answer === 'string') handle.metrics = message.answer
          scatterGather.answered(handle, message.call, message.answer)
          return
        case 'gather':
          void gather(handle, message.question).then((gathered) =>
            send(handle, { kind: 'gathered', call: message.call, gathered }),
          )
      }
    },
    leave: (handle) => {
      scatterGather.gone(handle)
      if (handle.metrics !== '') lost = lost.then((text) => addExpositions([], [text, handle.metrics]))
    },
  }
}
