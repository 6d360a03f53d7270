/** The offsets at which a group starts that has committed nothing of its topic. */
import { Admin, type Consumer, FetchIsolationLevels, ListOffsetTimestamps } from '@platformatic/kafka'
import { clientOptions, ignoreErrors, type KafkaSettings } from '../../../outbound/kafka/kafka-client.ts'
import { NoGroupStart } from '../../../outbound/kafka/kafka-errors.ts'
import type { GroupStart } from '../record-consumer.ts'

/**
 * Out: the offset of every partition of the topic. `latest` is the end for a reader of committed records, so that the records
 * of a transaction that is still open are consumed.
 *
 * Rejects with NoGroupStart if the group to start from has no offset of the topic.
 */
export async function readStartOffsets(
  client: Consumer,
  settings: KafkaSettings,
  topic: string,
  start: GroupStart,
): Promise<ReadonlyMap<number, bigint>> {
  const isolationLevel = FetchIsolationLevels.READ_COMMITTED
  const timestamp = start === 'latest' ? ListOffsetTimestamps.LATEST : ListOffsetTimestamps.EARLIEST
  const listed = (await client.listOffsets({ topics: [topic], timestamp, isolationLevel })).get(topic) ?? []
  const starts = new Map(listed.entries())
  if (typeof start === 'string') return starts
  const committed = await readCommitted(settings, start.group, topic, [...starts.keys()])
  if (committed.size === 0) throw new NoGroupStart(start.group, topic)
  return new Map([...starts, ...committed])
}

/** The committed offsets of a group that is not ours; a partition without one is left out. */
async function readCommitted(
  settings: KafkaSettings,
  groupId: string,
  topic: string,
  partitionIndexes: number[],
): Promise<ReadonlyMap<number, bigint>> {
  // The client's Consumer refuses names with spaces, which the broker accepts.
  const admin = new Admin({ ...clientOptions(settings), retries: 2, retryDelay: 200 })
  ignoreErrors(admin)
  try {
    const groups = await admin.listConsumerGroupOffsets({
      groups: [{ groupId, topics: [{ name: topic, partitionIndexes }] }],
      // A commit within a transaction that is still open may move the group.
      requireStable: true,
    })
    const partitions = groups.flatMap(({ topics }) => topics).flatMap((one) => one.partitions)
    return new Map(
      partitions.flatMap(({ partitionIndex, committedOffset }) =>
        committedOffset >= 0n ? [[partitionIndex, committedOffset] as const] : [],
      ),
    )
  } finally {
    await admin.close()
  }
}
