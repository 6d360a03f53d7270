/** Checks a raw document and compiles it, so that its messages only run closures. */
import { checkDocument } from '../config/checks/check-document.ts'
import { type DocumentBounds, lintBounds } from '../config/checks/document-bounds.ts'
import { lintEndpoint } from '../config/checks/lint-endpoint.ts'
import type { Endpoint } from '../config/schema/schema.ts'
import type { Failure } from '../domain/failure.ts'
import type { Json } from '../domain/json.ts'
import { collectInto, type Lint } from '../domain/lint.ts'
import type { StoredDocument } from '../domain/stored-document.ts'
import { parseRoutePattern } from '../language/route-pattern.ts'
import { compileEndpoint } from '../pipeline/compile.ts'
import { compileAuth, type EndpointAuth } from '../pipeline/endpoint-auth.ts'
import { compileIdempotency, type KeyedHandle } from '../pipeline/idempotency/idempotency-middleware.ts'
import { producedRecords } from '../pipeline/produced-records.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'

/** The fields of a document that the service sets. Timestamps are ISO 8601 with milliseconds and `Z`. */
export type Stamp = Readonly<{ _id: string; createdAt: string; updatedAt: string; version: number }>

export type CompileOptions = Readonly<{
  /** Limits for documents that are being registered; stored documents stay active if the limits were lowered since. */
  bounds?: DocumentBounds | undefined
  /** Rejects with this failure instead of waiting for the sandbox. */
  overload?: Failure | undefined
}>

/**
 * In: the document as JSON. Out: all lints; `compiled` may be activated only if none of them is an error.
 *
 * Fails with DOCUMENT_TOO_LARGE, and with OVERLOADED if the sandbox could not compile its expressions and schema in time.
 */
export async function compileDocument(
  raw: Json,
  { _id, createdAt, updatedAt, version }: Stamp,
  services: Services,
  settings: PipelineSettings,
  { bounds, overload }: CompileOptions = {},
): Promise<Readonly<{ lints: readonly Lint[]; compiled: CompiledEndpoint }>> {
  const { endpoint, lints: structural } = checkDocument(raw)
  const isolated = await isolate(endpoint, services, overload)
  const lints: Lint[] = [...structural]
  const sink = collectInto(lints)
  if (bounds !== undefined) lintBounds(endpoint, bounds, sink)
  lintEndpoint(endpoint, sink)
  const run = compileEndpoint(endpoint, _id, isolated, settings, sink)
  const auth = compileAuth(endpoint, isolated, sink)
  const handle = auth === undefined ? run : notingSecrets(auth, run)
  const keyed = compileIdempotency(endpoint, _id, run, isolated.idempotency)
  const handleKeyed = auth === undefined || keyed === undefined ? keyed : notingSecrets(auth, keyed)
  const pattern = parseRoutePattern(endpoint.endpoint.pattern)
  const routeKey = pattern.ok ? pattern.value.routeKey(endpoint.endpoint.method) : ''
  const document = { _id, ...endpoint, createdAt, updatedAt, __v: 0 } as unknown as StoredDocument
  const sampling = { left: 0, sampledAtMs: Number.NEGATIVE_INFINITY, intervalMs: 0 }
  const compiled = {
    version,
    document,
    endpoint,
    routeKey,
    handle,
    handleKeyed,
    auth,
    sampling,
    produces: producedRecords(endpoint, sink),
  }
  return { lints: distinct(lints), compiled }
}

/** The services with the expressions and schema of the document compiled in the sandbox, if there are any. */
async function isolate(endpoint: Endpoint, services: Services, overload: Failure | undefined): Promise<Services> {
  if (services.sandbox === undefined) return services
  const { name, inputTransforms, inputValidation: schema } = endpoint
  const expressions = Object.entries(inputTransforms ?? {})
  if (expressions.length === 0 && schema === undefined) return services
  const program = { endpoint: name, expressions, schema }
  if (overload !== undefined && services.sandbox.compilesHere?.(program) !== true) throw overload
  return { ...services, sandboxed: await services.sandbox.compile(program) }
}

const notingSecrets =
  ({ noteSecrets }: EndpointAuth, handle: KeyedHandle): KeyedHandle =>
  (message, run, caller) => {
    noteSecrets(run)
    return handle(message, run, caller)
  }

/** Two checks may find the same fault. */
const distinct = (lints: readonly Lint[]): readonly Lint[] => [
  ...new Map(lints.map((lint) => [`${lint.path}\n${lint.message}`, lint])).values(),
]
