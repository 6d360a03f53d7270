/** The store of endpoint state: the values that one message leaves for the next. */
import type { Awaitable, JsonObject } from '../json.ts'

/** The state that one message leaves. */
export type StateRecord = Readonly<{
  /**
   * The values of `state.extract`, with `system.timestamps`: the content of the root `state`, beside the results of the
   * lookups. May be computed when it is read; a store reads it once, when it writes it.
   */
  values: JsonObject
  /** The highest HTTP status of the message's lookups; undefined if none of them answered. */
  lookupStatus: number | undefined
  /** Undefined only in a dry run whose caller leaves it out. */
  networkError: boolean | undefined
}>

/** Inclusive ranges of HTTP statuses. `any` also matches a record without a status. */
export type StatusSet = Readonly<{ any: boolean; ranges: readonly (readonly [from: number, to: number])[] }>

export type StateFilter = Readonly<{ networkErrors: 'no-filter' | 'include' | 'exclude'; statuses: StatusSet }>

export interface StateStore {
  /** The newest committed state of the endpoint that passes the filter. */
  newest(endpointId: string, filter: StateFilter): Awaitable<StateRecord | undefined>
  /**
   * Resolves when the record is durable. Concurrent calls are committed together.
   * A record replaces the older one of the same endpoint, lookupStatus and networkError: no filter could select that again.
   */
  append(endpointId: string, record: StateRecord): Promise<void>
}
