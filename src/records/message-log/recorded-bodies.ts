/**
 * The bodies of a log entry: how those of a completed message are captured, in the order of its stages, and how the message is
 * rebuilt from them.
 */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Headers, Mapped } from '../../core/message.ts'
import type { MessageRecord, RecordedBody } from '../../core/records/message-record.ts'
import type { CallSpan } from '../../core/tracing/trace.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { Incoming } from '../../inbound/incoming-message.ts'
import type { BodyCapture } from './body-capture.ts'
import { holdsToken } from './recorded-secrets.ts'

/** `secretHeaders`: lower-case names. */
export function captureBodies(
  { incoming, trace, answer, failure }: CompletedMessage,
  capture: BodyCapture,
  secretHeaders: ReadonlySet<string>,
): void {
  if (incoming !== undefined) captureIncoming(incoming, capture, secretHeaders)
  if (trace !== undefined) {
    const { transforms, responseBody } = (trace.reached ?? {}) as Partial<Mapped>
    captureCalls(trace.calls, 'lookup', capture)
    if (transforms !== undefined && Object.keys(transforms).length > 0) capture.addValue('transforms', transforms)
    if (responseBody !== undefined) capture.addValue('mapped', responseBody)
    captureCalls(trace.calls, 'response', capture)
  }
  const { body, headers } = answer
  const content = typeof body === 'string' ? Buffer.from(body) : body
  const add = failure === undefined ? capture.addBody : capture.addReport
  if (content.byteLength > 0) add('answer', firstOf(headers['content-type']), content)
}

function captureIncoming(
  { requestHeaders, query, urlParams, isRecord, body }: NonNullable<CompletedMessage['incoming']>,
  capture: BodyCapture,
  secretHeaders: ReadonlySet<string>,
): void {
  const headers = Object.fromEntries(
    Object.entries(requestHeaders).filter(([name, value]) => !secretHeaders.has(name) && !holdsToken(value)),
  )
  capture.addValue('request', { requestHeaders: headers, query, urlParams, ...(isRecord ? { isRecord } : {}) })
  if (body !== undefined) capture.addBody('incoming', requestHeaders['content-type'] ?? '', body)
}

function captureCalls(calls: readonly CallSpan[], kind: CallSpan['kind'], capture: BodyCapture): void {
  for (const call of calls) {
    if (call.kind !== kind || call.answer === undefined) continue
    capture.addBody(nameOfAnswer(call), firstOf(call.answer.headers['content-type']), call.answer.body)
  }
}

/** The name of the body that a call was answered with. */
export const nameOfAnswer = ({
  kind,
  id,
  item,
}: Pick<CallSpan, 'kind' | 'id'> & { item?: number | undefined }): string =>
  `${kind}.${id}${item === undefined ? '' : `[${item}]`}`

/** The lookup whose answer the name is of; `isItem`: a lookup with `forEach` has a body for each item. */
export function lookupOf(name: string): Readonly<{ id: string; isItem: boolean }> | undefined {
  const [, id, item] = /^lookup\.(.+?)(\[\d+\])?$/s.exec(name) ?? []
  return id === undefined ? undefined : { id, isItem: item !== undefined }
}

/** What the body `request` holds: the incoming message without its body. */
export type RecordedRequest = Readonly<{
  requestHeaders: Headers
  query: JsonObject
  urlParams: JsonObject
  isRecord?: boolean
}>

/** Nothing is known of a request that is cut. */
export function readRequest({ summary, content }: RecordedBody): RecordedRequest {
  const none: RecordedRequest = { requestHeaders: {}, query: {}, urlParams: {} }
  if (summary.cut) return none
  const request = JSON.parse(Buffer.from(content).toString()) as Json
  return isObject(request) ? { ...none, ...request } : none
}

/** A log entry as the message of a replay: it does not wait for a caller, and is not the record of a consumer. */
export const toReplay = (
  { id, source }: MessageRecord,
  { requestHeaders, query, urlParams, isRecord = source === 'broker' }: RecordedRequest,
  body: Uint8Array | undefined,
): Incoming => ({ requestHeaders, query, urlParams, body, isRecord, replayOf: id })

const firstOf = (header: string | readonly string[] | undefined): string => [header ?? []].flat()[0] ?? ''
