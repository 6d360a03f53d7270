/** Our place in the consumer group of an endpoint: which partitions are ours, and what is committed for them. */
import { Consumer, FetchIsolationLevels, ListOffsetTimestamps } from '@platformatic/kafka'
import { clientOptions, type KafkaSettings } from './client-options.ts'
import { ignoreErrors, within } from './patience.ts'
import { readLayout } from './topic-layout.ts'

const LEAST_REBALANCE_MS = 60_000
const CLOSE_MS = 3_000
const METADATA_MS = 3_600_000
/** How long we take the topic for the same without asking. */
const SAME_TOPIC_MS = 100

export type Assignment = Readonly<{ generation: number; partitions: readonly number[] }>

export type MembershipEvents = Readonly<{
  /** The group is being rebuilt; what is ours will be told by onAssigned. */
  onRebalance: () => void
  onAssigned: (assignment: Assignment) => void
  /** The membership cannot go on. */
  onEnd: (error: unknown) => void
}>

export interface Membership {
  /** Gives how many partitions the topic had before: whoever deals them out knows these at least. */
  join(): Promise<number>
  /** False where the topic was deleted and made anew since we joined: what was done in the former is not done here. */
  isSameTopic(): Promise<boolean>
  /** What is committed for each of the partitions; undefined where nothing is. */
  committedOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint | undefined>>
  /**
   * Commits in the name of the assignment that was told last, so that a broker refuses it where the group has gone on
   * without us.
   */
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
    // The client refuses one below the session's.
    rebalanceTimeout: Math.max(LEAST_REBALANCE_MS, settings.kafkaSessionTimeoutMs),
    // They multiply: what is tried again makes calls that are tried again. The consumer begins anew after that.
    retries: 2,
    retryDelay: 200,
    // Each heartbeat asks for what it knows of the topic, and fails with it where a partition has no leader: so that
    // is kept, and refreshed with each look at the ends that succeeded.
    metadataMaxAge: METADATA_MS,
  })
  member.topics.track(topic)
  member.on('consumer:group:rebalance', onRebalance)
  member.on('consumer:group:join', ({ generationId = 0, memberId, assignments = [] }) => {
    place = { generationId, memberId }
    onAssigned({
      generation: generationId,
      partitions: assignments.filter((one) => one.topic === topic).flatMap(({ partitions }) => partitions),
    })
  })
  member.on('consumer:heartbeat:stalled', ({ lastError }) =>
    onEnd(lastError ?? new Error('heartbeats are not answered')),
  )
  /**
   * The client joins anew when a commit is refused, and then commits the same for partitions that may be another's by
   * now. So commits go through a client that never joins, with the place in the group that their offsets belong to.
   */
  const ledger = new Consumer({ ...clientOptions(settings), groupId, autocommit: false, retries: 0 })
  ignoreErrors(ledger)
  let place: Readonly<{ generationId: number; memberId: string | null }> = { generationId: 0, memberId: null }

  let topicId: string | undefined
  let checkedAt = 0

  // An event that the types of the client leave out: the group could not be joined again.
  const emitter: NodeJS.EventEmitter = member
  emitter.on('error', onEnd)

  return {
    join: async () => {
      const { id, leaders } = await readLayout(ledger, topic)
      topicId = id
      await member.joinGroup({})
      return leaders.length
    },
    isSameTopic: async () => {
      if (Date.now() - checkedAt < SAME_TOPIC_MS) return true
      const { id } = await readLayout(ledger, topic)
      checkedAt = Date.now()
      return id === topicId
    },
    committedOffsets: async (partitions) => {
      if (partitions.length === 0) return new Map()
      const found = await ledger.listCommittedOffsets({ topics: [{ topic, partitions: [...partitions] }] })
      return new Map(
        partitions.map((partition) => {
          const known = found.get(topic)?.[partition] ?? -1n
          return [partition, known >= 0n ? known : undefined]
        }),
      )
    },
    commit: (offsets) => {
      Object.assign(ledger, place)
      return ledger.commit({
        offsets: [...offsets].map(([partition, offset]) => ({ topic, partition, offset, leaderEpoch: -1 })),
      })
    },
    endOffsets: async () => {
      const isolationLevel = FetchIsolationLevels.READ_UNCOMMITTED
      const asked = { topics: [topic], timestamp: ListOffsetTimestamps.LATEST, isolationLevel }
      const ends = (await ledger.listOffsets(asked)).get(topic) ?? []
      await member.metadata({ topics: [topic], forceUpdate: true })
      return ends
    },
    close: async () => {
      ignoreErrors(emitter.removeAllListeners('error'))
      for (const event of ['consumer:group:rebalance', 'consumer:group:join', 'consumer:heartbeat:stalled'] as const) {
        member.removeAllListeners(event)
      }
      ledger.memberId = null
      // Closed alone, a client that is just joining ends that all the same, and then sends heartbeats for ever.
      const leave = async () => {
        try {
          await member.leaveGroup(true)
        } finally {
          await member.close(true)
        }
      }
      await Promise.all([within(CLOSE_MS, leave()), within(CLOSE_MS, ledger.close(true))])
    },
  }
}
