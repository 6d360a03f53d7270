/** The port through which records are written to a topic of a broker; outbound/kafka/ implements it. */

/** The content of a record; null for a missing key or value. */
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

/** The slot of a message among messages whose records must be written in their order, though they do not wait for each other. */
export interface ProduceSlot {
  /** An earlier message has failed, so nothing of this one may be sent any more. */
  readonly isVoid: boolean
  /** A record of the message is queued for its topic: what is produced to the topic from now on is written after it. */
  handed(): void
  /** A record of the message was not written, or may not have been: the later messages are void from now on. */
  failed(): void
}

export interface RecordProducer {
  /**
   * Writes the record. Resolves when every in-sync replica has it. Rejects with OutboundError, at the latest after
   * timeoutMs; after the fault 'timeout' the record may be written all the same. With a `slot` that is void, it is not sent.
   */
  produce(record: BrokerRecord, timeoutMs: number, slot?: ProduceSlot): Promise<RecordOffset>
}

/**
 * The transactions of one partition that is consumed: the offset behind a record and all that is produced for it are committed
 * together or not at all, and only while the partition is assigned.
 */
export interface RecordTransactions {
  /**
   * For one attempt of one record; the records arrive in their order. In: the offset behind it, and how many records are produced
   * for it. Out: the producer for these. Its `produce` resolves when the transaction is committed. It rejects where the
   * transaction is aborted; if that is not known, the session ends.
   */
  open(nextOffset: bigint, count: number): RecordProducer
}

/** A producer that owns connections. */
export type ClosableRecordProducer = RecordProducer & Readonly<{ close(): Promise<void> }>
