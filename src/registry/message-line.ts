/** The one line that every message has in the log, whatever became of it. */
import type { Logger } from '../domain/ports.ts'
import type { Finished, OutcomeName } from './finished.ts'

/** Where no failure has a sentence of its own. */
const SENTENCES: Readonly<Record<OutcomeName, string>> = {
  done: 'The message is done',
  partial: 'The message is done in part: some of its response requests failed',
  refused: 'The target of the response request refused the message',
  failed: 'The target of the response request failed the message',
}

/**
 * A sender's mistake is information; what only we or an upstream can mend is a warning, a bug an error with its cause.
 * Of what other systems said, and of the message itself, nothing is told.
 */
export function logMessage(logger: Logger, finished: Finished): void {
  const { failure, outcome, compiled, trace, code } = finished
  const fields = {
    messageId: finished.messageId,
    endpoint: compiled?.document.name,
    endpointId: compiled?.document._id,
    source: finished.source,
    outcome,
    code: code === '' ? undefined : code,
    status: finished.answer.status,
    stage: failure?.stage,
    path: failure?.options.path,
    ms: Math.round(finished.ms * 1_000) / 1_000,
    traceId: trace?.context?.traceId,
  }
  if (failure?.code === 'INTERNAL') logger.error({ ...fields, err: failure.cause }, failure.message)
  else if (failure !== undefined) logger[failure.status >= 500 ? 'warn' : 'info'](fields, failure.unquoted)
  else logger[outcome === 'done' ? 'info' : 'warn'](fields, SENTENCES[outcome])
}
