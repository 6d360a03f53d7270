/** What workers ask of each other, by way of the primary. */
import type { WorkerCounts } from '../domain/ports.ts'
import { addExpositions } from '../metrics/add-expositions.ts'
import { type Member, send } from './member.ts'
import type { Answers, Gathered, Question, ToPrimary } from './protocol.ts'
import { createScatterGather } from './scatter-gather.ts'

export type IpcRouter = Readonly<{
  hear(member: Member, message: Extract<ToPrimary, { kind: 'join' | 'answered' | 'gather' }>): void
  /** It has ended. */
  leave(member: Member): void
}>

/** How long answers are waited for. */
const PATIENCE_MS: Readonly<Record<Question, number>> = {
  follow: 10_000,
  settle: 2_000,
  count: 2_000,
  status: 2_000,
  metrics: 5_000,
}

export function createIpcRouter(members: ReadonlySet<Member>, counts: () => WorkerCounts): IpcRouter {
  const scatterGather = createScatterGather<Member, Answers[Question]>()
  /** What those that are lost had counted when they told last. */
  let lost = Promise.resolve('')

  async function lostMetrics(): Promise<string> {
    for (;;) {
      const now = lost
      const text = await now
      if (now === lost) return text
    }
  }

  async function gather(asker: Member, question: Question): Promise<Gathered> {
    // Whoever announces a change has it in force.
    const asked = [...members].filter((member) => member.joined && !(question === 'follow' && member === asker))
    const { answers, missing } = await scatterGather.gather(
      asked,
      (member, call) => send(member, { kind: 'asked', call, question }),
      PATIENCE_MS[question],
    )
    if (question !== 'metrics') return { answers: [...answers.values()], missing, workers: counts(), lost: [] }
    const text = await lostMetrics()
    // Of one that does not answer now, what it told last: a sum that goes down looks like a new start.
    return { answers: [...members].map(({ metrics }) => metrics), missing, workers: counts(), lost: [text] }
  }

  return {
    hear: (member, message) => {
      switch (message.kind) {
        case 'join':
          member.joined = true
          send(member, { kind: 'joined' })
          return
        case 'answered':
          if (typeof message.answer === 'string') member.metrics = message.answer
          scatterGather.answered(member, message.call, message.answer)
          return
        case 'gather':
          void gather(member, message.question).then((gathered) =>
            send(member, { kind: 'gathered', call: message.call, gathered }),
          )
      }
    },
    leave: (member) => {
      scatterGather.gone(member)
      if (member.metrics !== '') lost = lost.then((text) => addExpositions([], [text, member.metrics]))
    },
  }
}
