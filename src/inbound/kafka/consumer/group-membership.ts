/** The membership in a consumer group: which partitions are assigned, and commits in the name of that assignment. */
import { Consumer, FetchIsolationLevels, ListOffsetTimestamps, type Message } from '@platformatic/kafka'
import type { CommittedOffset, GroupStart } from '../../../core/ports/record-consumer.ts'
import { clientOptions, ignoreErrors, type KafkaSettings, within } from '../../../outbound/kafka/kafka-client.ts'
import { isFenced, isProtocolError } from '../../../outbound/kafka/kafka-errors.ts'
import type { OpenTransaction } from '../../../outbound/kafka/transaction-client.ts'
import { openCommitter } from './committer.ts'
import { readStartOffsets } from './group-start.ts'
import { readLayout } from './topic-layout.ts'

const LEAST_REBALANCE_MS = 60_000
const CLOSE_MS = 3_000
const METADATA_MS = 3_600_000
/** How long the id of the topic is not read again. */
const SAME_TOPIC_MS = 100

export type GroupAssignment = Readonly<{ generation: number; partitions: readonly number[] }>

type MembershipEvents = Readonly<{
  /** A rebalance has started; onAssigned follows. */
  onRebalance: () => void
  onAssigned: (assignment: GroupAssignment) => void
  /** The membership cannot continue. */
  onEnd: (error: unknown) => void
}>

interface GroupMembership {
  /**
   * Resolves to the number of partitions that the topic had before the group was joined: the leader of the group assigns
   * at least these.
   */
  join(): Promise<number>
  /** False if the topic was deleted and created again since `join`. */
  isSameTopic(): Promise<boolean>
  /** The committed offset of each of these partitions, with its note; undefined if nothing is committed. */
  committedOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, CommittedOffset | undefined>>
  /** Whether the group has committed an offset of any partition of the topic. */
  hasCommitted(): Promise<boolean>
  /** The offset of each partition of the topic for a group that has committed none; rejects as readStartOffsets does. */
  startOffsets(start: GroupStart): Promise<ReadonlyMap<number, bigint>>
  /** Commits in the name of the last assignment, so that the broker refuses it if the group has moved on. */
  commit(offsets: ReadonlyMap<number, CommittedOffset>): Promise<void>
  /** Who this member is, an object of its own for each assignment. */
  identity(): object
  /** Adds an offset to a transaction, in the name of the last assignment: the broker refuses it if the group has moved on. */
  addOffset(transaction: OpenTransaction, partition: number, offset: bigint): Promise<void>
  /** The end offset of every partition of the topic. */
  endOffsets(): Promise<readonly bigint[]>
  close(): Promise<void>
}

