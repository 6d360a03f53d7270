/** The stores of endpoint documents with their versions, and of the tests of endpoints. */
import type { Change, StoredDocument, Version, VersionSummary } from '../stored-document.ts'
import type { AuditEntry } from './audit-store-port.ts'
import type { StateRecord } from './state-store-port.ts'

/** The reason why a write is refused. */
export type StoreClash = 'name' | 'route'

/** A document with the keys that the store holds unique. */
export type EndpointRecord = Readonly<{
  document: StoredDocument
  /** Normalised method and pattern, without parameter names and a last `/`: `POST /patients/:`. */
  routeKey: string
}>

/**
 * One of the writes that `writeAll` makes together. `entry`: its entry in the audit log; `state` becomes the newest state of
 * the endpoint.
 */
export type EndpointWrite = Readonly<{ change?: Partial<Change>; entry?: AuditEntry | undefined }> &
  (
    | Readonly<{ op: 'insert'; record: EndpointRecord; state?: StateRecord }>
    | Readonly<{ op: 'replace'; record: EndpointRecord; expected: StoredDocument; state?: StateRecord }>
    | Readonly<{ op: 'remove'; expected: StoredDocument }>
  )

/** The first write that is refused, by its place among the writes, and the reason as for a single write. */
export type RefusedWrite = Readonly<{ index: number; reason: 'gone' | 'stale' | StoreClash }>

/** A document at one of its versions. */
export type DocumentVersion = Readonly<{ id: string; version: number }>

/** A stored document as JSON text in UTF-8: texts of V8 would stay in its heap until the next full collection. */
export type ListedDocument = DocumentVersion & Readonly<{ bytes: Uint8Array }>

/**
 * Where endpoint documents live, with their versions. A promise that resolves is durable: the change survives `kill -9`.
 * A store that does not answer rejects with `StoreUnavailable`.
 *
 * Each write adds a version, and `entry` to the audit log, in one transaction with the change itself. `change` describes it
 * beyond the operation: by default, `at` is the `updatedAt` of the document and the origin is unknown.
 */
export interface EndpointStore {
  /** All documents, oldest first. */
  list(): Promise<readonly StoredDocument[]>
  /** The first documents whose ids are greater than `after`, oldest first: some hundred KiB of them. */
  page(after: string): Promise<readonly ListedDocument[]>
  /**
   * The documents as they were at these versions, in this order. Undefined if the version is no longer stored, which is so
   * after many further changes only.
   */
  readVersions(listed: readonly DocumentVersion[]): Promise<readonly (Uint8Array | undefined)[]>
  get(id: string): Promise<StoredDocument | undefined>
  insert(record: EndpointRecord, change?: Partial<Change>, entry?: AuditEntry): Promise<'stored' | StoreClash>
  /**
   * Replaces the document of the same `_id` if the stored one still equals `expected` (as JSON text).
   * 'gone': no such document; 'stale': it has changed since it was read.
   */
  replace(
    record: EndpointRecord,
    expected: StoredDocument,
    change?: Partial<Change>,
    entry?: AuditEntry,
  ): Promise<'stored' | 'gone' | 'stale' | StoreClash>
  /** Removes the document and its states if it still equals `expected`; its versions stay. */
  remove(expected: StoredDocument, change?: Partial<Change>, entry?: AuditEntry): Promise<'removed' | 'gone' | 'stale'>
  /**
   * Makes all writes in one transaction, or none. No two of them are of one endpoint. Names and routes must be unique among
   * the documents that are stored afterwards, so two endpoints may exchange theirs.
   */
  writeAll(writes: readonly EndpointWrite[]): Promise<'stored' | RefusedWrite>
  /** The versions of an endpoint, newest first; also of a deleted one. */
  versions(id: string): Promise<readonly VersionSummary[]>
  version(id: string, version: number): Promise<Version | undefined>
  /** The newest version of each endpoint that exists, by id. */
  newestVersions(): Promise<ReadonlyMap<string, number>>
  /** Resolves when the store answers; rejects with StoreUnavailable. */
  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * The tests of endpoints, one file of tests as JSON text for each. They are deleted with their endpoint and stay when it is
 * replaced. Durable as writes of EndpointStore; each call rejects with `StoreUnavailable` if the store does not answer.
 */
export interface EndpointTestStore {
  /** Undefined if the endpoint has no tests, or does not exist. */
  get(endpointId: string): Promise<string | undefined>
  /** The ids of the endpoints that have tests. */
  endpoints(): Promise<ReadonlySet<string>>
  /**
   * Stores `tests`, or removes them if undefined, if the stored ones still equal `expected`, with `entry` in the audit log.
   * 'gone': no such endpoint; 'stale': its tests have changed since they were read.
   */
  write(
    endpointId: string,
    tests: string | undefined,
    expected: string | undefined,
    entry?: AuditEntry,
  ): Promise<'stored' | 'gone' | 'stale'>
}
