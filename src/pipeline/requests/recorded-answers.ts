/** The calls of lookups in a replay that does not ask again: the answers that were recorded stand in for new ones. */
import { Failure } from '../../core/failure.ts'
import {
  type OutboundAnswer,
  OutboundError,
  type OutboundFault,
  overBudget,
} from '../../core/ports/http-client-port.ts'
import type { Run } from '../../core/run.ts'
import type { CallSpan } from '../../core/tracing/trace.ts'

/** Gives the recorded answer, which `run.budget` pays for as for a new one. Fails with OutboundError, as the recorded call did. */
export async function answerRecorded(
  recorded: OutboundAnswer | OutboundFault,
  called: CallSpan,
  { budget }: Run,
): Promise<OutboundAnswer> {
  called.cached = true
  called.remark = 'This is what the replayed message was answered: nothing was sent.'
  if (typeof recorded === 'string') throw new OutboundError(recorded, 'The call of the replayed message had no answer.')
  if (!budget.take(recorded.body.byteLength)) throw overBudget('the call of the replayed message')
  return recorded
}

/** `item`: of a forEach, or the number of the page. `path`: of the lookup. */
export function notRecorded(id: string, item: number | undefined, path: string): Failure {
  const call = item === undefined ? `"${id}"` : `"${id}", call ${item},`
  const sentence = `The replay uses the recorded answers of lookups, and there is none of the lookup ${call} as the document is now; replay the message with lookups=again to ask all lookups again.`
  return new Failure('LOOKUP_NOT_RECORDED', sentence, { path })
}
