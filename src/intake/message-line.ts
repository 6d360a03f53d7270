/** The line that a message has in the log, whatever became of it. */
import type { Logger } from '../domain/ports/logger-port.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { OutcomeName } from '../pipeline/outcome.ts'
import type { CompletedMessage } from './completed-message.ts'
import type { Source } from './incoming-message.ts'
import { createTurnedAwayLines } from './shed-lines.ts'

/** Where no failure has a sentence of its own. */
const SENTENCES: Readonly<Record<OutcomeName, string>> = {
  done: 'The message is done',
  partial: 'The message is done in part: some of its response requests failed',
  refused: 'The target of the response request refused the message',
  failed: 'The target of the response request failed the message',
}

type Usual = Readonly<{ source: Source; status: number; write: ReturnType<Logger['repeat']> }>

/**
 * Writes the lines. A sender's mistake is information; what only we or an upstream can mend is a warning, a bug an error
 * with its cause. Of what other systems said, and of the message itself, nothing is told.
 */
export function createMessageLines(logger: Logger): (finished: CompletedMessage) => void {
  /** Of the last message of each endpoint that ended done: the next one is mostly alike. */
  const usual = new WeakMap<CompiledEndpoint, Usual>()
  const hasLine = createTurnedAwayLines(logger)

  function usualOf(compiled: CompiledEndpoint, { source, answer: { status } }: CompletedMessage): Usual {
    const last = usual.get(compiled)
    if (last !== undefined && last.source === source && last.status === status) return last
    const { name, _id } = compiled.document
    const common = { endpoint: name, endpointId: _id, source, outcome: 'done', status }
    const made = { source, status, write: logger.repeat(common, SENTENCES.done) }
    usual.set(compiled, made)
    return made
  }

  return (finished) => {
    const { failure, outcome, compiled, trace, code, messageId, source, answer } = finished
    if (outcome === 'done' && compiled !== undefined && trace?.context === undefined) {
      usualOf(compiled, finished).write(messageId, finished.ms)
      return
    }
    if (!hasLine(code)) return
    const fields = {
      endpoint: compiled?.document.name,
      endpointId: compiled?.document._id,
      source,
      outcome,
      status: answer.status,
      code: code === '' ? undefined : code,
      stage: failure?.stage,
      path: failure?.options.path,
      messageId,
      ms: Math.round(finished.ms * 1_000) / 1_000,
      traceId: trace?.context?.traceId,
    }
    if (failure?.kind.bug) logger.error({ ...fields, err: failure.cause }, failure.message)
    else if (failure !== undefined) logger[failure.status >= 500 ? 'warn' : 'info'](fields, failure.unquoted)
    else logger[outcome === 'done' ? 'info' : 'warn'](fields, SENTENCES[outcome])
  }
}
