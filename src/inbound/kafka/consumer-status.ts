/** The status of an endpoint's consumer, as GET /consumers and the health endpoints show it. */
import type { ConsumerStatus, PartitionStatus, StartedRecords } from '../../core/ports/consumer-state.ts'
import type { RecordSession } from './consumer-session.ts'
import type { PartitionQueue, QueueFigures } from './partition-queue.ts'

/** `isJoined`: the group is joined and nothing is in trouble. */
export function consumptionOf(
  session: Pick<RecordSession, 'queues' | 'inFlight'> | undefined,
  isJoined: boolean,
): Pick<ConsumerStatus, 'state' | 'lag' | 'inFlight' | 'partitions'> & StartedRecords {
  const queues = session?.queues() ?? []
  const partitions = queues.map(partitionStatus)
  const states = partitions.map(({ state }) => state)
  const worst = (['stopped', 'waiting'] as const).find((state) => states.includes(state)) ?? 'running'
  return {
    state: isJoined ? worst : 'connecting',
    lag: partitions.reduce((sum, { lag }) => sum + lag, 0),
    inFlight: session?.inFlight ?? 0,
    ...startedOf(queues.map(({ figures }) => figures)),
    partitions,
  }
}

function startedOf(figures: readonly QueueFigures[]): StartedRecords {
  const sum = (number: 'underWay' | 'retrying' | 'holes') => figures.reduce((total, one) => total + one[number], 0)
  const starts = figures.flatMap(({ oldestAt }) => oldestAt ?? [])
  return {
    underWay: sum('underWay'),
    retrying: sum('retrying'),
    holes: sum('holes'),
    ...(starts.length === 0 ? {} : { oldestAt: new Date(Math.min(...starts)).toISOString() }),
  }
}

function partitionStatus(queue: PartitionQueue): PartitionStatus {
  const { partition, state, committedOffset, endOffset, figures } = queue
  const lag = endOffset > committedOffset ? endOffset - committedOffset : 0n
  return {
    partition,
    state: state.state,
    committed: Number(committedOffset),
    end: Number(endOffset),
    lag: Number(lag),
    ...startedOf([figures]),
  }
}

/** The sentence for records that were deleted before they were read; offsets, `to` is the next that exists. */
export const describeReset = (partition: number, from: bigint, to: bigint): string =>
  from < to
    ? `The records ${from} to ${to - 1n} of partition ${partition} were deleted before they were read; consuming goes on at ${to}`
    : `Partition ${partition} has no record ${from} any more: it was truncated, or its topic was created again; consuming restarts at ${to}`
