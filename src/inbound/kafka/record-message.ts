/** A consumed record as a message for the pipeline. */
import { Failure } from '../../core/failure.ts'
import type { Headers } from '../../core/message.ts'
import type { ConsumedRecord } from '../../core/ports/record-consumer.ts'
import type { ProduceTurn, RecordProducer } from '../../core/ports/record-producer.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Incoming } from '../incoming-message.ts'
import { refusesNull, tombstoneOf } from './tombstone.ts'

export type RecordLimits = Readonly<{ validationAcceptNullValues: boolean }>

/**
 * In: a record; `triesAgain`: whether a failure that may pass would be retried; `producer`: what its
 * records go to in place of the producer of the service. Out: the message. A tombstone is the
 * value null; in a format without null it is no body, which fails with BODY_UNREADABLE.
 */
export function toIncoming(
  record: ConsumedRecord,
  compiled: CompiledEndpoint,
  triesAgain: boolean,
  turn: ProduceTurn | undefined,
  producer: RecordProducer | undefined,
): Incoming {
  const body = record.value ?? tombstoneOf(compiled)
  return {
    requestHeaders: headersOf(record),
    query: {},
    urlParams: {},
    body,
    isRecord: true,
    triesAgain,
    turn,
    producer,
  }
}

/** The failure of a tombstone that is refused without being parsed: VALIDATION_FAILED. */
export function refusalOfRecord(
  { value }: ConsumedRecord,
  compiled: CompiledEndpoint,
  { validationAcceptNullValues }: RecordLimits,
): Failure | undefined {
  if (value !== null || validationAcceptNullValues || !refusesNull(compiled)) return undefined
  const failure = new Failure(
    'VALIDATION_FAILED',
    'Validation failed: the record is a tombstone, without a value, and the schema does not accept null.',
    { path: 'inputValidation' },
  )
  failure.stage = 'validate'
  return failure
}

/** Names in lower case; the values of a repeated name are joined, like those of a request. */
function headersOf({ topic, partition, offset, key, headers }: ConsumedRecord): Headers {
  const origin: Headers = {
    'kafka-topic': topic,
    'kafka-partition': String(partition),
    'kafka-offset': String(offset),
    ...(key === null ? {} : { 'kafka-key': String(key) }),
  }
  // Most records have no headers, and this runs for each record.
  if (headers.length === 0) return origin
  const found = new Map<string, string>()
  for (const [rawName, rawValue] of headers) {
    const name = String(rawName ?? '').toLowerCase()
    const value = String(rawValue ?? '')
    const earlier = found.get(name)
    found.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  found.delete('kafka-key')
  return { ...Object.fromEntries(found), ...origin }
}
