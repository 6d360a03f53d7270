/** The two places that a request can go to: a URL, whose answer comes back, and a topic, whose acknowledgement does. */
import type { HttpClient, OutboundAnswer, RecordProducer } from '../domain/ports.ts'
import type { Run } from '../domain/run.ts'
import type { CallSpan } from '../domain/trace.ts'
import { traceHeaders } from '../domain/trace-context.ts'
import type { Body, Prepared } from './outbound.ts'

/** Fails with OutboundError. */
export type Deliver = (
  prepared: Prepared,
  body: Body | undefined,
  timeoutMs: number,
  run: Run,
  called: CallSpan,
) => Promise<OutboundAnswer>

export function deliverToUrl(http: HttpClient, retries: number, redirects: number | undefined): Deliver {
  return ({ method, url, headers: own }, body, timeoutMs, run, called) => {
    const headers = withTrace(own, run, called)
    return http.send({
      method,
      url,
      headers: body === undefined ? headers : { ...headers, 'content-type': body.contentType },
      ...(body === undefined ? {} : { body: body.content }),
      timeoutMs,
      retries,
      ...(redirects === undefined ? {} : { redirects }),
    })
  }
}

/** Produces the body; the answer is `{ topic, partition, offset }`, once every replica in sync has the record. */
export function deliverToTopic(topic: string, producer: RecordProducer): Deliver {
  return async ({ headers, key }, body, timeoutMs, run, called) => {
    const ownHeaders = Object.entries(withTrace(headers, run, called)).filter(([name]) => name !== 'content-type')
    const contentType = body === undefined ? [] : [['content-type', body.contentType] as const]
    const place = await producer.produce(
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
      body: Buffer.from(JSON.stringify(place)),
    }
  }
}

/** The trace goes on at the other side, where somebody traces. */
function withTrace(
  headers: Prepared['headers'],
  { trace: { context } }: Run,
  { spanId }: CallSpan,
): Prepared['headers'] {
  return context === undefined || spanId === undefined ? headers : { ...headers, ...traceHeaders(context, spanId) }
}
