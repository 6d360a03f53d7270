/** A message as it enters the intake: a request, a record of a topic, or a replay of one of these. */
import type { JsonObject } from '../core/json.ts'
import type { Headers } from '../core/message.ts'
import type { ProduceSlot, RecordProducer } from '../core/ports/record-producer.ts'
import type { RecordedSource } from '../core/records/message-record.ts'

export type Incoming = Readonly<{
  requestHeaders: Headers
  query: JsonObject
  urlParams: JsonObject
  body: Uint8Array | undefined
  /** The message is a record of a topic. */
  isRecord?: boolean
  /** The consumer retries this message itself after a failure that may succeed later. */
  triesAgain?: boolean
  /** The slot of a record among those of its partition, if they do not wait for each other. */
  slot?: ProduceSlot | undefined
  /** What its records go to in place of the producer of the service. */
  producer?: RecordProducer | undefined
  /** The authenticated caller, if the endpoint requires one (`EndpointAuth`). */
  caller?: string | undefined
  /** The id of the message that this one replays. */
  replayOf?: string
  /** Set if the answer reports what the calls of the message send: the most bytes of their bodies to keep for that. */
  sentBytes?: number | undefined
}>

/** How a message arrived. */
export type Source = RecordedSource

export const classifySource = ({ replayOf, isRecord }: Incoming): Source => {
  if (replayOf !== undefined) return 'replay'
  return isRecord ? 'broker' : 'http'
}
