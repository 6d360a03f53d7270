/** An endpoint document, checked and compiled once, so that its messages only run closures. */
import type { Failure } from '../core/failure.ts'
import type { Json } from '../core/json.ts'
import { collectInto, documentPath, type Lint, type LintSink, preventsActivation } from '../core/lint.ts'
import { createPause } from '../core/slice.ts'
import type { StoredDocument } from '../core/stored-document.ts'
import type { TableSet, TableUse } from '../core/tables/table-set.ts'
import { checkDocument } from '../document/checks/check-document.ts'
import { type DocumentBounds, lintBounds } from '../document/checks/document-bounds.ts'
import { lintEndpoint } from '../document/checks/lint-endpoint.ts'
import { type Claim, readClaims } from '../document/doors.ts'
import { listReferences } from '../document/reads/document-reads.ts'
import { listTableUses } from '../document/reads/table-uses.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import { compileEndpoint, type WrappedPipeline, wrapPipeline } from '../pipeline/compile.ts'
import { compileAuth, type EndpointAuth } from '../pipeline/endpoint-auth.ts'
import type { Handle } from '../pipeline/outcome.ts'
import type { CachedPipeline, PipelineCache } from '../pipeline/pipeline-cache.ts'
import { producedRecords } from '../pipeline/produced-records.ts'
import { failedOutcome } from '../pipeline/reply.ts'
import type { Program } from '../pipeline/sandbox.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'

/** Which message of the endpoint is sampled next; changed with each message. */
export type Sampling = {
  /** The next one is sampled where it is 1 or less. */
  left: number
  /** When the last one was completed, in milliseconds since the epoch. */
  sampledAtMs: number
  /** None is sampled so soon after it. */
  intervalMs: number
}

export type CompiledEndpoint = WrappedPipeline &
  Readonly<{
    /** Counts the changes of this endpoint, from 1. */
    version: number
    document: StoredDocument
    endpoint: Endpoint
    /** What no other active endpoint may have. */
    claims: readonly Claim[]
    /** Absent if it reads no table. */
    tableUses?: readonly TableUse[]
    /** How many records each message produces, if they may overlap with those of the next message; else undefined. */
    produces?: number | undefined
    /** Authenticates the senders; undefined if the endpoint has no `auth`. */
    auth?: EndpointAuth | undefined
    /** The faults with which a stored document stays active, though a new document is refused for them; absent if it has none. */
    toleratedFaults?: readonly Lint[]
    /** Absent where messages are not sampled. */
    sampling?: Sampling
  }> & {
    /** What its messages read once it, or what the store has of it, is out of force: no later tables. Else undefined. */
    lastTables?: TableSet | undefined
  }

/** The fields of a document that the service sets. Timestamps are ISO 8601 with milliseconds and `Z`. */
export type Stamp = Readonly<{ _id: string; createdAt: string; updatedAt: string; version: number }>

export type CompileOptions = Readonly<{
  /** Limits for documents that are being registered; stored documents stay active if the limits were lowered since. */
  bounds?: DocumentBounds | undefined
  /** Rejects with this failure instead of waiting for the sandbox. */
  overload?: Failure | undefined
  /**
   * When the pipeline is compiled: `now` by default. `checked`: its faults are reported, and it is compiled when the first
   * message needs it. `later`: its faults are not reported either. Both need `pipelines`.
   */
  pipeline?: 'now' | 'checked' | 'later' | undefined
  /** Which pipelines stay in memory; without it, this one does. */
  pipelines?: PipelineCache | undefined
  /** Gets the faults that keep the document out, if only a message found them. The message fails with INTERNAL. */
  onFaults?: ((faults: readonly Lint[]) => void) | undefined
}>

