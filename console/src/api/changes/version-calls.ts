/** The versions of an endpoint, and going back to one. */
import { api, get, readAnswer, readData, type Schemas } from '../client.ts'
import { type Change, changeHeaders } from '../document-calls.ts'

export type Version = Schemas['Version']
export type VersionDiff = Schemas['VersionDiff']

/** The document of a version as JSON text; undefined for a deletion. Fails with an ApiFailure. */
export async function readVersion(id: string, version: number, signal: AbortSignal): Promise<string | undefined> {
  const { document } = await get('/endpoints/{id}/versions/{version}', { path: { id, version } }, signal)
  return document === null || document === undefined ? undefined : JSON.stringify(document)
}

/** Fails with an ApiFailure: 412 if the document is another one meanwhile, 409 TESTS_FAILED or a clash. */
export const restoreVersion = (id: string, version: number, change: Change) => {
  const params = { path: { id, version } }
  return readAnswer(api.POST('/endpoints/{id}/versions/{version}/restore', { params, headers: changeHeaders(change) }))
}

/** Fails with an ApiFailure. */
export const deleteEndpoint = (id: string) => readData(api.DELETE('/endpoints/{id}', { params: { path: { id } } }))
