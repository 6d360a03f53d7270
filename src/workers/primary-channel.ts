/** The worker's end of the channel to the primary. */
import type { Answers, Gathered, Question, Start, ToPrimary, ToWorker, WorkerReport } from './ipc-protocol.ts'

export type PrimaryChannel = Readonly<{
  /** The first message of the primary. */
  started: Promise<Start>
  /** Resolves when the primary asks this worker from then on. */
  join(report: WorkerReport): Promise<void>
  /** Asks all workers, this one included. */
  gather<Q extends Question>(question: Q): Promise<Gathered<Q>>
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

  // Without a primary the message is dropped: this process exits soon.
  const send = (message: ToPrimary): Promise<void> =>
    new Promise((resolve) => {
      if (process.send === undefined) resolve()
      else process.send(message, undefined, undefined, () => resolve())
    })

  async function answer(call: number, question: Question): Promise<void> {
    const given = own && (await answerOf(own, question).catch(() => undefined))
    await send({ kind: 'answered', call, answer: given })
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
    join: async (report) => {
      own = report
      await send({ kind: 'join' })
      await joined.promise
    },
    gather: <Q extends Question>(question: Q) =>
      new Promise<Gathered<Q>>((resolve) => {
        calls += 1
        waiting.set(calls, (gathered) => resolve(gathered as Gathered<Q>))
        void send({ kind: 'gather', call: calls, question })
      }),
    onAdminister: (listen) => void administer.promise.then(listen),
    onStop: (end) => void stop.promise.then(end),
    send,
  }
}

async function answerOf(own: WorkerReport, question: Question): Promise<Answers[Question]> {
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
