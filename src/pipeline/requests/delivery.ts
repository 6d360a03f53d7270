/** The two targets of a request: a URL, which answers, and a topic, which acknowledges. */
import type { HttpClient, OutboundAnswer, OutboundRequest } from '../../core/ports/http-client-port.ts'
import type { RecordOffset, RecordProducer } from '../../core/ports/record-producer.ts'
import type { Run } from '../../core/run.ts'
import { type CallSpan, keepsSent, noteSent, traceHeaders } from '../../core/tracing/trace.ts'
import type { Body, PreparedRequest } from './request-call.ts'

/** Fails with OutboundError. */
export type Deliver = (
  prepared: PreparedRequest,
  body: Body | undefined,
  timeoutMs: number,
  run: Run,
  called: CallSpan,
) => Promise<Delivered>

type Delivered = OutboundAnswer | RecordOffset

/** Options that are the same for each message. */
export type CallOptions = Pick<OutboundRequest, 'retries' | 'redirects' | 'staysOnOrigin' | 'idempotent' | 'originName'>

export function deliverToUrl(http: HttpClient, options: CallOptions): Deliver {
  return ({ method, url, headers: own }, body, timeoutMs, run, called) => {
    const traced = withTrace(own, run, called)
    const headers = body === undefined ? traced : { ...traced, 'content-type': body.contentType }
    noteSent(run.trace, called, headers, body?.content)
    const request = { ...options, method, url, headers, timeoutMs, patient: run.isPatient, budget: run.budget }
    return http.send(body === undefined ? request : { ...request, body: body.content })
  }
}

/** Produces the body, in the transaction of the message if it has one. Resolves once every in-sync replica has the record. */
export function deliverToTopic(topic: string, producer: RecordProducer): Deliver {
  return ({ headers, key }, body, timeoutMs, run, called) => {
    const sent: [name: string, value: string][] = []
    for (const header of Object.entries(withTrace(headers, run, called))) {
      if (header[0] !== 'content-type') sent.push(header)
    }
    if (body !== undefined) sent.push(['content-type', body.contentType])
    sent.push(['crosswalk.message-id', run.messageId])
    if (keepsSent(run.trace)) noteSent(run.trace, called, Object.fromEntries(sent), body?.content)
    const record = { topic, key, value: body?.content ?? '', headers: sent }
    return (run.producer ?? producer).produce(record, timeoutMs, run.turn)
  }
}

/** The answer of a topic is `{ topic, partition, offset }`. */
export function answerOf(delivered: Delivered): OutboundAnswer {
  if ('status' in delivered) return delivered
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: Buffer.from(JSON.stringify(delivered)) }
}

/** `traceparent` and `tracestate`, if the call is traced. */
function withTrace(
  headers: PreparedRequest['headers'],
  { trace: { context } }: Run,
  { spanId }: CallSpan,
): PreparedRequest['headers'] {
  return context === undefined || spanId === undefined ? headers : { ...headers, ...traceHeaders(context, spanId) }
}
