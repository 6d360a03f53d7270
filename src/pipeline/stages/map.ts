import type { Json, JsonObject } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Mapped, Transformed } from '../../core/message.ts'
import { lookupsWithStatus } from '../../document/reads/lookup-order.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { MappingTrace } from '../../language/mapping/mapping-trace.ts'
import type { Stage } from '../chain.ts'
import type { CompileExpression } from '../expressions.ts'
import { compileEntries } from '../mapping-entries.ts'

/**
 * Maps the message to its new shape by `inputMapping`.
 *
 * In: everything so far. Out: adds `responseBody`; without a mapping, the parsed body, or
 * `{ requestBody, lookupRequests }` where there are lookups.
 * Lints: every entry that does not parse, and sources that do not exist.
 * Fails: OUTPUT_TOO_LARGE if the message would grow beyond the limits of compileMapping; MAPPING_FAILED at the entry whose
 * value cannot be converted or written; as an expression where `when` does.
 */
export function compileMap(
  endpoint: Endpoint,
  lint: LintSink,
  compileExpression: CompileExpression,
  trace?: MappingTrace,
): Stage<Transformed, Mapped> {
  const apply = compileEntries(
    endpoint.inputMapping,
    'map',
    endpoint,
    lint.at('inputMapping'),
    compileExpression,
    trace,
  )

  if (Object.keys(endpoint.inputMapping).length > 0) {
    return (message, run) => {
      const responseBody = apply(message, run)
      if (!(responseBody instanceof Promise)) return { ...message, responseBody }
      return responseBody.then((later) => ({ ...message, responseBody: later }))
    }
  }
  if (endpoint.requests.lookup.length === 0) return (message) => ({ ...message, responseBody: message.requestBody })
  if (lookupsWithStatus(endpoint).size > 0) {
    return (message) => {
      const { requestBody, lookupRequests } = message
      return { ...message, responseBody: { requestBody, lookupRequests: withoutStatus(lookupRequests) } }
    }
  }
  return (message) => {
    const { requestBody, lookupRequests } = message
    return { ...message, responseBody: { requestBody, lookupRequests } }
  }
}

/** A status is there for those that read it, and never part of the output. */
const withoutStatus = (lookups: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(lookups).map(([id, result]) => [
      id,
      Array.isArray(result) ? result.map(withoutOwnStatus) : withoutOwnStatus(result),
    ]),
  )

function withoutOwnStatus(result: Json): Json {
  const { status: _, ...others } = result as JsonObject
  return others
}
