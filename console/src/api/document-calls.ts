/** The document of one endpoint, as text: reading and writing it as a value would change numbers and the order of names. */
import { ApiFailure } from './api-failure.ts'
import { type Answered, api, get, jsonText, readAnswer, readData, type Schemas } from './client.ts'

/** A stored document as the service sent it. */
export type StoredText = Readonly<{ text: string; etag: string | undefined }>

/** Fails with an ApiFailure; its status is 404 if there is no such endpoint. */
export async function readDocument(id: string, signal?: AbortSignal): Promise<StoredText> {
  const { data, etag } = await readAnswer(
    api.GET('/endpoints/{id}', { params: { path: { id } }, parseAs: 'text', signal: signal ?? null }),
  )
  return { text: data, etag }
}

/** The ETag of an answer; undefined if the service has nothing there, as after a deletion. */
export async function readEtag(read: Promise<Readonly<{ etag: string | undefined }>>): Promise<string | undefined> {
  try {
    return (await read).etag
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status === 404) return undefined
    throw thrown
  }
}

export type Change = Readonly<{
  /** For the versions and the audit log. */
  note?: string | undefined
  /** The change is made only if the document still has this ETag. */
  ifMatch?: string | undefined
  /** `*`: only if there is none yet. */
  ifNoneMatch?: string | undefined
  /** Why it is made although tests of the endpoint fail; for admins. */
  override?: string | undefined
}>

export const changeHeaders = ({ note, ifMatch, ifNoneMatch, override }: Change): Record<string, string> => ({
  ...(note && { 'X-Crosswalk-Change-Note': asHeader(note) }),
  ...(ifMatch && { 'If-Match': ifMatch }),
  ...(ifNoneMatch && { 'If-None-Match': ifNoneMatch }),
  ...(override && { 'X-Crosswalk-Override': asHeader(override) }),
})

/** Browsers refuse line feeds in a header, and characters beyond Latin-1: each byte of its UTF-8 is one. */
const asHeader = (text: string): string =>
  Array.from(new TextEncoder().encode(text.replace(/\p{Cc}+/gu, ' ')), (byte) => String.fromCharCode(byte)).join('')

type Written = Answered<Readonly<{ _id?: string }>>

/** Replaces a document. Fails with an ApiFailure: 412 if it is another one meanwhile, 409 TESTS_FAILED, 400 with faults. */
export const replaceDocument = (id: string, text: string, change: Change): Promise<Written> =>
  readAnswer(
    api.PUT('/endpoints/{id}', {
      params: { path: { id } },
      headers: changeHeaders(change),
      ...jsonText(text),
    }),
  )

/** Stores a new endpoint. Fails with an ApiFailure. */
export const createDocument = (text: string, change: Change): Promise<Written> =>
  readAnswer(
    api.POST('/endpoints', {
      headers: changeHeaders(change),
      ...jsonText(text),
    }),
  )

/** Pauses or resumes an endpoint, by a version with that one change. Fails with an ApiFailure: 412 if it changed meanwhile. */
export async function pauseEndpoint(id: string, paused: boolean): Promise<Written> {
  const { etag } = await readDocument(id)
  const headers = changeHeaders({ ifMatch: etag, note: paused ? 'Paused.' : 'Resumed.' })
  // In a merge patch, null removes the field.
  return readAnswer(
    api.PATCH('/endpoints/{id}', { params: { path: { id } }, headers, body: { paused: paused || null } }),
  )
}

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

type BatchOutcome = Readonly<{ results: readonly Schemas['OperationResult'][]; dryRun: boolean }>

/** `document`: as text. `ifMatch`: replaces only the document that has this ETag. */
export type ImportOperation = Readonly<{ op: 'create' | 'replace'; id?: string; ifMatch?: string; document: string }>

/** `dryRun`: checks everything and stores nothing. Fails with an ApiFailure, whose details have the faults of each operation. */
export async function sendBatch(
  operations: readonly ImportOperation[],
  dryRun: boolean,
  note = '',
): Promise<BatchOutcome> {
  const parts = operations.map(
    ({ document, ...others }) => `{${JSON.stringify(others).slice(1, -1)},"document":${document}}`,
  )
  const body = `{"dryRun":${dryRun},"note":${JSON.stringify(note)},"operations":[${parts.join(',')}]}`
  return (await readData(api.POST('/endpoints/batch', jsonText(body)))) as BatchOutcome
}
