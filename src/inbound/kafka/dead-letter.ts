/** Dead letters: records that cannot be processed, written to a topic of their own with the reason in their headers. */
import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import type { Failure } from '../../core/failure.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { ConsumedRecord } from '../../core/ports/record-consumer.ts'
import type { BrokerRecord, RecordProducer, RecordTransactions } from '../../core/ports/record-producer.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { PartitionHandle } from './partition-handle.ts'

export type DeadLetterOptions = Readonly<{
  /** The active endpoint; undefined once it is deleted, or consumes another topic. */
  current: () => CompiledEndpoint | undefined
  producer: RecordProducer
  /** Of the partition, if what is produced for its records and their offsets are to be committed together. */
  transactions?: RecordTransactions | undefined
  logger: Logger
  produceTimeoutMs: number
}>

const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 }

/** The dead-letter topic of a topic; undefined where its records have none and stop their partition instead. */
export function deadLetterTopicOf(topic: string, template: string): string | undefined {
  if (template === 'off') return undefined
  const name = deadLetterName(topic, template)
  // The endpoint would consume its own dead letters forever.
  return name === topic ? undefined : name
}

/** `{topic}` in the template stands for the consumed topic. */
export const deadLetterName = (topic: string, template: string): string => template.replaceAll('{topic}', topic)

/**
 * Writes the record to the dead-letter topic until the broker acknowledges it; the pauses between tries grow. Meanwhile
 * the partition reports `stopped`. Resolves to false if the endpoint is gone; rejects once the handle's signal is aborted.
 */
export async function writeDeadLetter(
  record: ConsumedRecord,
  topic: string,
  failure: Failure,
  attempts: number,
  { current, producer, transactions, logger, produceTimeoutMs }: DeadLetterOptions,
  { signal, report, pause }: PartitionHandle,
): Promise<boolean> {
  for (let pauseMs = 0; ; ) {
    signal.throwIfAborted()
    const compiled = current()
    if (compiled === undefined) return false
    const endpoint = compiled.document.name
    try {
      const target = transactions?.open(record.offset + 1n, 1) ?? producer
      await target.produce(toDeadLetter(record, topic, compiled, failure, attempts), produceTimeoutMs)
      const { topic: source, partition, offset } = record
      logger.warn(
        { endpoint, code: failure.code, topic: source, partition, offset: String(offset), attempts },
        `A record went to the dead-letter topic ${topic}: ${failure.unquoted}`,
      )
      report({ state: 'running', error: `A record went to ${topic}: ${failure.message}` })
      return true
    } catch (thrown) {
      const error = `The dead-letter topic cannot be written to: ${(thrown as Error).message}`
      report({ state: 'stopped', error })
      if (pauseMs === 0) logger.error({ endpoint, topic, err: thrown }, error)
      pauseMs = nextPauseMs(pauseMs, BACKOFF)
      await pause(pauseMs)
    }
  }
}

/** The record with its key, bytes and headers unchanged, followed by headers that say where it came from and why it failed. */
function toDeadLetter(
  record: ConsumedRecord,
  topic: string,
  { document }: CompiledEndpoint,
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

/** ISO 8601; as a number where a producer set a time that Date cannot hold. */
function timeText(timestampMs: number): string {
  return Math.abs(timestampMs) <= 8.64e15 ? new Date(timestampMs).toISOString() : String(timestampMs)
}
