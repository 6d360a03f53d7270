/** An endpoint document, compiled once; its messages only run it. */

import type { Lint } from '../core/lint.ts'
import type { StoredDocument } from '../core/stored-document.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import type { EndpointAuth } from '../pipeline/endpoint-auth.ts'
import type { KeyedHandle } from '../pipeline/idempotency/idempotency-middleware.ts'
import type { Handle } from '../pipeline/outcome.ts'

/** Which message of the endpoint is sampled next; changed with each message. */
export type Sampling = {
  /** The next one is sampled where it is 1 or less. */
  left: number
  /** When the last one was completed, in milliseconds since the epoch. */
  sampledAtMs: number
  /** None is sampled so soon after it. */
  intervalMs: number
}

export type CompiledEndpoint = Readonly<{
  /** Counts the changes of this endpoint, from 1. */
  version: number
  document: StoredDocument
  endpoint: Endpoint
  /** Normalised method and pattern, without parameter names and a last `/`. */
  routeKey: string
  handle: Handle
  /** Replaces `handle` for requests if those with an `Idempotency-Key` are processed once. */
  handleKeyed?: KeyedHandle | undefined
  /** How many records each message produces, if they may overlap with those of the next message; else undefined. */
  produces?: number | undefined
  /** Authenticates the senders; undefined if the endpoint has no `auth`. */
  auth?: EndpointAuth | undefined
  /** The faults with which a stored document stays active, though a new document is refused for them; absent if it has none. */
  toleratedFaults?: readonly Lint[]
  /** Absent where messages are not sampled. */
  sampling?: Sampling
}>
