/** The log line of a completed message. */

import type { Source } from '../core/origin.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import { roundMs } from '../core/tracing/trace.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { OutcomeName } from '../pipeline/outcome.ts'
import type { CompletedMessage } from './completed-message.ts'
import { createShedLines } from './shed-lines.ts'

/** The sentences for messages without a failure. */
const SENTENCES: Readonly<Record<OutcomeName, string>> = {
  done: 'The message is done',
  partial: 'The message is done in part: some of its response requests failed',
  refused: 'The target of the response request refused the message',
  failed: 'The target of the response request failed the message',
}

/** Which messages have a line; a fault of the service has one always, since nothing else shows its cause. */
export type MessageLogging = 'failed' | 'all' | 'none'

type LastLine = Readonly<{ source: Source; status: number; write: ReturnType<Logger['repeat']> }>

/**
 * Writes the lines: a sender's mistake at level info, a fault of the service or an upstream as a warning, a bug as an error
 * with its cause. No line quotes another system or the message.
 */
export function createMessageLines(logger: Logger, logged: MessageLogging): (completed: CompletedMessage) => void {
  /** The line of the last message of each endpoint that ended done: the next one mostly has the same fields. */
  const lastLines = new WeakMap<CompiledEndpoint, LastLine>()
  const hasLine = createShedLines(logger)

  function findLastLine(compiled: CompiledEndpoint, { source, answer: { status } }: CompletedMessage): LastLine {
    const last = lastLines.get(compiled)
    if (last !== undefined && last.source === source && last.status === status) return last
    const { name, _id } = compiled.document
    const common = { endpoint: name, endpointId: _id, source, outcome: 'done', status }
    const line = { source, status, write: logger.repeat(common, SENTENCES.done) }
    lastLines.set(compiled, line)
    return line
  }

  return (completed) => {
    const { failure, outcome, compiled, trace, code, messageId, source, answer } = completed
    if (outcome === 'done' ? logged !== 'all' : logged === 'none' && !failure?.kind.bug) return
    if (outcome === 'done' && compiled !== undefined && trace?.context === undefined) {
      findLastLine(compiled, completed).write(messageId, completed.ms)
      return
    }
    if (!hasLine(code)) return
    const why = failure ?? answer.why
    const fields = {
      endpoint: compiled?.document.name,
      endpointId: compiled?.document._id,
      source,
      outcome,
      status: answer.status,
      code: code === '' ? undefined : code,
      stage: why?.stage,
      path: why?.options.path,
      messageId,
      ms: roundMs(completed.ms),
      traceId: trace?.context?.traceId,
    }
    if (failure?.kind.bug) logger.error({ ...fields, err: failure.cause }, failure.message)
    else if (failure !== undefined) logger[failure.status >= 500 ? 'warn' : 'info'](fields, failure.unquoted)
    else logger[outcome === 'done' ? 'info' : 'warn'](fields, why?.unquoted ?? SENTENCES[outcome])
  }
}
