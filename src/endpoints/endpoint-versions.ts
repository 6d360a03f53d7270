/** The versions of endpoints, for reading: of those that there are, and of the last that were deleted. */
import { isId } from '../domain/id.ts'
import type { EndpointStore } from '../domain/ports/endpoint-store-port.ts'
import type { StoredDocument, Version, VersionSummary } from '../domain/stored-document.ts'
import * as failures from './management-failures.ts'

export interface Versions {
  /** Newest first. Fails with ID_MALFORMED, ENDPOINT_UNKNOWN, STORE_UNAVAILABLE. */
  list(id: string): Promise<readonly VersionSummary[]>
  /** Fails with VERSION_UNKNOWN too. */
  get(id: string, version: number): Promise<Version>
}

export function createVersions(store: EndpointStore): Versions {
  const list: Versions['list'] = async (id) => {
    if (!isId(id)) throw failures.malformedId(id)
    const versions = await failures.callEndpointStore(() => store.versions(id))
    if (versions.length === 0) throw failures.unknown(id)
    return versions
  }
  return {
    list,
    get: async (id, version) => {
      if (!isId(id)) throw failures.malformedId(id)
      const found = await failures.callEndpointStore(() => store.version(id, version))
      if (found !== undefined) return found
      await list(id)
      throw failures.unknownVersion(id, version)
    },
  }
}

/** The document of a version, to be put back. Fails with VERSION_UNKNOWN where it is a deletion. */
export function documentOf({ version, document }: Version): StoredDocument {
  if (document !== null) return document
  throw failures.emptyVersion(version)
}
