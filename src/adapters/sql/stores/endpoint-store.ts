/** The store of endpoint documents with their versions, of both databases. */
import type {
  EndpointStore,
  EndpointWrite,
  RefusedWrite,
  StoreClash,
} from '../../../domain/ports/endpoint-store-port.ts'
import type { Change, Version, VersionSummary } from '../../../domain/stored-document.ts'
import type { Database } from '../database.ts'
import { elements, textBytes } from '../dialect.ts'
import { type NoValues, named, sql } from '../sql.ts'
import { documentOf, type Tables } from '../tables.ts'
import { compileWrites } from './endpoint-writes.ts'

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

/** Builds the store over a database whose tables are up to date. `close` closes the database. */
export function compileEndpointStore(database: Database, close: () => Promise<void>): EndpointStore {
  /** The unique indexes decide even if a writer outside the service has changed the table since the check. */
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
    list: async () => (await database.read(LIST, {})).map(documentOf),
    page: async (after) =>
      (await database.read(PAGE, { after })).map(({ id, version, document }) => ({
        id,
        version,
        bytes: bytesOf(document),
      })),
    readVersions: async (listed) => {
      const pairs = JSON.stringify(listed.map(({ id, version }) => [id, version]))
      const rows = await database.read(AT_VERSIONS, { listed: pairs })
      const documents = new Map(rows.map(({ id, document }) => [id, document]))
      return listed.map(({ id }) => {
        const document = documents.get(id) ?? undefined
        return document === undefined ? undefined : bytesOf(document)
      })
    },
    get: async (id) => (await database.read(GET, { id })).map(documentOf)[0],
    insert: (record, change = {}, entry) => writeOne<StoreClash>({ op: 'insert', record, change, entry }),
    replace: (record, expected, change = {}, entry) => writeOne({ op: 'replace', record, expected, change, entry }),
    remove: async (expected, change = {}, entry) => {
      const result = await writeOne<'gone' | 'stale'>({ op: 'remove', expected, change, entry })
      return result === 'stored' ? 'removed' : result
    },
    writeAll,
    versions: async (id) => (await database.read(VERSIONS, { id })).map(summaryOf),
    version: async (id, version) => (await database.read(VERSION, { id, version })).map(versionOf)[0],
    newestVersions: async () =>
      new Map((await database.read(NEWEST_VERSIONS, {})).map(({ endpoint_id, version }) => [endpoint_id, version])),
    ping: () => database.ping(),
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
