/** The fetch position of each assigned partition, and the requests that start there. */
import { type Consumer, FetchIsolationLevels, type FetchOptions, ListOffsetTimestamps } from '@platformatic/kafka'
import type { FetchDemand } from '../record-consumer.ts'

/** A fetch returns as soon as there are records, or after this long; after the short one if a partition is paused. */
const IDLE_WAIT_MS = 500
const BUSY_WAIT_MS = 20

/** One object for each assignment of a partition, so that a response for a former one is recognised. */
export type FetchPosition = { readonly partition: number; offset: bigint }

/** A position with the offset that a request started at. */
export type FetchStart = Readonly<{ position: FetchPosition; offset: bigint }>

/**
 * In: the starts of one fetch from one broker, by partition; `isIdle`: no assigned partition is paused, so none waits for
 * the next fetch.
 */
export function fetchOptions(
  node: number,
  topicId: string,
  starts: ReadonlyMap<number, FetchStart>,
  { maxBytes, partitionBytes }: FetchDemand,
  isIdle: boolean,
): FetchOptions<Buffer, Buffer, Buffer, Buffer> {
  const partitions = [...starts].map(([partition, { offset }]) => ({
    partition,
    fetchOffset: offset,
    partitionMaxBytes: partitionBytes.get(partition) ?? maxBytes,
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
  }))
  return {
    node,
    topics: [{ topicId, partitions }],
    minBytes: 1,
    maxBytes,
    maxWaitTime: isIdle ? IDLE_WAIT_MS : BUSY_WAIT_MS,
    // What the Fetcher replaces, so that the client leaves out nothing.
    isolationLevel: FetchIsolationLevels.READ_UNCOMMITTED,
  }
}

/** The first offset of each of the partitions and the offset behind its last record; undefined if one is unknown. */
export async function readOffsetRanges(
  client: Consumer,
  topic: string,
  partitions: readonly number[],
): Promise<(partition: number) => Readonly<{ first: bigint; end: bigint }> | undefined> {
  const offsetsAt = async (timestamp: bigint) => {
    const isolationLevel = FetchIsolationLevels.READ_UNCOMMITTED
    const asked = { topics: [topic], partitions: { [topic]: [...partitions] }, timestamp, isolationLevel }
    return (await client.listOffsets(asked)).get(topic) ?? []
  }
  const earliest = await offsetsAt(ListOffsetTimestamps.EARLIEST)
  const latest = await offsetsAt(ListOffsetTimestamps.LATEST)
  return (partition) => {
    const [first, end] = [earliest[partition], latest[partition]]
    return first === undefined || end === undefined ? undefined : { first, end }
  }
}
