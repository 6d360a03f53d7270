/** Requests that are made for some messages only, as their `when` says. */
import type { Awaitable, JsonObject } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Run } from '../../core/run.ts'
import { noteNotMade } from '../../core/tracing/trace.ts'
import type { Endpoint, LookupRequest, ResponseRequest } from '../../document/schema/schema.ts'
import { letsThrough } from '../../language/condition.ts'
import { createExpressionCompiler } from '../expressions.ts'
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
      if (letsThrough(value, sink.path)) return prepare(message, run)
      noteNotMade(run.trace, { kind, id, why: 'when' })
      return undefined
    })
}
