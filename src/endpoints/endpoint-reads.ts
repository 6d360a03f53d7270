/** Reads endpoint documents and their versions from the store. */
import { Failure } from '../domain/failure.ts'
import { isId } from '../domain/id.ts'
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import type { EndpointStore } from '../domain/ports/endpoint-store-port.ts'
import type { StoredDocument, Version, VersionSummary } from '../domain/stored-document.ts'
import { parsePath } from '../language/paths/path.ts'
import * as failures from './management-failures.ts'

/** Field paths, each with the values that match. */
type Filters = readonly (readonly [path: string, values: readonly string[]])[]

/** Each method fails with STORE_UNAVAILABLE. */
export interface EndpointReads {
  /** Oldest first. A document matches a filter if the value at its path is one of its texts. Fails with FILTER_INVALID. */
  list(filters: Filters): Promise<readonly StoredDocument[]>
  /** Fails with ID_MALFORMED, ENDPOINT_UNKNOWN. */
  get(id: string): Promise<StoredDocument>
  readonly versions: Readonly<{
    /** Newest first; also of recently deleted endpoints. Fails with ID_MALFORMED, ENDPOINT_UNKNOWN. */
    list(id: string): Promise<readonly VersionSummary[]>
    /** Fails with ID_MALFORMED, ENDPOINT_UNKNOWN, VERSION_UNKNOWN. */
    get(id: string, version: number): Promise<Version>
  }>
}

export function createEndpointReads(store: EndpointStore): EndpointReads {
  const read = <T>(id: string, work: () => Promise<T>): Promise<T> => {
    if (!isId(id)) throw failures.malformedId(id)
    return failures.callEndpointStore(work)
  }
  const listVersions = async (id: string): Promise<readonly VersionSummary[]> => {
    const versions = await read(id, () => store.versions(id))
    if (versions.length === 0) throw failures.unknown(id)
    return versions
  }
  return {
    list: async (filters) => {
      const matches = matchesFilters(filters)
      return (await failures.callEndpointStore(() => store.list())).filter(matches)
    },
    get: async (id) => {
      const document = await read(id, () => store.get(id))
      if (document === undefined) throw failures.unknown(id)
      return document
    },
    versions: {
      list: listVersions,
      get: async (id, version) => {
        const found = await read(id, () => store.version(id, version))
        if (found !== undefined) return found
        await listVersions(id)
        throw failures.unknownVersion(id, version)
      },
    },
  }
}

/** Whether a document matches all filters. Fails with FILTER_INVALID. */
export function matchesFilters(filters: Filters): (document: JsonObject) => boolean {
  const tests = filters.map(([path, values]) => compileFilter(path, values))
  return (document) => tests.every((test) => test(document))
}

/**
 * Compares the value at a field path, as text, with `values`; an array matches if one of its elements does. The filter
 * never reaches a query language. Fails with FILTER_INVALID.
 */
function compileFilter(path: string, values: readonly string[]): (document: JsonObject) => boolean {
  const parsed = parsePath(path)
  if (!parsed.ok) throw new Failure('FILTER_INVALID', `The filter "${path}" is not a field path: ${parsed.message}`)
  const { value: field } = parsed
  const matches = (value: Json | undefined): boolean => {
    // Within an array, null also stands for an element without the field.
    if (Array.isArray(value)) return value.some((item) => item !== null && matches(item))
    return value !== undefined && !isObject(value) && values.includes(String(value))
  }
  return (document) => matches(field.read(document))
}
