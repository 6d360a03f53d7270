/** The two places that a request can go to: a URL, whose answer comes back, and a topic, whose acknowledgement does. */

import type { HttpClient, OutboundAnswer, OutboundRequest } from '../../domain/ports/http-client-port.ts'
import type { RecordProducer } from '../../domain/ports/record-producer.ts'
import type { Run } from '../../domain/run.ts'
import type { CallSpan } from '../../domain/tracing/trace.ts'
import { traceHeaders } from '../../domain/tracing/trace-context.ts'
import type { Body, PreparedRequest } from './request-call.ts'

/** Fails with OutboundError. */
export type Deliver = (
  prepared: PreparedRequest,
  body: Body | undefined,
  timeoutMs: number,
  run: Run,
  called: CallSpan,
) => Promise<OutboundAnswer>

/** What of a request is the same for each message. */
export type Manner = Pick<OutboundRequest, 'retries' | 'redirects' | 'staysOnOrigin' | 'idempotent' | 'originName'>

export function deliverToUrl(http: HttpClient, manner: Manner): Deliver {
  return ({ method, url, headers: own }, body, timeoutMs, run, called) => {
    const headers = withTrace(own, run, called)
    if (body === undefined) return http.send({ ...manner, method, url, headers, timeoutMs, patient: run.isPatient })
    const { content, contentType } = body
    return http.send({
      ...manner,
      method,
      url,
      headers: { ...headers, 'content-type': contentType },
      body: content,
      timeoutMs,
      patient: run.isPatient,
    })
  }
}

/** Produces the body; the answer is `{ topic, partition, offset }`, once every replica in sync has the record. */
export function deliverToTopic(topic: string, producer: RecordProducer): Deliver {
  return async ({ headers, key }, body, timeoutMs, run, called) => {
    const ownHeaders = Object.entries(withTrace(headers, run, called)).filter(([name]) => name !== 'content-type')
    const contentType = body === undefined ? [] : [['content-type', body.contentType] as const]
    const recordOffset = await producer.produce(
      {
        topic,
        key,
        value: body?.content ?? '',
        headers: [...ownHeaders, ...contentType, ['crosswalk.message-id', run.messageId]],
      },
      timeoutMs,
    )
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(recordOffset)),
    }
  }
}

/** The trace goes on at the other side, where somebody traces. */
function withTrace(
  headers: PreparedRequest['headers'],
  { trace: { context } }: Run,
  { spanId }: CallSpan,
): PreparedRequest['headers'] {
  return context === undefined || spanId === undefined ? headers : { ...headers, ...traceHeaders(context, spanId) }
}
