/** What a reader of committed records finds in a topic, read past the service: of transactions, only those that were committed. */
import { randomUUID } from 'node:crypto'
import { Consumer, FetchIsolationLevels, ListOffsetTimestamps } from '@platformatic/kafka'

export type CommittedRecord = Readonly<{ partition: number; offset: number; value: Buffer | null }>

type Batch = NonNullable<
  Awaited<ReturnType<Consumer['fetch']>>['responses'][number]['partitions'][number]['records']
>[number]

/** Bits of a batch's attributes (https://kafka.apache.org/documentation/#recordbatch). */
const TRANSACTIONAL = 0x10
const CONTROL = 0x20
/** Type of a control record, the second number of its key. */
const COMMIT = 1

/** All committed records before the first open transaction of each partition, in the order of each partition. */
export async function readCommitted(brokers: string, topic: string): Promise<CommittedRecord[]> {
  const reader = new Consumer({
    clientId: 'tests',
    bootstrapBrokers: brokers.split(','),
    groupId: `tests-${randomUUID()}`,
    retries: 10,
    retryDelay: 200,
  })
  try {
    const isolationLevel = FetchIsolationLevels.READ_COMMITTED
    const asked = { topics: [topic], timestamp: ListOffsetTimestamps.LATEST, isolationLevel }
    const stable = (await reader.listOffsets(asked)).get(topic) ?? []
    const found: CommittedRecord[] = []
    for (const [partition, end] of stable.entries()) {
      const batches = await readBatches(reader, topic, partition, end)
      found.push(...committedIn(batches).map((record) => ({ partition, ...record })))
    }
    return found
  } finally {
    await reader.close()
  }
}

async function readBatches(reader: Consumer, topic: string, partition: number, end: bigint): Promise<Batch[]> {
  reader.topics.track(topic)
  const info = (await reader.metadata({ topics: [topic] })).topics.get(topic)
  if (info === undefined) throw new Error(`no topic ${topic}`)
  const node = info.partitions[partition]?.leader ?? 0
  const found: Batch[] = []
  for (let next = 0n; next < end; ) {
    const from = {
      partition,
      fetchOffset: next,
      partitionMaxBytes: 4_000_000,
      currentLeaderEpoch: -1,
      lastFetchedEpoch: -1,
    }
    const topics = [{ topicId: info.id, partitions: [from] }]
    // Uncommitted ones as well: the client leaves out more than aborted records where it reads committed ones.
    const isolationLevel = FetchIsolationLevels.READ_UNCOMMITTED
    const { responses } = await reader.fetch({ node, topics, maxWaitTime: 100, isolationLevel })
    for (const batch of responses.flatMap(({ partitions }) => partitions).flatMap(({ records }) => records ?? [])) {
      next = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n
      if (batch.firstOffset < end) found.push(batch)
    }
  }
  return found
}

/** A transaction is decided by the mark of its producer that follows. */
function committedIn(batches: readonly Batch[]): Omit<CommittedRecord, 'partition'>[] {
  const isCommitted = new Map<bigint, boolean>()
  return batches
    .toReversed()
    .filter(({ attributes, producerId, records }) => {
      if ((attributes & CONTROL) !== 0) isCommitted.set(producerId, records[0]?.key?.readInt16BE(2) === COMMIT)
      else if ((attributes & TRANSACTIONAL) === 0 || isCommitted.get(producerId) === true) return true
      return false
    })
    .toReversed()
    .flatMap(({ firstOffset, records }) =>
      records.map(({ offsetDelta, value }) => ({ offset: Number(firstOffset) + offsetDelta, value })),
    )
}
