/** The meaning of the client's errors: whether a retry can help, and the sentence for people. */
import { findErrorBy } from '@platformatic/kafka'
import { OutboundError, type OutboundFault } from '../../core/ports/http-client-port.ts'

/** Error codes of a broker that a retry would meet again (https://kafka.apache.org/protocol#protocol_error_codes). */
const REFUSALS: Readonly<Record<string, string>> = {
  MESSAGE_TOO_LARGE: 'the record is larger than the topic takes (max.message.bytes)',
  RECORD_LIST_TOO_LARGE: 'the record is larger than a segment of the topic',
  INVALID_RECORD: 'the broker finds the record invalid; a compacted topic takes records with a key only',
  INVALID_TOPIC_EXCEPTION: 'the topic cannot be written to',
  POLICY_VIOLATION: 'the record violates a policy of the broker',
  TOPIC_AUTHORIZATION_FAILED: 'the service has no right to write to this topic',
  CLUSTER_AUTHORIZATION_FAILED: 'the service has no right to write to this cluster',
}

/** A topic that was deleted and created again keeps its name, but none of its offsets. */
export const TOPIC_REPLACED = 'the topic was deleted and created again'

export const isProtocolError = (error: unknown, id: string): boolean =>
  error instanceof Error && findErrorBy(error, 'apiId', id) !== null

/** True if the group has moved on from the generation or member that the request named. */
export const isFenced = (error: unknown): boolean =>
  ['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'REBALANCE_IN_PROGRESS', 'FENCED_INSTANCE_ID'].some((id) =>
    isProtocolError(error, id),
  )

/** Why a retry cannot help. */
export const explainRefusal = (error: unknown): string | undefined => {
  const id = Object.keys(REFUSALS).find((name) => isProtocolError(error, name))
  return id === undefined ? undefined : REFUSALS[id]
}

/** The innermost cause in one line: the errors of the client wrap each other, and the outer ones say little. */
function describeError(error: unknown): string {
  if (isProtocolError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) return 'the topic does not exist'
  const texts = new Set(causes(error).map((text) => text.replace(/\s+/g, ' ').trim()))
  // The client's own sentence; no broker was asked.
  if ([...texts].some((text) => text.startsWith('Unknown topic'))) return 'the topic does not exist'
  const text = [...texts].join('; ').slice(0, 300) || 'unknown error'
  return AWAY.test(text) ? `${text}; check that the broker runs, and KAFKA_BROKERS` : text
}

const AWAY = /\b(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b/

function causes(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)]
  const { errors } = error as { errors?: unknown }
  const inner =
    Array.isArray(errors) && errors.length > 0 ? errors.slice(-1) : error.cause === undefined ? [] : [error.cause]
  return inner.length === 0 ? [error.message] : inner.flatMap(causes)
}

/** The group whose offsets a consumer starts at has none of the topic. */
export class NoGroupStart extends Error {
  constructor(group: string, topic: string) {
    super(
      `the consumer group "${group}" has no offsets of the topic "${topic}"; correct the name in "kafkaConsumerStart", or set it to "earliest" or "latest"`,
    )
  }
}

/** An error with the sentence that people read, as the port RecordConsumer reports it. */
export const consumerError = (error: unknown): Error =>
  error instanceof NoGroupStart ? error : new Error(describeError(error), { cause: error })

export function produceError(topic: string, error: unknown): OutboundError {
  const refusal = explainRefusal(error)
  const timedOut = isProtocolError(error, 'REQUEST_TIMED_OUT') || hasCode(error, 'PLT_KFK_TIMEOUT')
  const fault: OutboundFault = refusal !== undefined ? 'refused' : timedOut ? 'timeout' : 'unreachable'
  return notAcknowledged(fault, topic, refusal ?? describeError(error), error)
}

export const notAcknowledged = (fault: OutboundFault, topic: string, why: string, cause?: unknown): OutboundError =>
  new OutboundError(fault, `The broker did not acknowledge a record for the topic "${topic}": ${why}.`, { cause })

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && findErrorBy(error, 'code', code) !== null
