/** A record of a topic, as the pipeline takes it and as the dead-letter topic gets it. */
import type { Failure } from '../../domain/failure.ts'
import type { Headers } from '../../domain/message.ts'
import type { BrokerRecord } from '../../domain/ports.ts'
import { syntaxOfFormat } from '../../formats/media-type.ts'
import type { Compiled } from '../../registry/compiled.ts'
import type { Incoming } from '../../registry/intake.ts'
import { TOMBSTONE } from '../../registry/tombstone.ts'

export type ConsumedRecord = Readonly<{
  topic: string
  partition: number
  offset: bigint
  /** Milliseconds since the epoch. */
  timestamp: number
  key: Buffer | null
  /** null: a tombstone. */
  value: Buffer | null
  headers: readonly (readonly [name: Buffer | null, value: Buffer | null])[]
}>

/**
 * A record as a message. A tombstone is the value null where JSON is expected; XML has no such value, so that it
 * cannot be read there.
 */
export function toIncoming(record: ConsumedRecord, { endpoint }: Compiled, triesAgain: boolean): Incoming {
  const { input } = endpoint.transformation
  const isJson = input !== undefined && syntaxOfFormat(input) === 'json'
  const body = record.value ?? (isJson ? TOMBSTONE : undefined)
  return { requestHeaders: headersOf(record), query: {}, urlParams: {}, body, isRecord: true, triesAgain }
}

/** Names in lower case; values of a repeated name are joined, as those of a request would be. */
function headersOf({ topic, partition, offset, key, headers }: ConsumedRecord): Headers {
  const place: Headers = {
    'kafka-topic': topic,
    'kafka-partition': String(partition),
    'kafka-offset': String(offset),
    ...(key === null ? {} : { 'kafka-key': String(key) }),
  }
  // Most records have none, and this runs for each.
  if (headers.length === 0) return place
  const found = new Map<string, string>()
  for (const [rawName, rawValue] of headers) {
    const name = String(rawName ?? '').toLowerCase()
    const value = String(rawValue ?? '')
    const earlier = found.get(name)
    found.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  found.delete('kafka-key')
  return { ...Object.fromEntries(found), ...place }
}

/** The record with its key, bytes and headers unchanged, and behind them where it came from and what is wrong with it. */
export function toDeadLetter(
  record: ConsumedRecord,
  topic: string,
  { document }: Compiled,
  failure: Failure,
  attempts: number,
): BrokerRecord {
  return {
    topic,
    key: record.key,
    value: record.value,
    headers: [
      ...record.headers.map(([name, value]) => [name ?? '', value] as const),
      ['crosswalk.endpoint', document.name],
      ['crosswalk.endpoint-id', document._id],
      ['crosswalk.stage', failure.stage ?? 'receive'],
      ['crosswalk.code', failure.code],
      ['crosswalk.error', failure.message],
      ['crosswalk.topic', record.topic],
      ['crosswalk.partition', String(record.partition)],
      ['crosswalk.offset', String(record.offset)],
      ['crosswalk.timestamp', timeText(record.timestamp)],
      ['crosswalk.attempts', String(attempts)],
    ],
  }
}

/** Producers may set any number as the time of a record. */
function timeText(timestampMs: number): string {
  return Math.abs(timestampMs) <= 8.64e15 ? new Date(timestampMs).toISOString() : String(timestampMs)
}
