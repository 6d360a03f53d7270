/**
 * One life of an endpoint's consumer: it joins the group, reads and runs what is assigned, commits what is done. When
 * anything in it cannot go on it ends as a whole, and a new one begins where the last commit was: there is no state to
 * repair.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { KafkaSettings } from './client-options.ts'
import { isOutdatedPlace } from './faults.ts'
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
  /**
   * The topic was made anew since the last life. The broker forgets what was committed for the former only some time
   * after that, so that it is not asked.
   */
  isAnew: boolean
  /** Something was committed in this life. */
  onCommitted: () => void
  /** The topic was made anew: this life ends. */
  onReplaced: () => void
  /** The group is joined and the partitions are known. */
  onJoined: (partitions: readonly number[]) => void
  /** What should be shown and does not end the subscription; undefined: it is over. */
  onTrouble: (error: unknown) => void
  onSound: () => void
  onReport: (partition: number, state: RecordState) => void
  onMoved: (partition: number, from: bigint, to: bigint) => void
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
  /** The group has gone on without us, so that nothing can be committed until we are told what is ours now. */
  let isOutdated = false
  /** The offsets that we know are of a topic that is no more. */
  let isReplaced = false
  let { isAnew } = options

  const reader = openReader(settings, groupId, topic, {
    onTrouble: options.onTrouble,
    onSound: options.onSound,
    onMoved: options.onMoved,
    onReplaced: (error) => replaced(error),
    onEnd: ending.resolve,
  })
  const membership = openMembership(settings, groupId, topic, {
    onRebalance: () => slots.hold(),
    onAssigned: (assignment) => {
      const added = keep(assignment)
      assigning = assigning.then(() => begin(assignment, added)).catch(ending.resolve)
    },
    onEnd: ending.resolve,
  })

  /**
   * Partitions that stay ours go on where they are, if no generation passed without us; the others begin at what is
   * committed, and what is under way in those that were taken is not waited for: it no longer counts. Gives those to
   * begin. At once, since what is committed from now on is committed in the name of this assignment.
   */
  const keep = ({ generation: joined, partitions: numbers }: Assignment): readonly number[] => {
    const unbroken = joined === generation + 1
    generation = joined
    isOutdated = false
    const kept = new Map<number, Partition>()
    for (const [number, partition] of partitions) {
      if (unbroken && numbers.includes(number)) kept.set(number, partition)
      else void partition.close()
    }
    partitions = kept
    reader.assign([...kept.values()])
    return numbers.filter((number) => !kept.has(number))
  }
  const begin = async ({ generation: joined, partitions: numbers }: Assignment, added: readonly number[]) => {
    const offsets = await membership.committedOffsets(added)
    // Told again in the meantime.
    if (joined !== generation || stopping.signal.aborted) return
    for (const [number, offset] of offsets) {
      const partition = open(number, isAnew ? undefined : offset)
      // So that its beginning is committed at once, over what is of the former topic.
      if (isAnew) partition.committedOffset = -1n
      partitions.set(number, partition)
    }
    reader.assign([...partitions.values()])
    slots.release()
    options.onJoined(numbers)
    commitSoon()
  }
  const open = (number: number, offset: bigint | undefined): Partition =>
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

  const dirty = () => [...partitions.values()].filter((one) => one.doneOffset !== one.committedOffset)

  const replaced = (error: unknown) => {
    isReplaced = true
    options.onReplaced()
    ending.resolve(error)
  }
  /** One commit at a time, of everything that is done by then; what is done meanwhile goes with the next. */
  const commitAll = async (): Promise<void> => {
    let failures = 0
    for (let due = dirty(); due.length > 0 && !isOutdated && !isReplaced; due = dirty()) {
      const offsets = due.map((partition) => [partition, partition.doneOffset] as const)
      const joined = generation
      try {
        // A commit names the topic, so that it would hold for another of the same name.
        if (!(await membership.isSameTopic())) return replaced(new Error('the topic was made anew'))
        if (joined !== generation) continue
        await membership.commit(new Map(offsets.map(([{ number }, offset]) => [number, offset])))
        for (const [partition, offset] of offsets) partition.committed(offset)
        if (isReplaced) return
        failures = 0
        isAnew = false
        options.onCommitted()
      } catch (error) {
        if (isOutdatedPlace(error)) {
          isOutdated = joined === generation
          continue
        }
        failures += 1
        options.onTrouble(error)
        if (failures > MOST_COMMIT_FAILURES || stopping.signal.aborted) return ending.resolve(error)
        await sleep(COMMIT_RETRY_MS)
      }
    }
  }
  const commitSoon = () => {
    if (isOutdated || isReplaced) return
    committing ??= new Promise<void>((next) => setImmediate(next)).then(commitAll).finally(() => {
      committing = undefined
      if (dirty().length > 0 && !stopping.signal.aborted) commitSoon()
    })
  }

  /** Notices records that nobody fetches now, and partitions that the topic got meanwhile. */
  const watch = async (partitionCount: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      const ends = await membership.endOffsets().catch(() => [])
      for (const partition of partitions.values()) partition.endOffset = ends[partition.number] ?? partition.endOffset
      if (ends.length > partitionCount) ending.resolve(new Error('the topic has grown'))
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
      // Before anything is waited for: what is fetched from now on would not be run any more.
      const reading = reader.close()
      await Promise.all([...partitions.values()].map((partition) => partition.close()))
      await assigning
      await committing
      await commitAll()
      partitions = new Map()
      await Promise.all([reading, membership.close()])
    },
  }
}
