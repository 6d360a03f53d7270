/** How the instances that share a store learn of each other's changes. */
import type { StoredDocument } from '../stored-document.ts'

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
