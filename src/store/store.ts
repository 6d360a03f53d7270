/** All that the service stores, in one database, and how the instances that share it learn of each other's changes. */

import type { StoredDocument } from '../core/stored-document.ts'
import type { AuditStore } from './sql/audit-store.ts'
import type { CaptureStore } from './sql/capture-store.ts'
import type { DeliveryStore } from './sql/delivery-store.ts'
import type { EndpointStore, EndpointTestStore } from './sql/endpoint-store.ts'
import type { FailureGroupStore } from './sql/failure-group-store.ts'
import type { IdempotencyStore } from './sql/idempotency-store.ts'
import type { KeyStore } from './sql/key-store.ts'
import type { MessageStore } from './sql/messages.ts'
import type { ReplayPlanStore } from './sql/replay-plan-store.ts'
import type { ScheduleStore } from './sql/schedule-store.ts'
import type { StateStore } from './sql/states.ts'
import type { StatsStore } from './sql/stats-store.ts'
import type { TableStore } from './sql/table-store.ts'
import type { UnmappedStore } from './sql/unmapped-store.ts'

export type Store = Readonly<{
  endpoints: EndpointStore
  tests: EndpointTestStore
  states: StateStore
  idempotency: IdempotencyStore
  stats: StatsStore
  messages: MessageStore
  keys: KeyStore
  audit: AuditStore
  replayPlans: ReplayPlanStore
  failureGroups: FailureGroupStore
  captures: CaptureStore
  schedules: ScheduleStore
  deliveries: DeliveryStore
  tables: TableStore
  unmapped: UnmappedStore
  /** Present if other instances or processes may change the endpoints. */
  changes?: ChangeFeed
  close(): Promise<void>
}>

/** What a shared store contains beyond a version that an instance knows; only `version` if there is nothing newer. */
export type StoreChanges = Readonly<{
  /** Grows with each change of any endpoint. */
  version: number
  /** The documents that are new or have changed, oldest first. */
  documents: readonly StoredDocument[]
  /** The version number of each of these documents, by id. */
  versions: ReadonlyMap<string, number>
  /** The ids of all documents that exist. */
  ids: ReadonlySet<string>
}>

export interface ChangeFeed {
  /** The changes after that version, read in one snapshot; after version 0, everything. Rejects with StoreUnavailable. */
  since(version: number): Promise<StoreChanges>
  /**
   * Calls `notify` with the store's version after each change, and additionally every few seconds, until the store is
   * closed: a missed notification is made up for. A version may be reported twice, or out of order.
   */
  watch(notify: (version: number) => void): void
}
