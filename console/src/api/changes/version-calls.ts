/** The versions of an endpoint, and going back to one. */
import { api, readAnswer, readData, type Schemas } from '../client.ts'
import { type Change, changeHeaders } from '../document-calls.ts'

export type Version = Schemas['Version']
export type VersionDiff = Schemas['VersionDiff']

/** Newest first, also of an endpoint that was deleted. Fails with an ApiFailure. */
export const listVersions = (id: string, signal?: AbortSignal): Promise<readonly Version[]> =>
  readData(api.GET('/endpoints/{id}/versions', { params: { path: { id } }, ...(signal && { signal }) }))

/** The document of a version as JSON text; undefined for a deletion. Fails with an ApiFailure. */
export async function readVersion(id: string, version: number, signal?: AbortSignal): Promise<string | undefined> {
  const { document } = await readData(
    api.GET('/endpoints/{id}/versions/{version}', { params: { path: { id, version } }, ...(signal && { signal }) }),
  )
  return document === null || document === undefined ? undefined : JSON.stringify(document)
}

/** What differs, by path. Fails with an ApiFailure. */
export const compareVersions = (id: string, from: number, to: number, signal?: AbortSignal): Promise<VersionDiff> =>
  readData(
    api.GET('/endpoints/{id}/versions/{version}/diff/{other}', {
      params: { path: { id, version: from, other: to } },
      ...(signal && { signal }),
    }),
  )

/** Fails with an ApiFailure: 412 if the document is another one meanwhile, 409 TESTS_FAILED or a clash. */
export const restoreVersion = (id: string, version: number, change: Change) =>
  readAnswer(
    api.POST('/endpoints/{id}/versions/{version}/restore', {
      params: { path: { id, version } },
      headers: { 'content-type': 'application/json', ...changeHeaders(change) },
    }),
  )

/** Fails with an ApiFailure. */
export const deleteEndpoint = (id: string) => readData(api.DELETE('/endpoints/{id}', { params: { path: { id } } }))
