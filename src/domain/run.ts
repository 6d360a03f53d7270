/** The account of one message on its way: what stages report to, and what bounds them. Never shared by two messages. */
import type { JsonObject } from './json.ts'
import type { Trace } from './tracing/trace.ts'

/** Milliseconds since the epoch; injected, so that tests own the time. */
export type Clock = () => number

export type Run = {
  readonly messageId: string
  readonly clock: Clock
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** After this moment no outbound call is started, and those under way are given up. */
  readonly deadlineAt: number
  /** Whether the message is a record of a topic: nobody waits for its answer, so what went wrong must fail it. */
  readonly isRecord: boolean
  /** Whether it may take its time: a record, and what is replayed. */
  readonly isPatient: boolean
  /** The bytes of the incoming body; undefined where there is none. */
  readonly body: Uint8Array | undefined
  /** `timestamps.lookupRequests` of the message, filled by the lookups. */
  readonly lookupTimes: Record<string, JsonObject>
  /** How the lookups went; kept with the state. */
  readonly lookups: LookupOutcome
  /** What it did on its way, for whoever asks later. */
  readonly trace: Trace
  /** Takes from the message what `state.extract` names; undefined until it was mapped. */
  extracted: (() => JsonObject) | undefined
}

export type LookupOutcome = {
  /** The highest HTTP status that a lookup answered; undefined where none did. */
  highestStatus: number | undefined
  /** Whether a lookup was refused, reset, unresolvable or timed out. */
  networkError: boolean
}
