/**
 * One life of an endpoint's consumer: it joins the group, reads and runs what is assigned, commits what is done. When
 * anything in it cannot go on it ends as a whole, and a new one begins where the last commit was: there is no state to
 * repair.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { KafkaSettings } from './client-options.ts'
import { type Assignment, openMembership } from './membership.ts'
import { openPartition, type Partition } from './partition.ts'
import { openReader } from './reader.ts'
import type { RecordState, SettleOptions } from './settle.ts'
import { createSlots } from './slots.ts'

const WATCH_MS = 5_000
const COMMIT_RETRY_MS = 250
const MOST_COMMIT_FAILURES = 20

export type SubscriptionOptions = Readonly<{
  settings: KafkaSettings
  groupId: string
  topic: string
  settle: SettleOptions
  /** The group is joined and the partitions are known. */
  onJoined: (partitions: readonly number[]) => void
  /** What should be shown and does not end the subscription; undefined: it is over. */
  onTrouble: (error: unknown) => void
  onSound: () => void
  onReport: (partition: number, state: RecordState) => void
  onSkipped: (partition: number, from: bigint, to: bigint) => void
}>

export interface Subscription {
  /** Resolves to why the subscription ended; never rejects. */
  readonly ended: Promise<unknown>
  partitions(): readonly Partition[]
  readonly inFlight: number
  /** The endpoint has changed. */
  changed(): void
  /** Lets the records under way finish, commits them and leaves the group. */
  close(): Promise<void>
}

export function subscribe(options: SubscriptionOptions): Subscription {
  const { settings, groupId, topic, settle } = options
  const slots = createSlots(settings.kafkaMaxInFlight)
  const ending = Promise.withResolvers<unknown>()
  const stopping = new AbortController()
  let partitions = new Map<number, Partition>()
  let generation = -1
  let assigning: Promise<void> = Promise.resolve()
  let committing: Promise<void> | undefined
  let partitionCount: number | undefined

  const reader = openReader(settings, groupId, topic, {
    onTrouble: options.onTrouble,
    onSound: options.onSound,
    onSkipped: options.onSkipped,
    onEnd: ending.resolve,
  })
  const membership = openMembership(settings, groupId, topic, {
    onRebalance: () => slots.hold(),
    onAssigned: (assignment) => {
      assigning = assigning.then(() => assign(assignment)).catch(ending.resolve)
    },
    onEnd: ending.resolve,
  })

  /**
   * Partitions that stay ours go on where they are, if no generation passed without us; the others begin at what is
   * committed, and what is under way in those that were taken is not waited for: it no longer counts.
   */
  const assign = async ({ generation: joined, partitions: numbers }: Assignment): Promise<void> => {
    const unbroken = joined === generation + 1
    generation = joined
    const next = new Map<number, Partition>()
    for (const [number, partition] of partitions) {
      if (unbroken && numbers.includes(number)) next.set(number, partition)
      else void partition.close()
    }
    const added = numbers.filter((number) => !next.has(number))
    partitions = next
    for (const [number, offset] of await membership.startOffsets(added)) next.set(number, open(number, offset))
    // Told again in the meantime: what is not assigned now is closed by the next round.
    reader.assign([...next.values()])
    slots.release()
    options.onJoined(numbers)
    commitSoon()
  }
  const open = (number: number, offset: bigint): Partition =>
    openPartition({
      number,
      offset,
      slots,
      settle,
      onProgress: commitSoon,
      onRoom: reader.wake,
      onReport: (state) => options.onReport(number, state),
      onFault: ending.resolve,
    })

  const dirty = () => [...partitions.values()].filter((one) => one.doneOffset > one.committedOffset)

  /** One commit at a time, of everything that is done by then; what is done meanwhile goes with the next. */
  const commitAll = async (): Promise<void> => {
    let failures = 0
    for (let due = dirty(); due.length > 0; due = dirty()) {
      const offsets = due.map((partition) => [partition, partition.doneOffset] as const)
      try {
        await membership.commit(new Map(offsets.map(([{ number }, offset]) => [number, offset])))
        for (const [partition, offset] of offsets) partition.committed(offset)
        failures = 0
      } catch (error) {
        failures += 1
        options.onTrouble(error)
        if (failures > MOST_COMMIT_FAILURES || stopping.signal.aborted) return ending.resolve(error)
        await sleep(COMMIT_RETRY_MS)
      }
    }
  }
  const commitSoon = () => {
    committing ??= new Promise<void>((next) => setImmediate(next)).then(commitAll).finally(() => {
      committing = undefined
      if (dirty().length > 0 && !stopping.signal.aborted) commitSoon()
    })
  }

  /** Notices records that nobody fetches now, and partitions that the topic got meanwhile. */
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const ends = await membership.endOffsets().catch(() => [])
      for (const partition of partitions.values()) partition.endOffset = ends[partition.number] ?? partition.endOffset
      if (partitionCount !== undefined && ends.length > partitionCount) ending.resolve(new Error('the topic has grown'))
      partitionCount = ends.length > 0 ? ends.length : partitionCount
      await sleep(WATCH_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  membership.join().then(watch).catch(ending.resolve)

  return {
    ended: ending.promise,
    partitions: () => [...partitions.values()],
    get inFlight() {
      return slots.taken
    },
    changed: () => {
      for (const partition of partitions.values()) partition.changed()
    },
    close: async () => {
      stopping.abort()
      slots.end()
      await assigning
      await Promise.all([...partitions.values()].map((partition) => partition.close()))
      await committing
      await commitAll()
      partitions = new Map()
      await Promise.all([reader.close(), membership.close()])
    },
  }
}
