/** From a raw document to an endpoint that can be put in force, with everything that is wrong with it. */

import { checkDocument } from '../config/checks/check-document.ts'
import { type DocumentBounds, lintBounds } from '../config/checks/document-bounds.ts'
import { lintEndpoint } from '../config/checks/lint-endpoint.ts'
import type { Json } from '../domain/json.ts'
import { collectInto, type Lint } from '../domain/lint.ts'
import type { StoredDocument } from '../domain/stored-document.ts'
import { parseRoutePattern } from '../language/route-pattern.ts'
import { compileEndpoint } from '../pipeline/compile.ts'
import { compileAuth, type EndpointAuth } from '../pipeline/endpoint-auth.ts'
import { compileIdempotency, type KeyedHandle } from '../pipeline/idempotency/idempotency-middleware.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'

/** What the service sets in a document, and which version of it that is. Timestamps are ISO 8601 with milliseconds and `Z`. */
export type Stamp = Readonly<{ _id: string; createdAt: string; updatedAt: string; version: number }>

/**
 * Checks and compiles a document. Where `lints` holds an error, `compiled` must not be put in force.
 *
 * `bounds` are for what is to be registered; what is stored stays in force, however they were lowered since. Fails with
 * DOCUMENT_TOO_LARGE.
 */
export function compileDocument(
  raw: Json,
  { _id, createdAt, updatedAt, version }: Stamp,
  services: Services,
  settings: PipelineSettings,
  bounds?: DocumentBounds,
): Readonly<{ lints: readonly Lint[]; compiled: CompiledEndpoint }> {
  const { endpoint, lints: structural } = checkDocument(raw)
  const lints: Lint[] = [...structural]
  const sink = collectInto(lints)
  if (bounds !== undefined) lintBounds(endpoint, bounds, sink)
  lintEndpoint(endpoint, sink)
  const run = compileEndpoint(endpoint, _id, services, settings, sink)
  const auth = compileAuth(endpoint, services, sink)
  const handle = auth === undefined ? run : notingFirst(auth, run)
  const keyed = compileIdempotency(endpoint, _id, run, services.idempotency)
  const handleKeyed = auth === undefined || keyed === undefined ? keyed : notingFirst(auth, keyed)
  const pattern = parseRoutePattern(endpoint.endpoint.pattern)
  const routeKey = pattern.ok ? pattern.value.routeKey(endpoint.endpoint.method) : ''
  const document = { _id, ...endpoint, createdAt, updatedAt, __v: 0 } as unknown as StoredDocument
  return { lints: distinct(lints), compiled: { version, document, endpoint, routeKey, handle, handleKeyed, auth } }
}

const notingFirst =
  ({ noteSecrets }: EndpointAuth, handle: KeyedHandle): KeyedHandle =>
  (message, run, caller) => {
    noteSecrets(run)
    return handle(message, run, caller)
  }

/** Two checks may see one fault; it is told once. */
function distinct(lints: readonly Lint[]): readonly Lint[] {
  return [...new Map(lints.map((lint) => [`${lint.path}\n${lint.message}`, lint])).values()]
}
