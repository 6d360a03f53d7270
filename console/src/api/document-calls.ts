/** The document of one endpoint, as text: reading and writing it as a value would change numbers and the order of names. */
import { type Answered, api, jsonText, readAnswer } from './client.ts'

/** A stored document as the service sent it. */
export type StoredText = Readonly<{ text: string; etag: string | undefined }>

/** Fails with an ApiFailure; its status is 404 if there is no such endpoint. */
export async function readDocument(id: string, signal?: AbortSignal): Promise<StoredText> {
  const { data, etag } = await readAnswer(
    api.GET('/endpoints/{id}', { params: { path: { id } }, parseAs: 'text', signal: signal ?? null }),
  )
  return { text: data, etag }
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
