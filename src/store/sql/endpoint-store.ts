/**
 * The store of endpoint documents with their versions, of both databases. A promise that resolves is durable: the change
 * survives `kill -9`. Each write adds a version, and `entry` to the audit log, in one transaction with the change itself.
 * `change` describes it beyond the operation: by default, `at` is the `updatedAt` of the document and the origin is unknown.
 */
import type { Change, StoredDocument, Version, VersionSummary } from '../../core/stored-document.ts'
import type { AuditEntry } from './audit-store.ts'
import type { Database } from './database.ts'
import { elements, textBytes } from './dialect.ts'
import {
  compileWrites,
  type EndpointRecord,
  type EndpointWrite,
  type RefusedWrite,
  type StoreClash,
} from './endpoint-writes.ts'
import { type NoValues, named, sql } from './sql.ts'
import { documentOf, type Tables } from './tables.ts'

/** A document at one of its versions. */
export type DocumentVersion = Readonly<{ id: string; version: number }>

/** A stored document as JSON text in UTF-8: texts of V8 would stay in its heap until the next full collection. */
export type ListedDocument = DocumentVersion & Readonly<{ bytes: Uint8Array }>

type Row = Tables['endpoints']
type VersionRow = Omit<Tables['endpoint_versions'], 'endpoint_id'>
type SummaryRow = Omit<VersionRow, 'document'>
type ListedRow = Readonly<{ id: string; version: number; document: Uint8Array | string }>
type ById = Readonly<{ id: string }>

const UNIQUE_INDEXES: Readonly<Record<string, StoreClash>> = { endpoints_name: 'name', endpoints_route_key: 'route' }

const LIST = sql<NoValues, Pick<Row, 'document'>>`select document from endpoints order by id`
const GET = sql<ById, Pick<Row, 'document'>>`select document from endpoints where id = :id`
/** At most 100 documents and about 256 KiB, which takes a few milliseconds. The lengths are read without the texts. */
const PAGE = sql<{ after: string }, ListedRow>`
  with lengths as (
    select id, octet_length(document) as bytes from endpoints where id > :after order by id limit 100
  ), sized as (
    select id, sum(bytes) over (order by id) - bytes as before_it from lengths
  )
  select id, (select coalesce(max(version), 0) from endpoint_versions where endpoint_id = endpoints.id) as version,
    ${textBytes(sql`endpoints.document`)} as document
  from endpoints where id in (select sized.id from sized where before_it < 262144) order by id`
/** `listed`: a JSON array of the id and version of each. A document without a stored version has version 0. */
const AT_VERSIONS = sql<{ listed: string }, Readonly<{ id: string; document: Uint8Array | string | null }>>`
  with listed as (
    select element.value ->> 0 as id, cast(element.value ->> 1 as integer) as version
    from ${elements(named('listed'))} as element)
  select listed.id as id, ${textBytes(sql`coalesce(endpoints.document, endpoint_versions.document)`)} as document
  from listed
  left join endpoints on endpoints.id = listed.id and listed.version =
    (select coalesce(max(version), 0) from endpoint_versions where endpoint_id = listed.id)
  left join endpoint_versions on endpoint_versions.endpoint_id = listed.id
    and endpoint_versions.version = listed.version`
const VERSIONS = sql<ById, SummaryRow>`
  select version, at, about from endpoint_versions where endpoint_id = :id order by version desc`
const VERSION = sql<ById & Readonly<{ version: number }>, VersionRow>`
  select version, at, about, document from endpoint_versions where endpoint_id = :id and version = :version`
const NEWEST_VERSIONS = sql<NoValues, Pick<Tables['endpoint_versions'], 'endpoint_id' | 'version'>>`
  select endpoint_id, max(version) as version from endpoint_versions
  where endpoint_id in (select id from endpoints) group by endpoint_id`

export type EndpointStore = ReturnType<typeof compileEndpointStore>

/**
 * Builds the store over a database whose tables are up to date. `close` closes the database. Each call rejects with
 * StoreUnavailable if the database does not answer.
 */
