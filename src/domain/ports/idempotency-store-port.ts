/** The port of the store that holds the cached responses to requests with an `Idempotency-Key`. */
import type { Answer } from '../message.ts'

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
    /** Undefined if it was too large to cache: then only the fact is known that the message was processed. */
    body: Uint8Array | undefined
  }>

/**
 * claimed: the caller processes the message and no other process does; in-progress: another message holds the key;
 * completed: the response is cached; endpoint-deleted: there is no such endpoint any more.
 */
export type ClaimResult =
  | Readonly<{ kind: 'claimed' }>
  | Readonly<{ kind: 'endpoint-deleted' }>
  | Readonly<{ kind: 'in-progress'; fingerprint: string }>
  | Readonly<{ kind: 'completed'; fingerprint: string; response: CachedResponse }>

/**
 * One row per endpoint and key: first a claim with a lease, then a cached response with a time to live. Both are deleted
 * with their endpoint. Leases and times to live run on the clock of the store. Rejects with StoreUnavailable if the store
 * does not answer.
 *
 * `owner` is the id of one message; no two messages may share it.
 */
export interface IdempotencyStore {
  claim(request: KeyedRequest, owner: string, leaseMs: number): Promise<ClaimResult>
  /** Extends the claims that these owners still hold. */
  renew(owners: readonly string[], leaseMs: number): Promise<void>
  /**
   * Replaces the owner's claim by the response, which is durable when the promise resolves. Nothing is cached if the
   * result is 'claim-lost' (the claim has expired and another message holds the key) or 'endpoint-deleted'.
   */
  complete(
    request: KeyedRequest,
    owner: string,
    response: CachedResponse,
    ttlMs: number,
  ): Promise<'cached' | 'claim-lost' | 'endpoint-deleted'>
  /** Removes the owner's claim, so that the next message with the key is processed. */
  release(request: KeyedRequest, owner: string): Promise<void>
  /** Removes a small batch of expired rows. Resolves to their number; 0 if none is left. */
  purge(): Promise<number>
  /** The estimated size of the rows of each endpoint that has some. */
  bytes(): Promise<ReadonlyMap<string, number>>
}
