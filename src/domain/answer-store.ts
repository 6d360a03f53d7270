/** Where the answers to messages with an `Idempotency-Key` are kept, to be given again. */
import type { Answer } from './message.ts'

/** A message as far as it tells whether another one is the same, sent again. */
export type KeyedRequest = Readonly<{
  endpointId: string
  /** A hash of the key and of who sent it: what a caller wrote is never stored. */
  key: string
  /** A hash of what was asked for. */
  fingerprint: string
}>

export type KeptAnswer = Pick<Answer, 'status' | 'headers' | 'partial' | 'refused'> &
  Readonly<{
    /** The message that it was the answer of. */
    messageId: string
    /** Of the failure that it tells; left out where there is none. */
    code?: string
    /** Undefined where it was too large to be kept: it is known then that the message was done, and no more. */
    body: Uint8Array | undefined
  }>

/**
 * mine: whoever asked may work on the message, and nobody else may meanwhile; under way: somebody else does;
 * gone: there is no such endpoint any more.
 */
export type Claim =
  | Readonly<{ kind: 'mine' }>
  | Readonly<{ kind: 'gone' }>
  | Readonly<{ kind: 'under way'; fingerprint: string }>
  | Readonly<{ kind: 'kept'; fingerprint: string; answer: KeptAnswer }>

/**
 * One row for each endpoint and key: a claim that lapses by itself, then an answer that lasts as long as was asked for.
 * Both go with their endpoint. Times are those of the store's own clock. Rejects with StoreUnavailable where the store
 * does not answer.
 *
 * An owner is one message: no two may share one.
 */
export interface AnswerStore {
  claim(request: KeyedRequest, owner: string, leaseMs: number): Promise<Claim>
  /** Lengthens the claims of these owners, as far as they still have them. */
  renew(owners: readonly string[], leaseMs: number): Promise<void>
  /**
   * Puts the answer in the place of the owner's claim; durable when it resolves. 'lost': the claim had lapsed and is
   * somebody else's now; 'gone': the endpoint was deleted meanwhile. Nothing is kept then.
   */
  keep(request: KeyedRequest, owner: string, answer: KeptAnswer, keepMs: number): Promise<'kept' | 'lost' | 'gone'>
  /** Gives the owner's claim back: the next one to come may work on the message. */
  release(request: KeyedRequest, owner: string): Promise<void>
  /** Removes a small batch of what has lapsed. Resolves to how many; 0 where there is nothing left to remove. */
  purge(): Promise<number>
  /** What all answers take, about. */
  bytes(): Promise<number>
}
