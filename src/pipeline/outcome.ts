/** The outcome of one run of the pipeline, and its short names in metrics, logs and records. */
import type { Failure } from '../core/failure.ts'
import type { Awaitable } from '../core/json.ts'
import type { Answer, Received } from '../core/message.ts'
import type { Run } from '../core/run.ts'

/** `failure`: the reason for the answer. */
export type Outcome = Readonly<{ answer: Answer; failure: Failure | undefined }>

/** Runs one message; never throws or rejects. Returns a promise only if a stage does. */
export type Handle = (message: Received, run: Run) => Awaitable<Outcome>

/**
 * done: answered as configured; partial: some response requests failed; refused: a fault of the sender, a 4xx; failed: a fault
 * of the service or of an upstream, a 5xx. If the target of the only answering response request refused it, its status decides.
 */
export type OutcomeName = 'done' | 'partial' | 'refused' | 'failed'

export function classifyOutcome({ answer, failure }: Outcome): OutcomeName {
  if (failure !== undefined) return failure.status >= 500 ? 'failed' : 'refused'
  if (answer.refused) return answer.status >= 500 ? 'failed' : 'refused'
  return answer.partial ? 'partial' : 'done'
}

export function outcomeCode({ answer, failure }: Outcome): string {
  if (failure !== undefined) return failure.code
  return answer.refused ? 'RESPONSE_REFUSED' : ''
}
