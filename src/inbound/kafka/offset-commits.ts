/** Commits the offsets of a session: one commit at a time, each with all that is done by then. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsumerSession } from '../../core/ports/record-consumer.ts'
import type { PartitionQueue } from './partition-queue.ts'

const RETRY_MS = 250
const MOST_FAILURES = 20

export type OffsetCommitsOptions = Readonly<{
  commit: ConsumerSession['commit']
  /** The assigned partitions. */
  queues: () => Iterable<PartitionQueue>
  isStopping: () => boolean
  onCommitted: () => void
  /** A commit failed and is retried. */
  onTrouble: (error: unknown) => void
  /** The retries are used up, or the session stops. */
  onEnd: (error: unknown) => void
}>

export interface OffsetCommits {
  /** Commits in a later turn of the event loop. */
  schedule(): void
  /** Commits all that is done; resolves when it is committed or cannot be. */
  flush(): Promise<void>
  /** Partitions were revoked: from now on, commits are made for a new assignment. */
  onRevoked(): void
  /** Commits nothing any more: the offsets are of a topic that was deleted. */
  discard(): void
}

export function createOffsetCommits({
  commit,
  queues,
  isStopping,
  onCommitted,
  onTrouble,
  onEnd,
}: OffsetCommitsOptions): OffsetCommits {
  let assignment = 0
  /** The group has moved on, so that nothing can be committed until the next assignment. */
  let isFenced = false
  let isDiscarded = false
  let committing: Promise<void> | undefined

  const due = () => [...queues()].filter(({ isDue }) => isDue)

  const commitDue = async (): Promise<void> => {
    let failures = 0
    for (let queued = due(); queued.length > 0 && !isFenced && !isDiscarded; queued = due()) {
      const snapshots = queued.map((queue) => [queue, queue.snapshot()] as const)
      const current = assignment
      try {
        const outcome = await commit(
          new Map(snapshots.map(([{ partition }, { offset, note }]) => [partition, { offset, note: note.text }])),
        )
        if (outcome === 'fenced') {
          isFenced = current === assignment
          continue
        }
        for (const [queue, snapshot] of snapshots) queue.committed(snapshot)
        if (isDiscarded) return
        failures = 0
        onCommitted()
      } catch (error) {
        failures += 1
        onTrouble(error)
        if (failures > MOST_FAILURES || isStopping()) return onEnd(error)
        await sleep(RETRY_MS)
      }
    }
  }
  const schedule = () => {
    if (isFenced || isDiscarded) return
    committing ??= new Promise<void>((next) => setImmediate(next)).then(commitDue).finally(() => {
      committing = undefined
      if (!isStopping() && due().length > 0) schedule()
    })
  }
  return {
    schedule,
    flush: async () => {
      await committing
      await commitDue()
    },
    onRevoked: () => {
      assignment += 1
      isFenced = false
    },
    discard: () => {
      isDiscarded = true
    },
  }
}
