/** The store of deliveries, of both databases. */
import type {
  AttemptEnd,
  ClaimedDelivery,
  Delivery,
  DeliveryState,
  NewDelivery,
} from '../../core/deliveries/delivery.ts'
import type { StateRecord } from './states.ts'

export type DeliveryFilter = Readonly<{
  id?: string
  state?: DeliveryState
  endpointId?: string
  requestId?: string
  messageId?: string
  target?: string
  orderKey?: string
  /** Accepted at or after, and before; milliseconds since the epoch. */
  fromMs?: number
  toMs?: number
}>

/** How many deliveries there are of one kind. */
export type DeliveryCount = Readonly<{
  endpointId: string
  endpoint: string
  requestId: string
  target: string
  state: DeliveryState
  count: number
  bytes: number
}>

/** `oldestAt`: ISO 8601, when the oldest pending one was accepted. */
export type DeliveryTotals = Readonly<{ counts: readonly DeliveryCount[]; oldestAt?: string }>

/** What retries a delivery: `body` in place of the stored one. */
export type RetryChange = Readonly<{ body?: string | Uint8Array }>

/** Every call rejects with StoreUnavailable if the database does not answer. Times are those of the database. */
export interface DeliveryStore {
  /**
   * Stores all of them, which are of one message, and the state that it leaves, or nothing. 'full': they would take more than `maxBytes` together with
   * what is stored. Resolves when they are durable.
   */
  accept(deliveries: readonly NewDelivery[], maxBytes: number, state?: StateRecord): Promise<'accepted' | 'full'>
  /** The targets that have something due, each with when it was due first; `nextMs`: until the next one, of any target. */
  dueTargets(limit: number): Promise<Readonly<{ targets: readonly string[]; nextInMs: number | undefined }>>
  /**
   * Takes up to `limit` deliveries of a target that are due, the first of each key, for `leaseMs`. `triedBefore`: takes also
   * those that are not due yet and were tried before that time (milliseconds since the epoch).
   */
  claim(
    owner: string,
    target: string,
    limit: number,
    leaseMs: number,
    triedBefore?: number,
  ): Promise<readonly ClaimedDelivery[]>
  /** Resolves to the ids of those that the owner still has. */
  renew(owner: string, ids: readonly string[], leaseMs: number): Promise<readonly string[]>
  /**
   * Stores how attempts ended. What another owner has taken over meanwhile keeps its lease; the end is stored unless the
   * delivery has ended before. Resolves to the ids of those that it was stored for.
   */
  end(owner: string, ends: readonly AttemptEnd[]): Promise<readonly string[]>
  get(id: string): Promise<Delivery | undefined>
  /** What is sent; undefined if it is not kept any more. */
  content(id: string): Promise<Omit<ClaimedDelivery, 'delivery'> | undefined>
  /** Newest first. `before`: the id of the last one of the page before. */
  list(filter: DeliveryFilter, limit: number, before?: string): Promise<readonly Delivery[]>
  totals(): Promise<DeliveryTotals>
  /**
   * Sends pending ones at once and those that ended undeliverable or cancelled again, behind what is pending of their key.
   * Resolves to the ids of those that it changed.
   */
  retry(ids: readonly string[], change?: RetryChange): Promise<readonly string[]>
  /** Ends pending and undeliverable ones. One that is being sent may arrive nevertheless. Resolves to the ids that it changed. */
  cancel(ids: readonly string[]): Promise<readonly string[]>
  /** Deletes up to `limit` delivered and cancelled ones that ended before the time. Resolves to how many. */
  purge(endedBeforeMs: number, limit: number): Promise<number>
}
