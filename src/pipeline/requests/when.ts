/** Requests that are made for some messages only, as their `when` says. */
import { type Awaitable, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Run } from '../../core/run.ts'
import { noteNotMade } from '../../core/tracing/trace.ts'
import type { Endpoint, LookupRequest, ResponseRequest } from '../../document/schema/schema.ts'
import { createExpressionCompiler, expressionFailed } from '../expressions.ts'
import type { PipelineSettings, Services } from '../services.ts'
import { andThen } from './for-each.ts'
import type { CallScope } from './request-parameters.ts'

/**
 * In: what builds a request from a message. Out: the same, which gives undefined for a message for which it is not made.
 *
 * Lints an expression as others. Fails as they do, also with TRANSFORM_FAILED where it gives something else than true, false or nothing.
 */
export function compileWhen<Message extends CallScope, Ready>(
  kind: 'lookup' | 'response',
  { id, when }: LookupRequest | ResponseRequest,
  prepare: (message: Message, run: Run) => Awaitable<Ready>,
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): (message: Message, run: Run) => Awaitable<Ready | undefined> {
  if (when === undefined) return prepare
  const sink = lint.at('when')
  const stage = kind === 'lookup' ? 'lookup' : 'respond'
  const evaluate = createExpressionCompiler(endpoint, settings, services)(when, stage, sink)
  return (message, run) =>
    andThen(evaluate(message as JsonObject, run), (value) => {
      if (value === true) return prepare(message, run)
      if (typeof value === 'boolean' || value === undefined || value === null) {
        noteNotMade(run.trace, { kind, id, why: 'when' })
        return undefined
      }
      const text = `it must give true or false, but gave ${typeName(value)}.`
      throw expressionFailed(sink.path, { message: text, unquoted: text })
    })
}
