/** Backpressure: how much of a topic may be fetched while earlier records still wait to be processed. */
import type { FetchDemand } from '../../domain/ports/record-consumer.ts'
import type { PartitionQueue } from './partition-queue.ts'

/** Of the records that were fetched and are not done, for each endpoint. */
const BUFFER_BYTES = 4 * 1024 * 1024
const MOST_PARTITION_BYTES = 256 * 1024
const LEAST_PARTITION_BYTES = 32 * 1024
const FETCH_BYTES = BUFFER_BYTES / 2

export const NO_DEMAND: FetchDemand = { maxBytes: FETCH_BYTES, partitionBytes: new Map() }

/** Each partition may fetch its share while less than half of the share is queued, and none once the buffer is full. */
export function demandOf(queues: ReadonlyMap<number, PartitionQueue>): FetchDemand {
  const share = Math.floor(BUFFER_BYTES / Math.max(queues.size, 1))
  const partitionBytes = Math.max(LEAST_PARTITION_BYTES, Math.min(MOST_PARTITION_BYTES, share))
  const room = new Map<number, number>()
  let buffered = 0
  for (const [partition, { bufferedBytes }] of queues) {
    buffered += bufferedBytes
    if (bufferedBytes < partitionBytes / 2) room.set(partition, partitionBytes)
  }
  return buffered >= BUFFER_BYTES ? NO_DEMAND : { maxBytes: FETCH_BYTES, partitionBytes: room }
}
