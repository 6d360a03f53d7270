/** The OpenAPI documents of the active endpoints of this process. */

import { Failure } from '../../core/failure.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import { compileFilters } from '../../endpoints/endpoint-reads.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { StoredTests } from '../tests/stored-tests.ts'
import { createPause, type DocumentInfo, type WrittenOpenApi, writeOpenApi } from './openapi-document.ts'
import { type PublishedEndpoint, parseExamples } from './published-operation.ts'
import type { PublishSettings } from './request-schema.ts'

/** Each name with its values, as `GET /endpoints` takes them. */
type Filters = Parameters<typeof compileFilters>[0]

/** Each call fails with STORE_UNAVAILABLE, as the tests of endpoints are in the store. */
export interface LiveOpenApi {
  /**
   * The document of the endpoints that match all filters. Fails with FILTER_INVALID. Rejects with the reason of `signal` once
   * it is aborted.
   */
  ofAll(filters: Filters, signal?: AbortSignal): Promise<WrittenOpenApi>
  /** The document of one endpoint; without a path if the endpoint is not active. */
  ofOne(id: string): Promise<WrittenOpenApi>
}

type LiveOpenApiOptions = Readonly<{
  registry: Registry
  /** Of the service. */
  version: string
  /** Of the message port. */
  origin: string
  settings: PublishSettings
  /** Their tests hold the examples. */
  storedTests: Pick<StoredTests, 'endpoints' | 'get'>
}>

/** Documents that are kept until an endpoint changes: those of larger sets are written again. */
const KEPT_BYTES = 4 * 1024 * 1024
const MAX_KEPT = 8

/** Filters have any length. */
const MAX_KEY_CHARACTERS = 1_000

export function createLiveOpenApi({
  registry,
  version,
  origin,
  settings,
  storedTests,
}: LiveOpenApiOptions): LiveOpenApi {
  let kept = new Map<string, WrittenOpenApi>()
  let last: Promise<unknown> = Promise.resolve()
  registry.watch(() => {
    kept = new Map()
  })
  const withExamples = async (compiled: CompiledEndpoint): Promise<PublishedEndpoint> => {
    try {
      return { endpoint: compiled.endpoint, examples: parseExamples(await storedTests.get(compiled.document._id)) }
    } catch (thrown) {
      // It was deleted meanwhile, with its tests.
      if (thrown instanceof Failure && thrown.status === 404) return compiled
      throw thrown
    }
  }
  async function* addExamples(compiled: readonly CompiledEndpoint[], tested: ReadonlySet<string>) {
    for (const one of compiled) yield tested.has(one.document._id) ? await withExamples(one) : one
  }
  const findMatches = async (matches: ReturnType<typeof compileFilters>, signal: AbortSignal | undefined) => {
    const pause = createPause(signal)
    const found: CompiledEndpoint[] = []
    for (const compiled of registry.all()) {
      if (matches(compiled.document)) found.push(compiled)
      if (pause.isDue()) await pause.take()
    }
    return found
  }
  const writeAll = async (filters: Filters, signal: AbortSignal | undefined): Promise<WrittenOpenApi> => {
    signal?.throwIfAborted()
    const matches = compileFilters(filters)
    const key = JSON.stringify(filters)
    const own = kept
    const tested = await storedTests.endpoints()
    // Tests change without their endpoints.
    const before = tested.size === 0 ? own.get(key) : undefined
    if (before !== undefined) return before
    const info: DocumentInfo = { title: 'Crosswalk endpoints', version, origin }
    const compiled = await findMatches(matches, signal)
    const endpoints = tested.size === 0 ? compiled : addExamples(compiled, tested)
    const written = await writeOpenApi(endpoints, info, settings, signal)
    if (
      tested.size === 0 &&
      written.bytes.byteLength <= KEPT_BYTES &&
      key.length <= MAX_KEY_CHARACTERS &&
      own.size < MAX_KEPT
    )
      own.set(key, written)
    return written
  }
  return {
    ofAll: (filters, signal) => {
      // One at a time: together they would leave messages less of the processor.
      const writing = last.then(() => writeAll(filters, signal))
      last = writing.catch(() => undefined)
      return writing
    },
    ofOne: async (id) => {
      const compiled = registry.get(id)
      const { name, description } = compiled?.endpoint ?? { name: 'An endpoint that is not active' }
      const info = { title: name, version: String(compiled?.version ?? 0), origin }
      const endpoints = compiled === undefined ? [] : [await withExamples(compiled)]
      return writeOpenApi(endpoints, description === undefined ? info : { ...info, description }, settings)
    },
  }
}
