/** The port RecordConsumer: group membership, fetches and commits of one endpoint, joined to one session. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Admin, Consumer, FetchIsolationLevels, ListOffsetTimestamps, type Message } from '@platformatic/kafka'
import { resultWithin, within } from '../../core/within.ts'
import { clientOptions, ignoreErrors, type KafkaSettings } from '../../outbound/kafka/kafka-client.ts'
import {
  consumerError,
  isFenced,
  isProtocolError,
  NoGroupStart,
  TOPIC_REPLACED,
} from '../../outbound/kafka/kafka-errors.ts'
import { type AssignedTransactions, createAssignedTransactions } from '../../outbound/kafka/partition-transactions.ts'
import type { OpenTransaction } from '../../outbound/kafka/transaction-client.ts'
import type {
  CommittedOffset,
  ConsumerListener,
  ConsumerSession,
  ConsumerSubscription,
  GroupStart,
  RecordConsumer,
} from './record-consumer.ts'
import { type FetchPosition, GroupClient, TopicReader } from './topic-reader.ts'

export function createKafkaConsumer(settings: KafkaSettings): RecordConsumer {
  return {
    open: async (subscription, listener) => {
      try {
        return new KafkaSession(settings, subscription, listener)
      } catch (error) {
        throw consumerError(error)
      }
    },
  }
}

const WATCH_MS = 5_000
const START_WAIT_MS = 200
const ASSIGN_MS = 30_000

class KafkaSession implements ConsumerSession {
  readonly #listener: ConsumerListener
  readonly #groupStart: GroupStart
  readonly #reader: TopicReader
  readonly #membership: GroupMembership
  readonly #transactions: AssignedTransactions | undefined
  readonly #onEnd: (error: unknown) => void
  readonly #closing = new AbortController()
  #positions = new Map<number, FetchPosition>()
  #generation = -1
  #assigning: Promise<void> = Promise.resolve()
  #usesCommitted: boolean
  #isGroupStarted: boolean

  constructor(settings: KafkaSettings, subscription: ConsumerSubscription, listener: ConsumerListener) {
    const { groupId, topic, startAt, groupStart, exactlyOnce } = subscription
    const unlessClosing =
      (report: (error: Error) => void) =>
      (error: unknown): void => {
        if (!this.#closing.signal.aborted) report(consumerError(error))
      }
    const onEnd = unlessClosing(listener.onEnd)
    this.#listener = listener
    this.#groupStart = groupStart
    this.#usesCommitted = startAt === 'committed'
    this.#isGroupStarted = groupStart === 'earliest' || startAt === 'earliest'
    this.#onEnd = onEnd
    this.#reader = new TopicReader(settings, groupId, topic, {
      ...listener,
      onTrouble: unlessClosing(listener.onTrouble),
      onReplaced: unlessClosing(listener.onReplaced),
      onEnd,
    })
    this.#membership = new GroupMembership(settings, groupId, topic, {
      onRebalance: () => listener.onRebalance(),
      onAssigned: (assignment) => {
        const added = this.#revoke(assignment)
        this.#assigning = this.#assigning.then(() => this.#assign(assignment, added)).catch(onEnd)
      },
      onEnd: (error) => {
        // A transaction may wait for the next assignment, which does not arrive.
        this.#transactions?.keep(new Map())
        onEnd(error)
      },
    })
    const group = {
      groupId,
      topic,
      identity: () => this.#membership.identity,
      addOffset: async (...added: Parameters<GroupMembership['addOffset']>) => {
        // A transaction names the topic, as a commit does.
        if (!(await this.#membership.isSameTopic())) throw this.#replaced()
        await this.#membership.addOffset(...added)
      },
      onCommitted: () => {
        this.#usesCommitted = true
      },
    }
    this.#transactions = exactlyOnce ? createAssignedTransactions(settings, group, onEnd) : undefined
    this.#membership
      .join()
      .then((partitionCount) => this.#watch(partitionCount))
      .catch(onEnd)
  }

  async commit(offsets: ReadonlyMap<number, CommittedOffset>): Promise<'committed' | 'fenced'> {
    if (this.#transactions === undefined) return this.#commit(offsets)
    try {
      return await this.#transactions.commit(offsets)
    } catch (error) {
      throw consumerError(error)
    }
  }

  transactionsFor(partition: number): ReturnType<ConsumerSession['transactionsFor']> {
    return this.#transactions?.of(partition)
  }

  demandChanged(): void {
    this.#reader.demandChanged()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const reading = this.#reader.close()
    // Until the group is left, no other member gets the partitions, so nothing that may not end is waited for.
    await within(CLOSE_MS, this.#assigning)
    await this.#transactions?.close()
    await Promise.all([reading, this.#membership.close()])
  }

  /**
   * Keeps the partitions that stay assigned, if this member took part in every generation; otherwise another member may
   * have had them, and they start at their committed offset. Returns the partitions to add. Synchronous, because commits
   * from now on are made in the name of this assignment.
   */
  #revoke({ generation, partitions }: GroupAssignment): readonly number[] {
    const isConsecutive = generation === this.#generation + 1
    this.#generation = generation
    const [kept, revoked] = [new Map<number, FetchPosition>(), [] as number[]]
    for (const [partition, position] of this.#positions) {
      if (isConsecutive && partitions.includes(partition)) kept.set(partition, position)
      else revoked.push(partition)
    }
    this.#positions = kept
    this.#transactions?.keep(kept)
    this.#listener.onRevoked(revoked)
    this.#reader.assign([...kept.values()])
    return partitions.filter((partition) => !kept.has(partition))
  }

  async #assign({ generation, partitions }: GroupAssignment, added: readonly number[]): Promise<void> {
    // Another assignment may follow meanwhile.
    const isCurrent = () => generation === this.#generation && !this.#closing.signal.aborted
    if (!(await this.#startGroup(partitions, isCurrent))) return
    // Before the committed offsets are read: a former owner may be committing them.
    await this.#transactions?.start(added)
    // A member that waits here keeps its partitions from the others.
    const committed = await resultWithin(
      ASSIGN_MS,
      this.#membership.committedOffsets(added),
      () => new Error(`the committed offsets were not read within ${ASSIGN_MS} ms`),
    )
    if (!isCurrent()) return
    const starts = this.#usesCommitted ? committed : new Map(added.map((partition) => [partition, undefined]))
    for (const [partition, start] of starts) this.#positions.set(partition, { partition, offset: start?.offset ?? 0n })
    this.#listener.onAssigned({ partitions, added: starts })
    this.#reader.assign([...this.#positions.values()])
  }

  /**
   * Commits where the group starts, unless it has committed anything of the topic. One member does this, for all partitions in
   * one commit: so a partition without an offset beside others with one was added to the topic later, and nothing of it is
   * skipped. Returns false if another assignment follows.
   */
  async #startGroup(partitions: readonly number[], isCurrent: () => boolean): Promise<boolean> {
    while (isCurrent() && !this.#isGroupStarted && partitions.length > 0) {
      if (await this.#membership.hasCommitted()) {
        this.#isGroupStarted = true
      } else if (partitions.includes(0)) {
        const starts = await this.#membership.startOffsets(this.#groupStart)
        // Otherwise the commit would be made in the name of an assignment that may lack partition 0.
        const offsets = new Map([...starts].map(([partition, offset]) => [partition, { offset, note: '' }]))
        if (!isCurrent() || (await this.#commit(offsets)) === 'fenced') return false
        this.#isGroupStarted = true
      } else {
        await sleep(START_WAIT_MS, undefined, { signal: this.#closing.signal }).catch(() => undefined)
      }
    }
    return isCurrent()
  }

  async #commit(offsets: ReadonlyMap<number, CommittedOffset>): Promise<'committed' | 'fenced'> {
    const generation = this.#generation
    try {
      // A commit names the topic, so it would also count for a new topic of the same name.
      if (!(await this.#membership.isSameTopic())) {
        this.#replaced()
        return 'fenced'
      }
      if (generation !== this.#generation) return 'fenced'
      await this.#membership.commit(offsets)
      this.#usesCommitted = true
      return 'committed'
    } catch (error) {
      if (isFenced(error)) return 'fenced'
      throw consumerError(error)
    }
  }

  #replaced(): Error {
    const error = new Error(TOPIC_REPLACED)
    this.#listener.onReplaced(error)
    return error
  }

  /** Reports end offsets of partitions that are not fetched now, and ends the session when the topic has grown. */
  async #watch(partitionCount: number): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      const ends = await this.#membership.endOffsets().catch(() => [])
      if (signal.aborted) return
      for (const partition of this.#positions.keys()) {
        const end = ends[partition]
        if (end !== undefined) this.#listener.onEndOffset(partition, end)
      }
      if (ends.length > partitionCount) this.#onEnd(new Error('the topic has grown'))
      await sleep(WATCH_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}

const MIN_REBALANCE_MS = 60_000
const CLOSE_MS = 3_000
const METADATA_MS = 3_600_000
/** How long the id of the topic is not read again. */
const SAME_TOPIC_MS = 100

type GroupAssignment = Readonly<{ generation: number; partitions: readonly number[] }>

type MembershipEvents = Readonly<{
  /** A rebalance has started; onAssigned follows. */
  onRebalance: () => void
  onAssigned: (assignment: GroupAssignment) => void
  /** The membership cannot continue. */
  onEnd: (error: unknown) => void
}>

/**
 * The membership in a consumer group: which partitions are assigned, and commits in the name of that assignment. The client
 * sends the heartbeats and assigns the partitions round-robin. `topic` is the group's only topic.
 */
class GroupMembership {
  readonly #settings: KafkaSettings
  readonly #groupId: string
  readonly #topic: string
  readonly #member: Consumer
  /**
   * A client whose commit is refused joins again by itself and then repeats the commit, for partitions that may belong
   * to another member by then. So a second client, which never joins, commits with the identity of the assignment.
   */
  readonly #committer: GroupClient
  #identity: Readonly<{ generationId: number; memberId: string | null }> = { generationId: 0, memberId: null }
  #topicId: string | undefined
  #partitionCount = 0
  #checkedAt = 0

  constructor(
    settings: KafkaSettings,
    groupId: string,
    topic: string,
    { onRebalance, onAssigned, onEnd }: MembershipEvents,
  ) {
    this.#settings = settings
    this.#groupId = groupId
    this.#topic = topic
    this.#member = new Consumer({
      ...clientOptions(settings),
      groupId,
      autocommit: false,
      sessionTimeout: settings.kafkaSessionTimeoutMs,
      heartbeatInterval: Math.min(1_000, Math.floor(settings.kafkaSessionTimeoutMs / 5)),
      // The client refuses a rebalance timeout below the session timeout.
      rebalanceTimeout: Math.max(MIN_REBALANCE_MS, settings.kafkaSessionTimeoutMs),
      // Nested calls multiply the retries. After they are used up, the policy opens a new session.
      retries: 2,
      retryDelay: 200,
      // Each heartbeat reads the topic's metadata, and fails if a partition has no leader. Cached metadata avoids that;
      // endOffsets refreshes it whenever it can be read.
      metadataMaxAge: METADATA_MS,
    })
    this.#committer = new GroupClient(settings, groupId)
    this.#member.topics.track(this.#topic)
    this.#member.on('consumer:group:rebalance', onRebalance)
    this.#member.on('consumer:group:join', ({ generationId = 0, memberId, assignments = [] }) => {
      this.#identity = { generationId, memberId }
      onAssigned({
        generation: generationId,
        partitions: assignments.filter(({ topic }) => topic === this.#topic).flatMap(({ partitions }) => partitions),
      })
    })
    this.#member.on('consumer:heartbeat:stalled', ({ lastError }) =>
      onEnd(lastError ?? new Error('heartbeats are not answered')),
    )
    // The client's types leave out the event `error`: the group could not be joined again.
    const emitter: NodeJS.EventEmitter = this.#member
    emitter.on('error', onEnd)
  }

  /** Who this member is, an object of its own for each assignment. */
  get identity(): object {
    return this.#identity
  }

  /**
   * Resolves to the number of partitions that the topic had before the group was joined: the leader of the group assigns
   * at least these.
   */
  async join(): Promise<number> {
    const { id, leaders } = await this.#committer.readLayout(this.#topic)
    this.#topicId = id
    this.#partitionCount = leaders.length
    await this.#member.joinGroup({})
    return this.#partitionCount
  }

  /** False if the topic was deleted and created again since `join`. */
  async isSameTopic(): Promise<boolean> {
    if (Date.now() - this.#checkedAt < SAME_TOPIC_MS) return true
    const { id } = await this.#committer.readLayout(this.#topic)
    this.#checkedAt = Date.now()
    return id === this.#topicId
  }

  /** The committed offset of each of these partitions, with its note; undefined if nothing is committed. */
  async committedOffsets(partitions: readonly number[]): Promise<ReadonlyMap<number, CommittedOffset | undefined>> {
    if (partitions.length === 0) return new Map()
    const topic = this.#topic
    const found = await this.#committer.listCommittedOffsets({ topics: [{ topic, partitions: [...partitions] }] })
    return new Map(
      partitions.map((partition) => {
        const offset = found.get(topic)?.[partition] ?? -1n
        const note = this.#ownNote(this.#committer.readMetadata(topic, partition))
        return [partition, offset >= 0n ? { offset, note } : undefined]
      }),
    )
  }

  /** The id of the topic precedes the note, so that a topic of the same name does not get it. */
  #ownNote(metadata: string): string {
    const mark = `${this.#topicId} `
    return metadata.startsWith(mark) ? metadata.slice(mark.length) : ''
  }

  /** True if the group has committed an offset of any partition of the topic. */
  async hasCommitted(): Promise<boolean> {
    const committed = await this.committedOffsets([...Array(this.#partitionCount).keys()])
    return [...committed.values()].some((offset) => offset !== undefined)
  }

  /**
   * The offset of every partition of the topic for a group that has committed none. `latest` is the end for a reader of
   * committed records, so that the records of a transaction that is still open are consumed. Rejects with NoGroupStart if the
   * group to start from has no offset of the topic.
   */
  async startOffsets(start: GroupStart): Promise<ReadonlyMap<number, bigint>> {
    const timestamp = start === 'latest' ? ListOffsetTimestamps.LATEST : ListOffsetTimestamps.EARLIEST
    const { READ_COMMITTED } = FetchIsolationLevels
    const listed = await this.#committer.readOffsets(this.#topic, timestamp, undefined, READ_COMMITTED)
    const starts = new Map(listed.entries())
    if (typeof start === 'string') return starts
    const committed = await this.#offsetsOfGroup(start.group, [...starts.keys()])
    if (committed.size === 0) throw new NoGroupStart(start.group, this.#topic)
    return new Map([...starts, ...committed])
  }

  /** The committed offsets of another group; a partition without one is left out. */
  async #offsetsOfGroup(groupId: string, partitionIndexes: number[]): Promise<ReadonlyMap<number, bigint>> {
    // The client's Consumer refuses names with spaces, which the broker accepts.
    const admin = new Admin({ ...clientOptions(this.#settings), retries: 2, retryDelay: 200 })
    ignoreErrors(admin)
    try {
      const groups = await admin.listConsumerGroupOffsets({
        groups: [{ groupId, topics: [{ name: this.#topic, partitionIndexes }] }],
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

  /** Commits in the name of the last assignment, so that the broker refuses it if the group has moved on. */
  async commit(offsets: ReadonlyMap<number, CommittedOffset>): Promise<void> {
    const commitWith = (metadata: (partition: number) => string) => {
      Object.assign(this.#committer, this.#identity)
      return this.#committer.commitWith(
        [...offsets].map(([partition, { offset }]) => ({ topic: this.#topic, partition, offset, leaderEpoch: -1 })),
        metadata,
      )
    }
    try {
      await commitWith((partition) => {
        const note = offsets.get(partition)?.note ?? ''
        return note === '' ? '' : `${this.#topicId} ${note}`
      })
    } catch (error) {
      // A broker may take less than is usual.
      if (!isProtocolError(error, 'OFFSET_METADATA_TOO_LARGE')) throw error
      await commitWith(() => '')
    }
  }

  /** Adds an offset to a transaction, in the name of the last assignment: the broker refuses it if the group has moved on. */
  async addOffset(transaction: OpenTransaction, partition: number, offset: bigint): Promise<void> {
    try {
      await transaction.addConsumer(this.#committer)
      const coordinatorId = await this.#committer.findGroupCoordinator()
      const consumer = { groupId: this.#groupId, coordinatorId, ...this.#identity }
      // The client commits the offset behind a record, of which it reads nothing else.
      await transaction.addOffset({
        topic: this.#topic,
        partition,
        offset: offset - 1n,
        metadata: { consumer },
      } as Partial<Message> as Message)
    } catch (error) {
      // The client learns of another coordinator by calls of the group only.
      if (!isFenced(error)) await this.committedOffsets([partition]).catch(() => undefined)
      throw error
    }
  }

  /** The end offset of every partition of the topic. */
  async endOffsets(): Promise<readonly bigint[]> {
    const ends = await this.#committer.readOffsets(this.#topic, ListOffsetTimestamps.LATEST)
    await this.#member.metadata({ topics: [this.#topic], forceUpdate: true })
    return ends
  }

  async close(): Promise<void> {
    const emitter: NodeJS.EventEmitter = this.#member
    ignoreErrors(emitter.removeAllListeners('error'))
    for (const event of ['consumer:group:rebalance', 'consumer:group:join', 'consumer:heartbeat:stalled'] as const) {
      this.#member.removeAllListeners(event)
    }
    this.#committer.memberId = null
    // `close` alone does not stop a client that is joining: it completes the join and then sends heartbeats forever.
    const leave = async () => {
      try {
        await this.#member.leaveGroup(true)
      } finally {
        await this.#member.close(true)
      }
    }
    await Promise.all([within(CLOSE_MS, leave()), within(CLOSE_MS, this.#committer.close(true))])
  }
}
