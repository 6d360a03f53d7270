/** What tests do to topics by themselves, past the service: make them, fill them, count what is in them. */
import { randomUUID } from 'node:crypto'
import { Admin, Consumer, ListOffsetTimestamps, type MessageToProduce, Producer } from '@platformatic/kafka'
import { until } from '../until.ts'

export type StoredRecord = Readonly<{
  partition: number
  offset: number
  key: string | null
  value: Buffer | null
  headers: readonly (readonly [name: string, value: string])[]
}>

export interface Topics {
  /** A new topic with a name of its own, whose partitions all have a leader. */
  create(partitions?: number, name?: string, configs?: Readonly<Record<string, string>>): Promise<string>
  /** Resolves when the broker has the topic no more: one of the same name may be made then, and all that is written goes there. */
  remove(topic: string): Promise<void>
  /** Gives a topic more partitions, so that it has `count`. */
  grow(topic: string, count: number): Promise<void>
  /** Deletes the records of a partition before an offset, as the retention of a topic does. */
  trim(topic: string, partition: number, before: number): Promise<void>
  produce(topic: string, messages: readonly Omit<MessageToProduce, 'topic'>[]): Promise<void>
  /** Everything in a topic now, in the order of each partition; empty where there is no such topic. */
  read(topic: string): Promise<StoredRecord[]>
  /** Each call gives what was written since the one before; the first, everything. */
  follow(topic: string): () => Promise<StoredRecord[]>
  /** How many records were ever written to a topic. */
  count(topic: string): Promise<number>
  ends(topic: string): Promise<number[]>
  /** Committed offsets of a group, by partition; -1 where there is none. */
  committed(group: string, topic: string, partitions: number): Promise<number[]>
  /**
   * How many offsets lie between the committed one and the end, by partition. Both are asked for anew: the broker writes the
   * mark of a transaction some time after it has answered its commit or abort, so an end that was read before moves on.
   */
  remaining(group: string, topic: string, partitions: number): Promise<number[]>
  close(): Promise<void>
}

const BATCH = 500

export function openTopics(brokers: string): Topics {
  const options = { clientId: 'tests', bootstrapBrokers: brokers.split(','), retries: 10, retryDelay: 200 }
  const admin = new Admin(options)
  // Idempotent: a batch that is sent again because one partition was not ready yet must not be there twice.
  const producer = new Producer({ ...options, autocreateTopics: false, idempotent: true })
  const reader = new Consumer({ ...options, groupId: `tests-${randomUUID()}` })
  const groups = new Map<string, Consumer>()
  for (const client of [admin, producer, reader] as NodeJS.EventEmitter[]) client.on('error', () => undefined)

  const offsets = async (topic: string, timestamp: bigint): Promise<bigint[]> =>
    (await reader.listOffsets({ topics: [topic], timestamp })).get(topic) ?? []
  const exists = async (topic: string) => (await admin.listTopics()).includes(topic)
  const follow = (topic: string) => {
    let next: bigint[] | undefined
    return async (): Promise<StoredRecord[]> => {
      const starts = next ?? (await offsets(topic, ListOffsetTimestamps.EARLIEST))
      const ends = await offsets(topic, ListOffsetTimestamps.LATEST)
      const found = await readRange(reader, topic, starts, ends)
      next = ends
      return found
    }
  }

  const ends = async (topic: string) => (await offsets(topic, ListOffsetTimestamps.LATEST)).map(Number)
  const committed = async (group: string, topic: string, partitions: number) => {
    const known = groups.get(group) ?? new Consumer({ ...options, groupId: group })
    groups.set(group, known)
    const numbers = Array.from({ length: partitions }, (_, partition) => partition)
    const found = await known.listCommittedOffsets({ topics: [{ topic, partitions: numbers }] })
    return numbers.map((partition) => Number(found.get(topic)?.[partition] ?? -1))
  }

  return {
    create: async (partitions = 1, name = `t-${randomUUID()}`, configs = {}) => {
      await admin.createTopics({
        topics: [name],
        partitions,
        replicas: 1,
        configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
      })
      // The broker answers before its partitions have leaders; a consumer that comes earlier ends with that fault.
      await until(
        () => offsets(name, ListOffsetTimestamps.LATEST).catch(() => []),
        (ends) => ends.length === partitions,
      )
      return name
    },
    remove: async (topic) => {
      await admin.deleteTopics({ topics: [topic] })
      // The controller answers before the broker knows: records would go to the former topic, and be deleted with it.
      await until(
        () => exists(topic),
        (found) => !found,
      )
    },
    grow: async (topic, count) => {
      await admin.createPartitions({ topics: [{ name: topic, count }] })
      // The client sends a record of a partition that it does not know yet to another one, without an error.
      const read = async () => (await producer.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic)
      await until(
        () => read().catch(() => undefined),
        (found) => found?.partitionsCount === count,
      )
    },
    trim: async (topic, partition, before) => {
      await admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition, offset: BigInt(before) }] }] })
    },
    produce: async (topic, messages) => {
      for (let start = 0; start < messages.length; start += BATCH) {
        const batch = messages.slice(start, start + BATCH).map((message) => ({ ...message, topic }))
        await producer.send({ messages: batch })
      }
    },
    read: async (topic) => ((await exists(topic)) ? follow(topic)() : []),
    follow,
    count: async (topic) => {
      if (!(await exists(topic))) return 0
      return (await offsets(topic, ListOffsetTimestamps.LATEST)).reduce((sum, end) => sum + Number(end), 0)
    },
    ends,
    committed,
    remaining: async (group, topic, partitions) => {
      const passed = await committed(group, topic, partitions)
      return (await ends(topic)).map((end, partition) => end - Math.max(passed[partition] ?? 0, 0))
    },
    close: async () => {
      await Promise.all([admin, producer, reader, ...groups.values()].map((client) => client.close()))
    },
  }
}

async function readRange(reader: Consumer, topic: string, starts: bigint[], ends: bigint[]): Promise<StoredRecord[]> {
  const positions = [...starts]
  const found: StoredRecord[] = []
  for (;;) {
    const metadata = await reader.metadata({ topics: [topic] })
    const info = metadata.topics.get(topic)
    const open = positions.flatMap((position, partition) => (position < (ends[partition] ?? 0n) ? [partition] : []))
    const first = open[0]
    if (info === undefined || first === undefined) return found
    reader.topics.track(topic)
    const response = await reader.fetch({
      node: info.partitions[first]?.leader ?? 0,
      topics: [
        {
          topicId: info.id,
          partitions: open.map((partition) => ({
            partition,
            fetchOffset: positions[partition] ?? 0n,
            partitionMaxBytes: 4_000_000,
            currentLeaderEpoch: -1,
            lastFetchedEpoch: -1,
          })),
        },
      ],
      maxWaitTime: 100,
    })
    for (const { partitionIndex: partition, records: batches } of response.responses.flatMap((one) => one.partitions)) {
      for (const batch of batches ?? []) {
        for (const { offsetDelta, key, value, headers } of batch.records) {
          const offset = batch.firstOffset + BigInt(offsetDelta)
          // A batch may start before what is read next, and a fetch may bring what came after the end.
          if (offset < (positions[partition] ?? 0n) || offset >= (ends[partition] ?? 0n)) continue
          found.push({
            partition,
            offset: Number(offset),
            key: key === null ? null : String(key),
            value,
            headers: headers.map(([name, text]) => [String(name), String(text)] as const),
          })
        }
        positions[partition] = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n
      }
    }
  }
}
