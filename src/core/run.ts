/** The state of one running message: stages report to it, and it bounds them. Two messages never share one. */
import type { JsonObject } from './json.ts'
import type { AnswerKeeper } from './kept-answer.ts'
import type { Lease } from './lease.ts'
import type { MessageBudget } from './message-budget.ts'
import type { DoorTraits } from './origin.ts'
import type { OutboundAnswer, OutboundFault } from './ports/http-client-port.ts'
import type { ProduceSlot, RecordProducer } from './ports/record-producer.ts'
import type { TableSet } from './tables/table-set.ts'
import type { Trace } from './tracing/trace.ts'

/** Milliseconds since the epoch; injected, so that tests set the time. */
export type Clock = () => number

export type Run = {
  readonly messageId: string
  readonly clock: Clock
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** After this time no call starts, and calls in progress are aborted. */
  readonly deadlineAt: number
  /** Of a run of a schedule: without it, no call starts, and nothing is stored. */
  readonly lease?: Lease | undefined
  /** The bytes that the message may still make. */
  readonly budget: MessageBudget
  /** What the door of the message, or that of the message it replays, is like. */
  readonly door: DoorTraits
  /** Its caller does not wait on a connection: a record or a replay. */
  readonly mayWait: boolean
  /** Its slot, if it is one of several records that must be written in their order. */
  readonly slot?: ProduceSlot | undefined
  /** What its records go to in place of the producer of the service: the transaction of the record that it processes. */
  readonly producer?: RecordProducer | undefined
  /** What an earlier run of the message has delivered, if the message is a replay. */
  readonly delivered?: Delivered | undefined
  /** What lookups are answered with in place of new calls, if the message is a replay that does not ask again. */
  readonly recordedAnswers?: RecordedAnswers | undefined
  /** The bytes of the incoming body. */
  readonly body: Uint8Array | undefined
  /** `timestamps.lookupRequests` of the message, filled by the lookups. */
  readonly lookupTimes: Record<string, JsonObject>
  /** The same of response requests, for the state. */
  readonly responseTimes: Record<string, JsonObject>
  /** The result of the lookups, which is stored with the state. */
  readonly lookups: LookupOutcome
  readonly trace: Trace
  /** As they were when it began: it reads one version of each. */
  readonly tables: TableSet
  /** Every response request and item succeeded; an optional one that failed did not. */
  isDelivered: boolean
  /** The values of `state.extract`; undefined until the message is mapped. */
  extracted: JsonObject | undefined
  /** Of a message with an `Idempotency-Key`. */
  answerKeeper: AnswerKeeper | undefined
}

/** What targets need of the message, or the delivery, that they send a request of. */
export type Sending = Pick<Run, 'messageId' | 'clock' | 'budget' | 'mayWait' | 'slot' | 'producer' | 'trace'> &
  Partial<Pick<Run, 'tables'>> &
  Readonly<{ lease?: Pick<Lease, 'signal'> | undefined }>

/** Calls of response requests by `callKey`: the status of the answer, or true if it was a success whatever its status. */
export type Delivered = ReadonlyMap<string, number | true>

/** Calls of lookups by `callKey`: the answer, or why there was none. */
export type RecordedAnswers = ReadonlyMap<string, OutboundAnswer | OutboundFault>

/** `item`: the index of its item, in a forEach, or of the page. */
export const callKey = (id: string, item: number | undefined): string => JSON.stringify([id, item])

type LookupOutcome = {
  /** The highest HTTP status that a lookup answered. */
  highestStatus: number | undefined
  /** A lookup was refused, reset, unresolvable or timed out. */
  networkError: boolean
}
