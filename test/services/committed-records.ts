/** What a reader of committed records finds in a topic, read past the service: of transactions, only those that were committed. */
import { randomUUID } from 'node:crypto'
import { Consumer, FetchIsolationLevels, ListOffsetTimestamps } from '@platformatic/kafka'

export type CommittedRecord = Readonly<{ partition: number; offset: number; value: Buffer | null; headers: string[] }>

/** Bits of a batch's attributes (https://kafka.apache.org/documentation/#recordbatch). */
const TRANSACTIONAL = 0x10
const CONTROL = 0x20

/** All committed records before the first open transaction of each partition, in the order of each partition. */
export async function readCommitted(brokers: string, topic: string): Promise<CommittedRecord[]> {
  const reader = new Consumer({
    clientId: 'tests',
    bootstrapBrokers: brokers.split(','),
    groupId: `tests-${randomUUID()}`,
    retries: 10,
    retryDelay: 200,
  })
  const isolationLevel = FetchIsolationLevels.READ_COMMITTED
  try {
    const stable = (
      await reader.listOffsets({ topics: [topic], timestamp: ListOffsetTimestamps.LATEST, isolationLevel })
    ).get(topic)
    const info = (await reader.metadata({ topics: [topic] })).topics.get(topic)
    if (stable === undefined || info === undefined) throw new Error(`no topic ${topic}`)
    reader.topics.track(topic)
    const found: CommittedRecord[] = []
    for (const [partition, end] of stable.entries()) {
      for (let next = 0n; next < end; ) {
        const asked = { partition, fetchOffset: next, partitionMaxBytes: 4_000_000, currentLeaderEpoch: -1, lastFetchedEpoch: -1 }
        const { responses } = await reader.fetch({
          node: info.partitions[partition]?.leader ?? 0,
          topics: [{ topicId: info.id, partitions: [asked] }],
          maxWaitTime: 100,
          isolationLevel,
        })
        const [fetched] = responses.flatMap(({ partitions }) => partitions)
        const open = new Set<bigint>()
        const aborted = (fetched?.abortedTransactions ?? []).toSorted((a, b) => Number(a.firstOffset - b.firstOffset))
        for (const batch of fetched?.records ?? []) {
          const last = batch.firstOffset + BigInt(batch.lastOffsetDelta)
          for (let one = aborted[0]; one !== undefined && one.firstOffset <= last; one = aborted[0]) {
            open.add(one.producerId)
            aborted.shift()
          }
          if ((batch.attributes & CONTROL) !== 0) {
            // A mark closes the transaction of its producer, whichever way it went.
            open.delete(batch.producerId)
          } else if ((batch.attributes & TRANSACTIONAL) === 0 || !open.has(batch.producerId)) {
            for (const { offsetDelta, value, headers } of batch.records) {
              const offset = batch.firstOffset + BigInt(offsetDelta)
              if (offset < next || offset >= end) continue
              found.push({ partition, offset: Number(offset), value, headers: headers.map(([name]) => String(name)) })
            }
          }
          if (last + 1n > next) next = last + 1n
        }
      }
    }
    return found
  } finally {
    await reader.close()
  }
}
