/** What became of a message: one account of it for all who keep one (metrics, the log, records, spans). */
import type { Trace } from '../domain/trace.ts'
import type { Outcome } from '../pipeline/compile.ts'
import type { Compiled } from './compiled.ts'
import type { Incoming } from './intake.ts'

/**
 * done: answered as configured; partial: some response requests failed; refused: the sender's fault, a 4xx; failed: ours
 * or an upstream's, a 5xx. Where the one response request that answers was refused by its target, its status decides.
 */
export type OutcomeName = 'done' | 'partial' | 'refused' | 'failed'

/** How a message came: as a request, as a record of a topic, or as one of these once more. */
export type Source = 'http' | 'broker' | 'replay'

export type Finished = Outcome &
  Readonly<{
    messageId: string
    source: Source
    outcome: OutcomeName
    /** Empty where nothing failed. */
    code: string
    /** Undefined where no endpoint listens. */
    compiled: Compiled | undefined
    /** Undefined where the message was refused before it was read. */
    incoming: Incoming | undefined
    /** Milliseconds since the epoch. */
    startedAt: number
    /** Until its answer was there, the writing of state included; 0 where it did not come as far as the pipeline. */
    ms: number
    /** Undefined where the message did not come as far as the pipeline. */
    trace: Trace | undefined
  }>

export const sourceOf = ({ replayOf, isRecord }: Incoming): Source => {
  if (replayOf !== undefined) return 'replay'
  return isRecord ? 'broker' : 'http'
}

export function nameOf({ answer, failure }: Outcome): OutcomeName {
  if (failure !== undefined) return failure.status >= 500 ? 'failed' : 'refused'
  if (answer.refused) return answer.status >= 500 ? 'failed' : 'refused'
  return answer.partial ? 'partial' : 'done'
}

/** Whether another message follows that is the same one tried again. */
export const isTriedAgain = ({ incoming, failure }: Pick<Finished, 'incoming' | 'failure'>): boolean =>
  incoming?.triesAgain === true && failure?.retry === true

export function codeOf({ answer, failure }: Outcome): string {
  if (failure !== undefined) return failure.code
  return answer.refused ? 'RESPONSE_REFUSED' : ''
}
