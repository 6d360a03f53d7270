/**
 * Requests that produce a record, in the transaction of the message if it has one. They succeed once every in-sync replica
 * has the record.
 */

import type { Body } from '../../core/ports/destination.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import type { RecordOffset, RecordProducer } from '../../core/ports/record-producer.ts'
import type { Sending } from '../../core/run.ts'
import { type CallSpan, keepsSent, noteSent } from '../../core/tracing/trace.ts'
import { type OpenTarget, type Target, withTrace } from '../target.ts'

export const TOPIC_TARGET = {
  own: { name: 'kafkaProducerTopic', prefix: 'kafka:', shownAs: 'topic', host: 'kafka', method: 'PRODUCE' },
  isHttp: false,
  takes: { key: '"key" is the key of a record; give "kafkaProducerTopic" as well, or leave it out.' },
  promise: 'A message whose record the broker did not take always fails, so a topic cannot be optional; leave it out.',
  requests: 'A request to a topic',
  joinsTransactions: true,
  fixedAnswer: {
    description: 'the place of the record in its topic',
    schema: {
      type: 'object',
      required: ['topic', 'partition', 'offset'],
      properties: { topic: { type: 'string' }, partition: {}, offset: {} },
    },
    of: (topic) => toAnswer({ topic, partition: 0, offset: 0 }),
  },
  lint: ({ kafkaProducerTopic: topic }, { kafkaConsumerTopic: consumed }, lint) => {
    if (topic !== consumed) return
    lint.at('kafkaProducerTopic').warning(`the endpoint consumes "${topic}" itself, so each record produces another`)
  },
  listHeaders: listRecordHeaders,
  describeSpan: (_call, topic) => ({
    name: `send ${topic}`,
    kind: 'producer',
    attributes: {
      'messaging.system': 'kafka',
      'messaging.destination.name': topic,
      'messaging.operation.type': 'send',
    },
  }),
  open: ({ producer }: Readonly<{ producer: RecordProducer }>): OpenTarget => ({
    send: ({ address: topic }, { prepared, body, timeoutMs }, run, called) => {
      const headers = listRecordHeaders(prepared, body, run, called)
      if (keepsSent(run.trace)) noteSent(run.trace, called, Object.fromEntries(headers), body?.content)
      const record = { topic, key: prepared.key, value: body?.content ?? '', headers }
      return (run.producer ?? producer).produce(record, timeoutMs, run.slot).then(toAnswer)
    },
  }),
} as const satisfies Target

function listRecordHeaders(
  { headers: own }: PreparedRequest,
  body: Body | undefined,
  run: Sending,
  called: CallSpan,
): [name: string, value: string][] {
  const sent: [name: string, value: string][] = []
  for (const header of Object.entries(withTrace(own, run, called))) {
    if (header[0] !== 'content-type') sent.push(header)
  }
  if (body !== undefined) sent.push(['content-type', body.contentType])
  sent.push(['crosswalk.message-id', run.messageId])
  return sent
}

/** The answer of a topic is `{ topic, partition, offset }`. */
const toAnswer = (offset: RecordOffset): OutboundAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(offset)),
})
