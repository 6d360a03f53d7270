/** A recorded message as the source of suggestions, as far as its parts were kept. */
import type { RecordedBody } from '../../core/records/message-record.ts'
import { lookupOf, type RecordedRequest, readRequest } from '../../records/message-log/bodies.ts'
import type { MessageSearch } from '../../records/message-log/message-search.ts'
import type { SampleBody, SuggestSource } from './suggest-request.ts'

/** Fails with ID_MALFORMED, MESSAGE_UNKNOWN, STORE_UNAVAILABLE. */
export type ReadRecordedMessage = (messageId: string) => Promise<
  Readonly<{
    source: SuggestSource
    notRead: readonly Readonly<{ part: string; reason: string }>[]
  }>
>

export function createReadRecordedMessage(search: Pick<MessageSearch, 'get' | 'body'>): ReadRecordedMessage {
  return async (messageId) => {
    const { bodies } = await search.get(messageId)
    const notRead: { part: string; reason: string }[] = []
    const lookups: Record<string, SampleBody | readonly SampleBody[]> = Object.create(null)
    let request: Pick<RecordedRequest, 'query' | 'urlParams'> = { query: {}, urlParams: {} }
    let incoming: SampleBody = {}
    if (!bodies.some(({ which }) => which === 'incoming')) {
      notRead.push({ part: 'incoming', reason: 'the body was not kept, or the message had none' })
    }
    for (const { which, cut } of bodies) {
      const lookup = lookupOf(which)
      if (which !== 'incoming' && which !== 'request' && lookup === undefined) continue
      if (cut) {
        notRead.push({ part: which, reason: 'only the start of the body was kept' })
        continue
      }
      const body = await search.body(messageId, which)
      if (which === 'incoming') incoming = sampleOf(body)
      else if (lookup === undefined) request = readRequest(body)
      else if (lookup.isItem) lookups[lookup.id] = [...[lookups[lookup.id] ?? []].flat(), sampleOf(body)]
      else lookups[lookup.id] = sampleOf(body)
    }
    const { query, urlParams } = request
    return { source: { ...incoming, query, urlParams, lookups }, notRead }
  }
}

const sampleOf = ({ summary, content }: RecordedBody): SampleBody => ({
  body: content,
  ...(summary.contentType === '' ? {} : { contentType: summary.contentType }),
})
