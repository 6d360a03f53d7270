/** Our place in the consumer group of an endpoint: which partitions are ours, and what is committed for them. */
import { Consumer, ListOffsetTimestamps } from '@platformatic/kafka'
import { clientOptions, type KafkaSettings } from './client-options.ts'
import { ignoreErrors, within } from './producer.ts'

const REBALANCE_MS = 60_000
const CLOSE_MS = 3_000

export type Assignment = Readonly<{ generation: number; partitions: readonly number[] }>

export type MembershipEvents = Readonly<{
  /** The group is being rebuilt; what is ours will be told by onAssigned. */
  onRebalance: () => void
  onAssigned: (assignment: Assignment) => void
  /** The membership cannot go on. */
  onEnd: (error: unknown) => void
}>

export interface Membership {
  join(): Promise<void>
  /** Where to begin in each of the partitions: what is committed, else the earliest record there is. */
  startOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>>
  commit(offsets: ReadonlyMap<number, bigint>): Promise<void>
  /** Ends of all partitions of the topic. */
  endOffsets(): Promise<readonly bigint[]>
  close(): Promise<void>
}

/**
 * Heartbeats and the assignment are the client's; it has the partitions of a group dealt out by its leader, in turn.
 * `topic` is the only one of the group.
 */
export function openMembership(
  settings: KafkaSettings,
  groupId: string,
  topic: string,
  { onRebalance, onAssigned, onEnd }: MembershipEvents,
): Membership {
  const member = new Consumer({
    ...clientOptions(settings),
    groupId,
    autocommit: false,
    sessionTimeout: settings.kafkaSessionTimeoutMs,
    heartbeatInterval: Math.min(1_000, Math.floor(settings.kafkaSessionTimeoutMs / 5)),
    rebalanceTimeout: REBALANCE_MS,
    // They multiply: what is tried again makes calls that are tried again. The consumer begins anew after that.
    retries: 2,
    retryDelay: 200,
  })
  member.topics.track(topic)
  member.on('consumer:group:rebalance', onRebalance)
  member.on('consumer:group:join', ({ generationId = 0, assignments = [] }) =>
    onAssigned({
      generation: generationId,
      partitions: assignments.filter((one) => one.topic === topic).flatMap(({ partitions }) => partitions),
    }),
  )
  member.on('consumer:heartbeat:stalled', ({ lastError }) =>
    onEnd(lastError ?? new Error('heartbeats are not answered')),
  )
  // An event that the types of the client leave out: the group could not be joined again.
  const emitter: NodeJS.EventEmitter = member
  emitter.on('error', onEnd)

  const offsetsAt = async (timestamp: bigint) =>
    (await member.listOffsets({ topics: [topic], timestamp })).get(topic) ?? []

  return {
    join: async () => {
      await member.joinGroup({})
    },
    startOffsets: async (partitions) => {
      if (partitions.length === 0) return new Map()
      const committed = await member.listCommittedOffsets({ topics: [{ topic, partitions: [...partitions] }] })
      const earliest = await offsetsAt(ListOffsetTimestamps.EARLIEST)
      return new Map(
        partitions.map((partition) => {
          const known = committed.get(topic)?.[partition] ?? -1n
          const start = known >= 0n ? known : earliest[partition]
          if (start === undefined) throw new Error(`the broker does not know where partition ${partition} begins`)
          return [partition, start]
        }),
      )
    },
    commit: (offsets) =>
      member.commit({
        offsets: [...offsets].map(([partition, offset]) => ({ topic, partition, offset, leaderEpoch: -1 })),
      }),
    endOffsets: () => offsetsAt(ListOffsetTimestamps.LATEST),
    close: async () => {
      ignoreErrors(emitter.removeAllListeners('error'))
      for (const event of ['consumer:group:rebalance', 'consumer:group:join', 'consumer:heartbeat:stalled'] as const) {
        member.removeAllListeners(event)
      }
      await within(CLOSE_MS, member.close(true))
    },
  }
}
