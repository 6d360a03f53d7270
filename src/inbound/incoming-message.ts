/** A message as it enters the intake. */
import type { JsonObject } from '../core/json.ts'
import type { Lease } from '../core/lease.ts'
import type { Answer, Headers } from '../core/message.ts'
import type { Origin } from '../core/origin.ts'
import type { Delivered, RecordedAnswers } from '../core/run.ts'
import type { Outcome } from '../pipeline/outcome.ts'

export type OnRecorded = (isLost: boolean) => void

export type Incoming = Readonly<{
  origin: Origin
  requestHeaders: Headers
  /** Those of the URL; doors without URLs give none. */
  query?: JsonObject | undefined
  urlParams?: JsonObject | undefined
  body: Uint8Array | undefined
  /** When a schedule was due, as ISO 8601. */
  scheduledFor?: string | undefined
  /** Of a run of a schedule. */
  lease?: Lease | undefined
  /** The authenticated caller, if the endpoint requires one (`EndpointAuth`). */
  caller?: string | undefined
  /** Of a replay: what need not be sent again. */
  delivered?: Delivered | undefined
  /** Of a replay that does not ask its lookups again: their answers. */
  recordedAnswers?: RecordedAnswers | undefined
  /** Set if the answer reports what the calls of the message send: the most bytes of their bodies to keep for that. */
  sentBytes?: number | undefined
  /**
   * Called once if the message succeeds: when its record is stored, or there is to be none, or with `isLost` when the record
   * was given up. For doors whose answer says that the message cannot be lost any more. Must not throw.
   */
  onRecorded?: OnRecorded | undefined
  /** What the door answers where that is not the answer of the outcome, so that records have it too. Must not throw. */
  answer?: ((outcome: Outcome, messageId: string) => Answer) | undefined
}>