/** Characters of a document to bytes of its compiled pipeline, as bench/costs/many-endpoints.ts measures it. */
const BYTES_PER_CHARACTER = 50

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
  { bounds, overload, pipeline = 'now', pipelines, onFaults }: CompileOptions = {},
): Promise<Readonly<{ lints: readonly Lint[]; compiled: CompiledEndpoint }>> {
  const pause = createPause()
  const { endpoint, lints: structural } = checkDocument(raw)
  await pause()
  const isolated = pipeline === 'later' ? services : await isolate(endpoint, services, overload)
  const lints: Lint[] = [...structural]
  const sink = collectInto(lints)
  if (bounds !== undefined) lintBounds(endpoint, bounds, sink)
  lintEndpoint(endpoint, sink)
  await pause()
  const compileWith = (own: Services, to: LintSink) => compileEndpoint(endpoint, _id, own, settings, to)
  const compiledNow = pipeline === 'now' ? compileWith(isolated, sink) : undefined
  if (pipeline === 'checked') compileWith({ ...isolated, generatesLater: true }, sink)
  const cached = cachedPipeline(endpoint, () => isolate(endpoint, services, undefined), compileWith, onFaults)
  const run = pipelines?.add(cached, compiledNow) ?? compiledNow
  if (run === undefined) throw new TypeError('A pipeline that is not compiled now needs a cache.')
  const auth = compileAuth(endpoint, isolated, sink)
  const document = { _id, ...endpoint, createdAt, updatedAt, __v: 0 } as unknown as StoredDocument
  const tableUses = listTableUses(endpoint)
  const sampling = { left: 0, sampledAtMs: Number.NEGATIVE_INFINITY, intervalMs: 0 }
  const compiled = {
    version,
    document,
    endpoint,
    claims: readClaims(endpoint),
    ...(tableUses.length > 0 && { tableUses }),
    ...wrapPipeline(run, endpoint, _id, auth, isolated),
    auth,
    sampling,
    lastTables: undefined,
    produces: producedRecords(endpoint, sink),
  }
  return { lints: distinct(lints), compiled }
}

/** A pipeline that messages compile. `isolateOnce` is called once, so that what the sandbox knows of slow expressions is kept. */
function cachedPipeline(
  endpoint: Endpoint,
  isolateOnce: () => Promise<Services>,
  compileWith: (services: Services, lint: LintSink) => Handle,
  onFaults: CompileOptions['onFaults'],
): CachedPipeline {
  let isolated: Services | undefined
  return {
    bytes: () => JSON.stringify(endpoint).length * BYTES_PER_CHARACTER,
    compile: async () => {
      isolated ??= { ...(await isolateOnce()), generatesLater: true }
      const lints: Lint[] = []
      const handle = compileWith(isolated, collectInto(lints))
      const faults = distinct(lints.filter(preventsActivation))
      if (faults.length === 0) return handle
      onFaults?.(faults)
      throw new Error(
        `The stored document has faults: ${faults.map(({ path, message }) => `${path}: ${message}`).join(' ')}`,
      )
    },
    fail: (thrown, { messageId }) => failedOutcome(thrown, endpoint, messageId),
  }
}

/** The services with the expressions and schemas of the document compiled in the sandbox, if there are any. */
async function isolate(endpoint: Endpoint, services: Services, overload: Failure | undefined): Promise<Services> {
  if (services.sandbox === undefined) return services
  const program = programOf(endpoint)
  if (program === undefined) return services
  if (overload !== undefined && services.sandbox.compilesHere?.(program) !== true) throw overload
  return { ...services, sandboxed: await services.sandbox.compile(program) }
}

/** Undefined if the document has neither expressions nor schemas. */
function programOf(endpoint: Endpoint): Program | undefined {
  const { name, inputTransforms = {} } = endpoint
  const values = new Set<string>()
  for (const { kind, text, at } of listReferences(endpoint)) {
    if (kind === 'expression' && at[0] !== 'inputTransforms') values.add(text)
  }
  const expressions = Object.entries(inputTransforms)
  const schemas = listSchemas(endpoint)
  if (expressions.length === 0 && values.size === 0 && schemas.length === 0) return undefined
  return {
    endpoint: name,
    expressions,
    ...(values.size === 0 ? {} : { values: [...values] }),
    ...(schemas.length === 0 ? {} : { schemas }),
  }
}

function listSchemas({ inputValidation, requests }: Endpoint): NonNullable<Program['schemas']> {
  const ofLookups = requests.lookup.map(
    ({ validation }, index) => [documentPath('requests', 'lookup', index, 'validation'), validation] as const,
  )
  return [['inputValidation', inputValidation] as const, ...ofLookups].flatMap(([place, schema]) =>
    schema === undefined ? [] : [[place, schema] as const],
  )
}

/** Two checks may find the same fault. */
const distinct = (lints: readonly Lint[]): readonly Lint[] => [
  ...new Map(lints.map((lint) => [`${lint.path}\n${lint.message}`, lint])).values(),
]
