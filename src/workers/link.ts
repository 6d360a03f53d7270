/** A worker's end of the channel to the primary. */
import type { Answers, Gathered, Question, Start, ToPrimary, ToWorker } from './protocol.ts'
import type { Own } from './worker-cluster.ts'

export type Link = Readonly<{
  /** What the primary says first. */
  started: Promise<Start>
  /** Resolves when the primary has this worker answer, from then on. */
  join(own: Own): Promise<void>
  /** Asks all workers, this one too. */
  gather<Q extends Question>(question: Q): Promise<Gathered<Q>>
  onAdminister(listen: (adminPort: number) => void): void
  onStop(stop: () => void): void
  /** Resolves when it is on its way, or cannot be. */
  tell(message: ToPrimary): Promise<void>
}>

/** Of the process that this is; begins to listen at once. */
export function openLink(): Link {
  const started = Promise.withResolvers<Start>()
  const joined = Promise.withResolvers<void>()
  const administer = Promise.withResolvers<number>()
  const stop = Promise.withResolvers<void>()
  const waiting = new Map<number, (gathered: Gathered) => void>()
  let own: Own | undefined
  let calls = 0

  // Where the primary is gone there is nobody to tell, and this process ends.
  const tell = (message: ToPrimary): Promise<void> =>
    new Promise((resolve) => {
      if (process.send === undefined) resolve()
      else process.send(message, undefined, undefined, () => resolve())
    })

  async function answer(call: number, question: Question): Promise<void> {
    const given = own && (await answerOf(own, question).catch(() => undefined))
    await tell({ kind: 'answered', call, answer: given })
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
      case 'asked':
        void answer(message.call, message.question)
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
    join: async (answers) => {
      own = answers
      await tell({ kind: 'join' })
      await joined.promise
    },
    gather: <Q extends Question>(question: Q) =>
      new Promise<Gathered<Q>>((resolve) => {
        calls += 1
        waiting.set(calls, (gathered) => resolve(gathered as Gathered<Q>))
        void tell({ kind: 'gather', call: calls, question })
      }),
    onAdminister: (listen) => void administer.promise.then(listen),
    onStop: (end) => void stop.promise.then(end),
    tell,
  }
}

async function answerOf(own: Own, question: Question): Promise<Answers[Question]> {
  switch (question) {
    case 'status':
      return own.status()
    case 'metrics':
      return Buffer.from(await own.metrics()).toString()
    default:
      await own[question]()
      return true
  }
}
