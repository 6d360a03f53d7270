/** Backpressure: how much of a topic may be fetched while earlier records still wait to be processed. */
import type { FetchDemand } from '../../domain/ports/record-consumer.ts'
import type { PartitionQueue } from './partition-queue.ts'

const MOST_PARTITION_BYTES = 256 * 1024
const LEAST_PARTITION_BYTES = 32 * 1024
const FETCH_BYTES = 2 * 1024 * 1024

export const NO_DEMAND: FetchDemand = { maxBytes: FETCH_BYTES, partitionBytes: new Map() }

/**
 * `limitBytes`: of the records of the endpoint that were fetched and are not done. A partition fetches while few of its records
 * wait to start; the others may hold its equal share of the limit, so that it leaves the shares of other partitions alone.
 */
export function demandOf(
  queues: ReadonlyMap<number, Pick<PartitionQueue, 'bufferedBytes' | 'waitingBytes'>>,
  limitBytes: number,
): FetchDemand {
  const share = Math.floor(limitBytes / Math.max(queues.size, 1))
  const partitionBytes = Math.max(LEAST_PARTITION_BYTES, Math.min(MOST_PARTITION_BYTES, share))
  const room = new Map<number, number>()
  let buffered = 0
  for (const [partition, { bufferedBytes, waitingBytes }] of queues) {
    buffered += bufferedBytes
    const hasShare = bufferedBytes < Math.max(share, partitionBytes)
    if (hasShare && waitingBytes < partitionBytes / 2) room.set(partition, partitionBytes)
  }
  return buffered >= limitBytes ? NO_DEMAND : { maxBytes: FETCH_BYTES, partitionBytes: room }
}
