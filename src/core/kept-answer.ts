/** The answer of a message with an `Idempotency-Key`, as it is stored for those that repeat the message. */
import type { Answer } from './message.ts'

/** What identifies a request and its repetitions. */
export type KeyedRequest = Readonly<{
  endpointId: string
  /** A hash of the key and of the caller: the caller's own text is never stored. */
  key: string
  /** A hash of the request's path, query and body. */
  fingerprint: string
}>

export type CachedResponse = Pick<Answer, 'status' | 'headers' | 'partial' | 'refused'> &
  Readonly<{
    /** Id of the message that the response was first sent for. */
    messageId: string
    /** Code of the failure that the response reports; absent if there was none. */
    code?: string
    /** A body too large to cache is left out: then only the fact is known that the message was processed. */
    body: Uint8Array | undefined
  }>

/** `owner`: the id of the message that holds the key; `ttlMs`: how long the response is cached. */
export type KeptAnswer = Readonly<{ request: KeyedRequest; owner: string; response: CachedResponse; ttlMs: number }>

/**
 * The answer of a message that stores more than its answer: both in one transaction, so that a repetition finds both or
 * neither.
 */
export type AnswerKeeper = {
  /** Undefined for an answer that is not cached. */
  readonly make: (answer: Answer) => KeptAnswer | undefined
  /** `lost`: another message holds the key by now, so that nothing was stored. */
  result: 'kept' | 'lost' | undefined
}

/** Another message holds the key: nothing of the transaction is stored. */
export class ClaimLost extends Error {}
