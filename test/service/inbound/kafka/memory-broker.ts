/** A topic in memory and the port RecordConsumer over it, for tests of the policy's timing. One member at a time. */
import type {
  ConsumerListener,
  ConsumerSubscription,
  PartitionAssignment,
  RecordConsumer,
} from '../../../../src/inbound/kafka/record-consumer.ts'
import { recordAt } from './record-fixtures.ts'

export interface MemoryBroker {
  readonly consumer: RecordConsumer
  /** The subscriptions of all sessions so far. */
  readonly subscriptions: readonly ConsumerSubscription[]
  /** The listener of the open session; undefined between sessions. */
  readonly listener: ConsumerListener | undefined
  readonly committed: Map<number, bigint>
  /** The notes of the last commits. */
  readonly notes: Map<number, string>
  /** Every accepted commit, in order. */
  readonly commits: readonly (readonly [partition: number, offset: bigint])[]
  /** How often a commit was tried. */
  readonly commitAttempts: number
  /** While true, commits are fenced. */
  isFenced: boolean
  /** Appends records without reporting them. */
  append(partition: number, count: number, bytes?: number): void
  /** A whole rebalance: everything that is not in `partitions` is revoked. */
  assign(...partitions: readonly number[]): void
  /** Delivers what the policy demands; returns the number of records. */
  deliver(): number
}

export function openMemoryBroker(): MemoryBroker {
  const logs = new Map<number, Buffer[]>()
  const positions = new Map<number, bigint>()
  const committed = new Map<number, bigint>()
  const notes = new Map<number, string>()
  const commits: [number, bigint][] = []
  const subscriptions: ConsumerSubscription[] = []
  let listener: ConsumerListener | undefined
  let commitAttempts = 0

  const broker = {
    committed,
    notes,
    commits,
    subscriptions,
    isFenced: false,
    get listener() {
      return listener
    },
    get commitAttempts() {
      return commitAttempts
    },
    consumer: {
      open: async (subscription, opened) => {
        subscriptions.push(subscription)
        listener = opened
        return {
          commit: async (offsets) => {
            commitAttempts += 1
            if (broker.isFenced) return 'fenced'
            for (const [partition, { offset, note }] of offsets) {
              committed.set(partition, offset)
              notes.set(partition, note)
              commits.push([partition, offset])
            }
            return 'committed'
          },
          transactionsFor: () => undefined,
          demandChanged: () => {},
          close: async () => {
            listener = undefined
            positions.clear()
          },
        }
      },
    } satisfies RecordConsumer,
    append: (partition: number, count: number, bytes = 2) => {
      const log = logs.get(partition) ?? []
      logs.set(partition, log)
      for (let added = 0; added < count; added += 1) log.push(Buffer.alloc(bytes, ' '))
    },
    assign: (...partitions: readonly number[]) => {
      listener?.onRebalance()
      const revoked = [...positions.keys()].filter((partition) => !partitions.includes(partition))
      for (const partition of revoked) positions.delete(partition)
      listener?.onRevoked(revoked)
      const isFromCommitted = subscriptions.at(-1)?.startAt === 'committed'
      const added: PartitionAssignment['added'] = new Map(
        partitions
          .filter((partition) => !positions.has(partition))
          .map((partition) => {
            const offset = isFromCommitted ? committed.get(partition) : undefined
            return [partition, offset === undefined ? undefined : { offset, note: notes.get(partition) ?? '' }]
          }),
      )
      for (const [partition, start] of added) positions.set(partition, start?.offset ?? 0n)
      listener?.onAssigned({ partitions, added })
    },
    deliver: () => {
      let delivered = 0
      for (const [partition, bytes] of listener?.demand().partitionBytes ?? []) {
        const from = positions.get(partition) ?? 0n
        const records = []
        let size = 0
        for (const value of logs.get(partition)?.slice(Number(from)) ?? []) {
          if (size >= bytes) break
          size += value.byteLength
          records.push(recordAt(from + BigInt(records.length), { partition, value }))
        }
        if (records.length === 0) continue
        delivered += records.length
        const next = from + BigInt(records.length)
        positions.set(partition, next)
        listener?.onEndOffset(partition, BigInt(logs.get(partition)?.length ?? 0))
        listener?.onRecords(partition, records, next)
      }
      return delivered
    },
  }
  return broker
}