/** The client sends the heartbeats and assigns the partitions round-robin. `topic` is the group's only topic. */
export function openMembership(
  settings: KafkaSettings,
  groupId: string,
  topic: string,
  { onRebalance, onAssigned, onEnd }: MembershipEvents,
): GroupMembership {
  const member = new Consumer({
    ...clientOptions(settings),
    groupId,
    autocommit: false,
    sessionTimeout: settings.kafkaSessionTimeoutMs,
    heartbeatInterval: Math.min(1_000, Math.floor(settings.kafkaSessionTimeoutMs / 5)),
    // The client refuses a rebalance timeout below the session timeout.
    rebalanceTimeout: Math.max(LEAST_REBALANCE_MS, settings.kafkaSessionTimeoutMs),
    // Nested calls multiply the retries. After they are used up, the policy opens a new session.
    retries: 2,
    retryDelay: 200,
    // Each heartbeat reads the topic's metadata, and fails if a partition has no leader. Cached metadata avoids that;
    // endOffsets refreshes it whenever it can be read.
    metadataMaxAge: METADATA_MS,
  })
  let identity: Readonly<{ generationId: number; memberId: string | null }> = { generationId: 0, memberId: null }
  member.topics.track(topic)
  member.on('consumer:group:rebalance', onRebalance)
  member.on('consumer:group:join', ({ generationId = 0, memberId, assignments = [] }) => {
    identity = { generationId, memberId }
    onAssigned({
      generation: generationId,
      partitions: assignments.filter((one) => one.topic === topic).flatMap(({ partitions }) => partitions),
    })
  })
  member.on('consumer:heartbeat:stalled', ({ lastError }) =>
    onEnd(lastError ?? new Error('heartbeats are not answered')),
  )
  /**
   * A client whose commit is refused joins again by itself and then repeats the commit, for partitions that may belong
   * to another member by then. So a second client, which never joins, commits with the identity of the assignment.
   */
  const committer = openCommitter(settings, groupId)
  let topicId: string | undefined
  let partitionCount = 0
  let checkedAt = 0
  // The client's types leave out the event `error`: the group could not be joined again.
  const emitter: NodeJS.EventEmitter = member
  emitter.on('error', onEnd)

  const committedOffsets = async (
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, CommittedOffset | undefined>> => {
    if (partitions.length === 0) return new Map()
    const found = await committer.listCommittedOffsets({ topics: [{ topic, partitions: [...partitions] }] })
    return new Map(
      partitions.map((partition) => {
        const offset = found.get(topic)?.[partition] ?? -1n
        const note = ownNote(committer.metadataOf(topic, partition))
        return [partition, offset >= 0n ? { offset, note } : undefined]
      }),
    )
  }
  /** The id of the topic precedes the note, so that a topic of the same name does not get it. */
  const ownNote = (metadata: string): string => {
    const mark = `${topicId} `
    return metadata.startsWith(mark) ? metadata.slice(mark.length) : ''
  }

  return {
    join: async () => {
      const { id, leaders } = await readLayout(committer, topic)
      topicId = id
      partitionCount = leaders.length
      await member.joinGroup({})
      return partitionCount
    },
    isSameTopic: async () => {
      if (Date.now() - checkedAt < SAME_TOPIC_MS) return true
      const { id } = await readLayout(committer, topic)
      checkedAt = Date.now()
      return id === topicId
    },
    committedOffsets,
    hasCommitted: async () => {
      const committed = await committedOffsets([...Array(partitionCount).keys()])
      return [...committed.values()].some((offset) => offset !== undefined)
    },
    startOffsets: (start) => readStartOffsets(committer, settings, topic, start),
    commit: async (offsets) => {
      const commitWith = (noteOf: (partition: number) => string) => {
        Object.assign(committer, identity)
        return committer.commitWith(
          [...offsets].map(([partition, { offset }]) => ({ topic, partition, offset, leaderEpoch: -1 })),
          (_, partition) => noteOf(partition),
        )
      }
      try {
        await commitWith((partition) => {
          const note = offsets.get(partition)?.note ?? ''
          return note === '' ? '' : `${topicId} ${note}`
        })
      } catch (error) {
        // A broker may take less than is usual.
        if (!isProtocolError(error, 'OFFSET_METADATA_TOO_LARGE')) throw error
        await commitWith(() => '')
      }
    },
    identity: () => identity,
    addOffset: async (transaction, partition, offset) => {
      try {
        await transaction.addConsumer(committer)
        const coordinatorId = await committer.findGroupCoordinator()
        const consumer = { groupId, coordinatorId, ...identity }
        // The client commits the offset behind a record, of which it reads nothing else.
        await transaction.addOffset({
          topic,
          partition,
          offset: offset - 1n,
          metadata: { consumer },
        } as Partial<Message> as Message)
      } catch (error) {
        // The client learns of another coordinator by calls of the group only.
        if (!isFenced(error)) await committedOffsets([partition]).catch(() => undefined)
        throw error
      }
    },
    endOffsets: async () => {
      const isolationLevel = FetchIsolationLevels.READ_UNCOMMITTED
      const asked = { topics: [topic], timestamp: ListOffsetTimestamps.LATEST, isolationLevel }
      const ends = (await committer.listOffsets(asked)).get(topic) ?? []
      await member.metadata({ topics: [topic], forceUpdate: true })
      return ends
    },
    close: async () => {
      ignoreErrors(emitter.removeAllListeners('error'))
      for (const event of ['consumer:group:rebalance', 'consumer:group:join', 'consumer:heartbeat:stalled'] as const) {
        member.removeAllListeners(event)
      }
      committer.memberId = null
      // `close` alone does not stop a client that is joining: it completes the join and then sends heartbeats forever.
      const leave = async () => {
        try {
          await member.leaveGroup(true)
        } finally {
          await member.close(true)
        }
      }
      await Promise.all([within(CLOSE_MS, leave()), within(CLOSE_MS, committer.close(true))])
    },
  }
}
