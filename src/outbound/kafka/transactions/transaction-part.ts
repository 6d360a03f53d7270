/** The part of one record in a transaction: all that is produced for it, and the offset behind it. */
import { OutboundError } from '../../../core/ports/http-client-port.ts'
import type { BrokerRecord, ProduceTurn, RecordOffset, RecordProducer } from '../../../core/ports/record-producer.ts'
import { notAcknowledged, produceError } from '../kafka-errors.ts'
import { sizeOf } from '../producer/produce-batch.ts'
import { TransactionLost } from './transaction-client.ts'

/** A record of a part that waits for the end of its transaction. */
type PartRecord = Readonly<{
  record: BrokerRecord
  turn: ProduceTurn | undefined
  timer: NodeJS.Timeout
  resolve(offset: RecordOffset): void
  reject(error: unknown): void
}>

export interface TransactionPart {
  readonly nextOffset: bigint
  readonly records: readonly BrokerRecord[]
  readonly sizeBytes: number
  /** It was refused, or an earlier record has failed. */
  readonly isVoid: boolean
  /** From now on only its transaction settles it, whatever time that takes. */
  take(): void
  /** In: where its records were written, in their order. */
  succeed(offsets: readonly RecordOffset[]): void
  fail(error: unknown): void
}

/** `count`: the records that are produced for it; `onComplete` is called when all of them are here. */
export function openPart(
  nextOffset: bigint,
  count: number,
  onComplete: (part: TransactionPart) => void,
): RecordProducer {
  const held: PartRecord[] = []
  let isSettled = false
  let sizeBytes = 0

  const settle = (each: (one: PartRecord, index: number) => void) => {
    if (isSettled) return
    isSettled = true
    for (const [index, one] of held.entries()) {
      clearTimeout(one.timer)
      each(one, index)
    }
  }
  const fail = (error: unknown) =>
    settle(({ record: { topic }, turn, reject }) => {
      turn?.failed()
      reject(outboundError(topic, error))
    })
  const part: TransactionPart & RecordProducer = {
    nextOffset,
    get records() {
      return held.map(({ record }) => record)
    },
    get sizeBytes() {
      return sizeBytes
    },
    get isVoid() {
      return isSettled || held.some(({ turn }) => turn?.isVoid === true)
    },
    produce: (record, timeoutMs, turn) =>
      new Promise((resolve, reject) => {
        if (isSettled)
          return reject(notAcknowledged('unreachable', record.topic, 'another record of its message failed'))
        const timer = setTimeout(
          () => fail(notAcknowledged('timeout', record.topic, `its transaction did not start within ${timeoutMs} ms`)),
          timeoutMs,
        )
        held.push({ record, turn, timer, resolve, reject })
        sizeBytes += sizeOf(record)
        if (held.length === count) onComplete(part)
        turn?.handed()
      }),
    take: () => {
      for (const { timer } of held) clearTimeout(timer)
    },
    succeed: (offsets) => settle(({ resolve }, index) => resolve(offsets[index] as RecordOffset)),
    fail,
  }
  return part
}

function outboundError(topic: string, error: unknown): unknown {
  if (error instanceof OutboundError) return error
  // The record may be in the topic all the same.
  if (error instanceof TransactionLost && error.isUncertain)
    return notAcknowledged('timeout', topic, error.message, error)
  return produceError(topic, error)
}
