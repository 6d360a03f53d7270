/** The port RecordConsumer: group membership, fetches and commits of one endpoint, joined to one session. */
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  ConsumerListener,
  ConsumerSession,
  ConsumerSubscription,
  RecordConsumer,
} from '../../../core/ports/record-consumer.ts'
import type { KafkaSettings } from '../../../outbound/kafka/kafka-client.ts'
import { consumerError, isFenced, TOPIC_REPLACED } from '../../../outbound/kafka/kafka-errors.ts'
import { createAssignedTransactions } from '../../../outbound/kafka/partition-transactions.ts'
import type { FetchPosition } from './fetch-options.ts'
import { type GroupAssignment, openMembership } from './group-membership.ts'
import { openReader } from './topic-reader.ts'

const WATCH_MS = 5_000
const START_WAIT_MS = 200

export function createKafkaConsumer(settings: KafkaSettings): RecordConsumer {
  return {
    open: async (subscription, listener) => {
      try {
        return openSession(settings, subscription, listener)
      } catch (error) {
        throw consumerError(error)
      }
    },
  }
}

function openSession(
  settings: KafkaSettings,
  { groupId, topic, startAt, groupStart, exactlyOnce }: ConsumerSubscription,
  listener: ConsumerListener,
): ConsumerSession {
  const closing = new AbortController()
  let positions = new Map<number, FetchPosition>()
  let generation = -1
  let assigning: Promise<void> = Promise.resolve()
  let usesCommitted = startAt === 'committed'
  let isStarted = groupStart === 'earliest' || startAt === 'earliest'

  const unlessClosing =
    (report: (error: Error) => void) =>
    (error: unknown): void => {
      if (!closing.signal.aborted) report(consumerError(error))
    }
  const onEnd = unlessClosing(listener.onEnd)
  const onReplaced = unlessClosing(listener.onReplaced)
  const reader = openReader(settings, groupId, topic, {
    ...listener,
    onTrouble: unlessClosing(listener.onTrouble),
    onReplaced,
    onEnd,
  })
  const membership = openMembership(settings, groupId, topic, {
    onRebalance: () => listener.onRebalance(),
    onAssigned: (assignment) => {
      const added = revoke(assignment)
      assigning = assigning.then(() => assign(assignment, added)).catch(onEnd)
    },
    onEnd: (error) => {
      // A transaction may wait for the next assignment, which does not come.
      transactions?.keep(new Map())
      onEnd(error)
    },
  })

  const replaced = (): Error => {
    const error = new Error(TOPIC_REPLACED)
    listener.onReplaced(error)
    return error
  }
  const group = {
    groupId,
    topic,
    identity: membership.identity,
    addOffset: async (...added: Parameters<typeof membership.addOffset>) => {
      // A transaction names the topic, as a commit does.
      if (!(await membership.isSameTopic())) throw replaced()
      await membership.addOffset(...added)
    },
    onCommitted: () => {
      usesCommitted = true
    },
  }
  const transactions = exactlyOnce ? createAssignedTransactions(settings, group, onEnd) : undefined

  /**
   * Keeps the partitions that stay assigned, if this member took part in every generation; otherwise another member may
   * have had them, and they start at their committed offset. Returns the partitions to add. Synchronous, because commits
   * from now on are made in the name of this assignment.
   */
  const revoke = ({ generation: joined, partitions }: GroupAssignment): readonly number[] => {
    const isConsecutive = joined === generation + 1
    generation = joined
    const [kept, revoked] = [new Map<number, FetchPosition>(), [] as number[]]
    for (const [partition, position] of positions) {
      if (isConsecutive && partitions.includes(partition)) kept.set(partition, position)
      else revoked.push(partition)
    }
    positions = kept
    transactions?.keep(kept)
    listener.onRevoked(revoked)
    reader.assign([...kept.values()])
    return partitions.filter((partition) => !kept.has(partition))
  }
  const assign = async ({ generation: joined, partitions }: GroupAssignment, added: readonly number[]) => {
    // Another assignment may follow meanwhile.
    const isCurrent = () => joined === generation && !closing.signal.aborted
    if (!(await startGroup(partitions, isCurrent))) return
    // Before the committed offsets are read: a former owner may be committing them.
    await transactions?.start(added)
    const committed = await membership.committedOffsets(added)
    if (!isCurrent()) return
    const starts = usesCommitted ? committed : new Map(added.map((partition) => [partition, undefined]))
    for (const [partition, start] of starts) positions.set(partition, { partition, offset: start?.offset ?? 0n })
    listener.onAssigned({ partitions, added: starts })
    reader.assign([...positions.values()])
  }

  /**
   * Commits where the group starts, unless it has committed anything of the topic. One member does this, for all partitions in
   * one commit: so a partition without an offset beside others with one was added to the topic later, and nothing of it is
   * skipped. Returns false if another assignment follows.
   */
  const startGroup = async (partitions: readonly number[], isCurrent: () => boolean): Promise<boolean> => {
    while (!isStarted && partitions.length > 0) {
      if (!isCurrent()) return false
      if (await membership.hasCommitted()) {
        isStarted = true
      } else if (partitions.includes(0)) {
        const starts = await membership.startOffsets(groupStart)
        // Otherwise the commit would be made in the name of an assignment that may lack partition 0.
        const offsets = new Map([...starts].map(([partition, offset]) => [partition, { offset, note: '' }]))
        if (!isCurrent() || (await commit(offsets)) === 'fenced') return false
        isStarted = true
      } else {
        await sleep(START_WAIT_MS, undefined, { signal: closing.signal }).catch(() => undefined)
      }
    }
    return true
  }
  const commit: ConsumerSession['commit'] = async (offsets) => {
    const joined = generation
    try {
      // A commit names the topic, so it would also count for a new topic of the same name.
      if (!(await membership.isSameTopic())) {
        replaced()
        return 'fenced'
      }
      if (joined !== generation) return 'fenced'
      await membership.commit(offsets)
      usesCommitted = true
      return 'committed'
    } catch (error) {
      if (isFenced(error)) return 'fenced'
      throw consumerError(error)
    }
  }

  /** Reports end offsets of partitions that are not fetched now, and ends the session when the topic has grown. */
  const watch = async (partitionCount: number): Promise<void> => {
    while (!closing.signal.aborted) {
      const ends = await membership.endOffsets().catch(() => [])
      if (closing.signal.aborted) return
      for (const partition of positions.keys()) {
        const end = ends[partition]
        if (end !== undefined) listener.onEndOffset(partition, end)
      }
      if (ends.length > partitionCount) onEnd(new Error('the topic has grown'))
      await sleep(WATCH_MS, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }
  membership.join().then(watch).catch(onEnd)

  return {
    commit: async (offsets) => {
      if (transactions === undefined) return commit(offsets)
      try {
        return await transactions.commit(offsets)
      } catch (error) {
        throw consumerError(error)
      }
    },
    transactionsOf: (partition) => transactions?.of(partition),
    demandChanged: reader.demandChanged,
    close: async () => {
      closing.abort()
      const reading = reader.close()
      await assigning
      await transactions?.close()
      await Promise.all([reading, membership.close()])
    },
  }
}
