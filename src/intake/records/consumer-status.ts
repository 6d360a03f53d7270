/** The status of an endpoint's consumer, as GET /consumers and the health endpoints show it. */
import type { ConsumerStatus, PartitionStatus } from '../../domain/ports/consumer-state.ts'
import type { RecordSession } from './consumer-session.ts'
import type { PartitionQueue } from './partition-queue.ts'

/** `isJoined`: the group is joined and nothing is in trouble. */
export function consumptionOf(
  session: Pick<RecordSession, 'queues' | 'inFlight'> | undefined,
  isJoined: boolean,
): Pick<ConsumerStatus, 'state' | 'lag' | 'inFlight' | 'partitions'> {
  const partitions = (session?.queues() ?? []).map(partitionStatus)
  const states = partitions.map(({ state }) => state)
  const worst = (['stopped', 'waiting'] as const).find((state) => states.includes(state)) ?? 'running'
  return {
    state: isJoined ? worst : 'connecting',
    lag: partitions.reduce((sum, { lag }) => sum + lag, 0),
    inFlight: session?.inFlight ?? 0,
    partitions,
  }
}

function partitionStatus({ partition, state: { state }, committedOffset, endOffset }: PartitionQueue): PartitionStatus {
  const lag = endOffset > committedOffset ? endOffset - committedOffset : 0n
  return {
    partition,
    state,
    committed: Number(committedOffset),
    end: Number(endOffset),
    lag: Number(lag),
  }
}

/** The sentence for records that were deleted before they were read; offsets, `to` is the next that exists. */
export const describeReset = (partition: number, from: bigint, to: bigint): string =>
  from < to
    ? `The records ${from} to ${to - 1n} of partition ${partition} were deleted before they were read; consuming goes on at ${to}`
    : `Partition ${partition} has no record ${from} any more: it was truncated, or its topic was created again; consuming restarts at ${to}`
