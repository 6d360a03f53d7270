/** What an endpoint document becomes, once, so that its messages only run it. */
import type { Endpoint } from '../config/schema.ts'
import type { StoredDocument } from '../domain/ports.ts'
import type { EndpointAuth } from '../pipeline/auth.ts'
import type { Handle } from '../pipeline/compile.ts'
import type { Once } from '../pipeline/once.ts'

/** Never changed. */
export type Compiled = Readonly<{
  /** Counts the changes of this endpoint, from 1. */
  version: number
  document: StoredDocument
  endpoint: Endpoint
  /** Normalised method and pattern, parameter names and a last `/` aside. */
  routeKey: string
  handle: Handle
  /** In the place of `handle` for requests, where those with an `Idempotency-Key` are worked on once. */
  once?: Once | undefined
  /** Who may send it messages; undefined where anybody may. */
  auth?: EndpointAuth | undefined
}>