export function compileEndpointStore(database: Database, close: () => Promise<void>) {
  /**
   * Makes all writes in one transaction, or none. No two of them are of one endpoint. Names and routes must be unique among
   * the documents that are stored afterwards, so two endpoints may exchange theirs. The unique indexes decide even if a writer
   * outside the service has changed the table since the check.
   */
  async function writeAll(writes: readonly EndpointWrite[]): Promise<'stored' | RefusedWrite> {
    try {
      return await database.transaction(compileWrites(writes))
    } catch (thrown) {
      const reason = UNIQUE_INDEXES[database.violatedIndex(thrown) ?? '']
      if (reason === undefined) throw thrown
      // The index does not name the row.
      return { index: writes.findIndex(({ op }) => op !== 'remove'), reason }
    }
  }

  async function writeOne<Reason extends RefusedWrite['reason']>(write: EndpointWrite): Promise<'stored' | Reason> {
    const result = await writeAll([write])
    return result === 'stored' ? result : (result.reason as Reason)
  }

  return {
    /** All documents, oldest first. */
    list: async (): Promise<readonly StoredDocument[]> => (await database.read(LIST, {})).map(documentOf),
    /** The first documents whose ids are greater than `after`, oldest first: some hundred KiB of them. */
    page: async (after: string): Promise<readonly ListedDocument[]> =>
      (await database.read(PAGE, { after })).map(({ id, version, document }) => ({
        id,
        version,
        bytes: bytesOf(document),
      })),
    /**
     * The documents as they were at these versions, in this order. Undefined if the version is no longer stored, which is so
     * after many further changes only.
     */
    readVersions: async (listed: readonly DocumentVersion[]): Promise<readonly (Uint8Array | undefined)[]> => {
      const pairs = JSON.stringify(listed.map(({ id, version }) => [id, version]))
      const rows = await database.read(AT_VERSIONS, { listed: pairs })
      const documents = new Map(rows.map(({ id, document }) => [id, document]))
      return listed.map(({ id }) => {
        const document = documents.get(id) ?? undefined
        return document === undefined ? undefined : bytesOf(document)
      })
    },
    get: async (id: string): Promise<StoredDocument | undefined> =>
      (await database.read(GET, { id })).map(documentOf)[0],
    insert: (
      record: EndpointRecord,
      change: Partial<Change> = {},
      entry?: AuditEntry,
    ): Promise<'stored' | StoreClash> => writeOne<StoreClash>({ op: 'insert', record, change, entry }),
    /**
     * Replaces the document of the same `_id` if the stored one still equals `expected` (as JSON text).
     * 'gone': no such document; 'stale': it has changed since it was read.
     */
    replace: (
      record: EndpointRecord,
      expected: StoredDocument,
      change: Partial<Change> = {},
      entry?: AuditEntry,
    ): Promise<'stored' | 'gone' | 'stale' | StoreClash> =>
      writeOne({ op: 'replace', record, expected, change, entry }),
    /** Removes the document and its states if it still equals `expected`; its versions stay. */
    remove: async (
      expected: StoredDocument,
      change: Partial<Change> = {},
      entry?: AuditEntry,
    ): Promise<'removed' | 'gone' | 'stale'> => {
      const result = await writeOne<'gone' | 'stale'>({ op: 'remove', expected, change, entry })
      return result === 'stored' ? 'removed' : result
    },
    writeAll,
    /** The versions of an endpoint, newest first; also of a deleted one. */
    versions: async (id: string): Promise<readonly VersionSummary[]> =>
      (await database.read(VERSIONS, { id })).map(summaryOf),
    version: async (id: string, version: number): Promise<Version | undefined> =>
      (await database.read(VERSION, { id, version })).map(versionOf)[0],
    /** The newest version of each endpoint that exists, by id. */
    newestVersions: async (): Promise<ReadonlyMap<string, number>> =>
      new Map((await database.read(NEWEST_VERSIONS, {})).map(({ endpoint_id, version }) => [endpoint_id, version])),
    /** Resolves when the store answers; rejects with StoreUnavailable. */
    ping: (): Promise<void> => database.ping(),
    close,
  }
}

const bytesOf = (text: Uint8Array | string): Uint8Array => (typeof text === 'string' ? Buffer.from(text) : text)

const summaryOf = ({ version, at, about }: SummaryRow): VersionSummary => {
  const { method, origin, restored }: Omit<Change, 'at'> = JSON.parse(about)
  return { version, at, method, ...(restored === undefined ? {} : { restored }), origin }
}

const versionOf = (row: VersionRow): Version => ({
  ...summaryOf(row),
  document: row.document === '' ? null : JSON.parse(row.document),
})
