/** A recorded message as a dry run takes it: the message itself, and what other systems answered it. */
import type { OutboundFault } from '../../core/ports/http-client-port.ts'
import type { MessageRecord, RecordedBody, RecordedCall } from '../../core/records/message-record.ts'
import type { Incoming } from '../../inbound/incoming-message.ts'
import { nameOfAnswer, readRequest, toReplay } from '../../records/message-log/bodies.ts'
import { callMessageLog, type MessageSearch } from '../../records/message-log/message-search.ts'
import type { MessageStore } from '../../store/sql/messages.ts'

/** Undefined parts of an answer are those of a canned one. */
export type RecordedAnswer = Readonly<{
  status: number
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  fault: OutboundFault | undefined
}>

/** Of an exchange with another system. `summary`: undefined if its body was not kept. */
export type RecordedExchange = Readonly<{
  call: Pick<RecordedCall, 'kind' | 'id' | 'item'>
  answer: RecordedAnswer | undefined
  summary: RecordedBody['summary'] | undefined
}>

export type RecordedMessage = Readonly<{
  record: MessageRecord
  incoming: Incoming
  /** Of the parts `request` and `incoming`. */
  summaries: readonly RecordedBody['summary'][]
  exchanges: readonly RecordedExchange[]
}>

export type RecordedMessages = Readonly<{
  search: Pick<MessageSearch, 'get' | 'body'>
  store: Pick<MessageStore, 'body'>
}>

/** Fails with ID_MALFORMED, MESSAGE_UNKNOWN, MESSAGE_BODY_UNKNOWN if its request was not kept, STORE_UNAVAILABLE. */
export async function readRecordedMessage(id: string, { search, store }: RecordedMessages): Promise<RecordedMessage> {
  const record = await search.get(id)
  const kept = new Set(record.bodies.map(({ which }) => which))
  const read = async (which: string): Promise<RecordedBody | undefined> =>
    kept.has(which) ? callMessageLog(() => store.body(id, which)) : undefined
  // Fails with what is kept instead.
  const request = (await read('request')) ?? (await search.body(id, 'request'))
  const body = await read('incoming')
  const exchanges: RecordedExchange[] = []
  for (const call of record.calls) {
    const answered = await read(nameOfAnswer(call))
    exchanges.push({ call, answer: answerOf(call, answered), summary: answered?.summary })
  }
  return {
    record,
    incoming: toReplay(record, readRequest(request), body?.content),
    summaries: [request, ...(body === undefined ? [] : [body])].map(({ summary }) => summary),
    exchanges,
  }
}

/** An incomplete response is left out: with it, the message would fail in a way in which it did not. */
function answerOf(
  { status, fault, target }: RecordedCall,
  recorded: RecordedBody | undefined,
): RecordedAnswer | undefined {
  if (fault !== undefined) {
    const known = fault === 'deadline' || fault === 'internal' ? 'timeout' : fault
    return { status: 200, headers: {}, body: new Uint8Array(), fault: known }
  }
  if (target.startsWith('kafka:')) return { status: 200, headers: {}, body: new Uint8Array(), fault: undefined }
  if (status === undefined || recorded === undefined || recorded.summary.cut) return undefined
  const { contentType } = recorded.summary
  const headers = contentType === '' ? {} : { 'content-type': contentType }
  return { status, headers, body: recorded.content, fault: undefined }
}
