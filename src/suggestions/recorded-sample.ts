/** A recorded message as the source of suggestions, as far as its parts were kept. */
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import type { RecordedBody } from '../domain/records/message-record.ts'
import type { MessageSearch } from '../message-log/message-search.ts'
import type { SampleBody, SuggestSource } from './suggest-request.ts'

/** Fails with ID_MALFORMED, MESSAGE_UNKNOWN, STORE_UNAVAILABLE. */
export type ReadRecordedMessage = (messageId: string) => Promise<
  Readonly<{
    source: SuggestSource
    notRead: readonly Readonly<{ part: string; reason: string }>[]
  }>
>

/** A lookup with `forEach` has a body for each item. */
const LOOKUP = /^lookup\.(.+?)(\[\d+\])?$/s

export function createReadRecordedMessage(search: Pick<MessageSearch, 'get' | 'body'>): ReadRecordedMessage {
  return async (messageId) => {
    const { bodies } = await search.get(messageId)
    const notRead: { part: string; reason: string }[] = []
    const lookups: Record<string, SampleBody | readonly SampleBody[]> = Object.create(null)
    let request: JsonObject = {}
    let incoming: SampleBody = {}
    if (!bodies.some(({ which }) => which === 'incoming')) {
      notRead.push({ part: 'incoming', reason: 'the body was not kept, or the message had none' })
    }
    for (const { which, cut } of bodies) {
      const [, id, item] = LOOKUP.exec(which) ?? []
      if (which !== 'incoming' && which !== 'request' && id === undefined) continue
      if (cut) {
        notRead.push({ part: which, reason: 'only the start of the body was kept' })
        continue
      }
      const body = sampleOf(await search.body(messageId, which))
      if (which === 'incoming') incoming = body
      else if (id === undefined) request = objectOf(parsed(body.body))
      else lookups[id] = item === undefined ? body : [...[lookups[id] ?? []].flat(), body]
    }
    const { query, urlParams } = request
    return { source: { ...incoming, query: objectOf(query), urlParams: objectOf(urlParams), lookups }, notRead }
  }
}

const sampleOf = ({ summary, content }: RecordedBody): SampleBody & Readonly<{ body: Uint8Array }> => ({
  body: content,
  ...(summary.contentType === '' ? {} : { contentType: summary.contentType }),
})

/** The service wrote it. */
const parsed = (content: Uint8Array): Json => JSON.parse(Buffer.from(content).toString()) as Json

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
