/** Reads the records of a fetch, without those of aborted transactions. */
import type { Consumer } from '@platformatic/kafka'
import type { ConsumedRecord } from '../record-consumer.ts'

export type Fetched = Awaited<ReturnType<Consumer['fetch']>>
export type FetchedPartition = Fetched['responses'][number]['partitions'][number]

/** Bits of a batch's attributes (https://kafka.apache.org/documentation/#recordbatch). */
const IS_TRANSACTIONAL = 0x10
const IS_CONTROL = 0x20
/** Type of a control record, the second number of its key (https://kafka.apache.org/documentation/#controlbatch). */
const ABORT = 0

/** The response inside the error of a fetch in which only some partitions failed; undefined if all of it failed. */
export function fetchedDespite(error: unknown): Fetched | undefined {
  const { response } = error as { response?: Fetched }
  return response?.errorCode === 0 ? response : undefined
}

/**
 * In: the response for one partition. Out: its records from `start` on (a batch may start before it), and the offset
 * behind the last batch.
 *
 * The broker returns no records of an open transaction, and names the aborted ones: their records are left out here.
 */
export function readFetched(
  topic: string,
  { partitionIndex: partition, records: batches, abortedTransactions }: FetchedPartition,
  start: bigint,
): { records: ConsumedRecord[]; next: bigint } {
  const records: ConsumedRecord[] = []
  const aborted = (abortedTransactions ?? []).toSorted((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1))
  const abortedProducers = new Set<bigint>()
  let next = start
  for (const batch of batches ?? []) {
    next = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n
    while (aborted[0] !== undefined && aborted[0].firstOffset < next) {
      abortedProducers.add((aborted.shift() as (typeof aborted)[number]).producerId)
    }
    if ((batch.attributes & IS_CONTROL) !== 0) {
      if (batch.records[0]?.key?.readInt16BE(2) === ABORT) abortedProducers.delete(batch.producerId)
      continue
    }
    if ((batch.attributes & IS_TRANSACTIONAL) !== 0 && abortedProducers.has(batch.producerId)) continue
    for (const { offsetDelta, timestampDelta, key, value, headers } of batch.records) {
      const offset = batch.firstOffset + BigInt(offsetDelta)
      if (offset < start) continue
      const timestamp = Number(batch.firstTimestamp + timestampDelta)
      records.push({ topic, partition, offset, timestamp, key, value, headers })
    }
  }
  return { records, next }
}
