/** The port through which records are written to a topic of a broker; an adapter implements it. */

import type { ProduceTurn } from '../run.ts'

/** The content of a record; null stands for a missing key or value. */
export type BrokerRecord = Readonly<{
  topic: string
  key: string | Uint8Array | null
  value: string | Uint8Array | null
  /** In order; a name may occur several times. */
  headers: readonly (readonly [name: string | Uint8Array, value: string | Uint8Array | null])[]
}>

/**
 * The position of a record in the broker's log. `offset` is a number, because the whole is written as JSON, which has no
 * bigint; consumers use bigint, because they fetch and commit at exactly this offset.
 */
export type RecordOffset = Readonly<{ topic: string; partition: number; offset: number }>

export interface RecordProducer {
  /**
   * Writes the record. Resolves when every in-sync replica has it. Rejects with OutboundError, at the latest after
   * timeoutMs; after the fault 'timeout' the record may be written all the same. With a `turn` that is void, it is not sent.
   */
  produce(record: BrokerRecord, timeoutMs: number, turn?: ProduceTurn): Promise<RecordOffset>
}

/** A producer that owns connections. */
export type ClosableRecordProducer = RecordProducer & Readonly<{ close(): Promise<void> }>
