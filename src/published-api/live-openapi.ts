/** The OpenAPI documents of the active endpoints of this process. */
import { compileFilters } from '../endpoints/endpoint-reads.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import { type DocumentInfo, type WrittenDocument, writeOpenApi } from './openapi-document.ts'
import type { PublishSettings } from './request-schema.ts'

/** Each name with its values, as `GET /endpoints` takes them. */
type Filters = Parameters<typeof compileFilters>[0]

export interface LiveOpenApi {
  /** The document of the endpoints that match all filters. Fails with FILTER_INVALID. */
  ofAll(filters: Filters): Promise<WrittenDocument>
  /** The document of one endpoint; without a path if the endpoint is not active. */
  ofOne(id: string): Promise<WrittenDocument>
}

export type LiveOpenApiOptions = Readonly<{
  registry: Registry
  /** Of the service. */
  version: string
  /** Of the message port. */
  origin: string
  settings: PublishSettings
}>

/** Documents that are kept until an endpoint changes: those of larger sets are written again. */
const KEPT_BYTES = 4 * 1024 * 1024
const MOST_KEPT = 8

/** Filters have any length. */
const LONGEST_KEY = 1_000

export function createLiveOpenApi({ registry, version, origin, settings }: LiveOpenApiOptions): LiveOpenApi {
  let kept = new Map<string, WrittenDocument>()
  let last: Promise<unknown> = Promise.resolve()
  registry.watch(() => {
    kept = new Map()
  })
  const writeAll = async (filters: Filters): Promise<WrittenDocument> => {
    const matches = compileFilters(filters)
    const key = JSON.stringify(filters)
    const own = kept
    const before = own.get(key)
    if (before !== undefined) return before
    const info: DocumentInfo = { title: 'Crosswalk endpoints', version, origin }
    const written = await writeOpenApi(
      registry.all().filter(({ document }) => matches(document)),
      info,
      settings,
    )
    if (written.bytes <= KEPT_BYTES && key.length <= LONGEST_KEY && own.size < MOST_KEPT) own.set(key, written)
    return written
  }
  return {
    ofAll: (filters) => {
      // One at a time: together they would leave messages less of the processor.
      const writing = last.then(() => writeAll(filters))
      last = writing.catch(() => undefined)
      return writing
    },
    ofOne: (id) => {
      const compiled = registry.get(id)
      const { name, description } = compiled?.endpoint ?? { name: 'An endpoint that is not active' }
      const info = { title: name, version: String(compiled?.version ?? 0), origin }
      const endpoints = compiled === undefined ? [] : [compiled]
      return writeOpenApi(endpoints, description === undefined ? info : { ...info, description }, settings)
    },
  }
}
