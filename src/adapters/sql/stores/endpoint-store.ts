/** The store of endpoint documents with their versions, of both databases. */
import { type RawBuilder, sql } from 'kysely'
import type {
  EndpointStore,
  EndpointWrite,
  RefusedWrite,
  StoreClash,
} from '../../../domain/ports/endpoint-store-port.ts'
import type { SqlDatabase, SqlDialect } from '../database.ts'
import { compileStatement, rawQuery } from '../statement.ts'
import { documentOf, type Tables } from '../tables.ts'
import { compileEndpointWrites } from './endpoint-writes.ts'
import { compileVersionStatements, newestOf, summaryOf, versionOf } from './stored-versions.ts'

type Row = Tables['endpoints']

/** Of a page of documents, which takes a few milliseconds. */
const PAGE_ROWS = 100
const PAGE_BYTES = 256 * 1024

const UNIQUE_INDEXES: Readonly<Record<string, StoreClash>> = { endpoints_name: 'name', endpoints_route_key: 'route' }

type ListedRow = Readonly<{ id: string; version: number; document: Uint8Array | string }>

function compileReads({ queries, textBytes, elements }: SqlDialect) {
  const newest = (id: RawBuilder<string>) =>
    sql<number>`(select coalesce(max(version), 0) from endpoint_versions where endpoint_id = ${id})`
  return {
    list: compileStatement<Record<never, never>, Pick<Row, 'document'>>(() =>
      queries.selectFrom('endpoints').select('document').orderBy('id'),
    ),
    /** The lengths are read without the texts. */
    page: compileStatement<Readonly<{ after: string }>, ListedRow>((value) =>
      queries
        .with('lengths', (query) =>
          query
            .selectFrom('endpoints')
            .select(['id', sql<number>`octet_length(document)`.as('bytes')])
            .where('id', '>', value('after'))
            .orderBy('id')
            .limit(sql.lit(PAGE_ROWS)),
        )
        .with('sized', (query) =>
          query
            .selectFrom('lengths')
            .select(['id', sql<number>`sum(bytes) over (order by id) - bytes`.as('before_it')]),
        )
        .selectFrom('endpoints')
        .select([
          'id',
          newest(sql.ref('endpoints.id')).as('version'),
          textBytes(sql.ref('endpoints.document')).as('document'),
        ])
        .where('id', 'in', (query) =>
          query.selectFrom('sized').select('sized.id').where('before_it', '<', sql.lit(PAGE_BYTES)),
        )
        .orderBy('id'),
    ),
    /** `listed`: a JSON array of the id and version of each. A document without a stored version has version 0. */
    atVersions: compileStatement<Readonly<{ listed: string }>, Pick<ListedRow, 'id' | 'document'>>((value) =>
      rawQuery(queries)(sql`with listed as (
          select element.value ->> 0 as id, cast(element.value ->> 1 as integer) as version
          from ${elements(value('listed'))} as element)
        select listed.id as id, ${textBytes(sql`coalesce(endpoints.document, endpoint_versions.document)`)} as document
        from listed
        left join endpoints on endpoints.id = listed.id and listed.version = ${newest(sql.ref('listed.id'))}
        left join endpoint_versions on endpoint_versions.endpoint_id = listed.id
          and endpoint_versions.version = listed.version`),
    ),
    get: compileStatement<Readonly<{ id: string }>, Pick<Row, 'document'>>((value) =>
      queries.selectFrom('endpoints').select('document').where('id', '=', value('id')),
    ),
  }
}

/** Builds the store over a database whose tables are up to date. `close` closes the database. */
export function compileEndpointStore(database: SqlDatabase, close: () => Promise<void>): EndpointStore {
  const { dialect } = database
  const reads = compileReads(dialect)
  const versions = compileVersionStatements(dialect)
  const compileWrites = compileEndpointWrites(database, versions)

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
    list: async () => (await database.read(reads.list, {})).map(documentOf),
    page: async (after) =>
      (await database.read(reads.page, { after })).map(({ id, version, document }) => ({
        id,
        version,
        bytes: bytesOf(document),
      })),
    readVersions: async (listed) => {
      const pairs = JSON.stringify(listed.map(({ id, version }) => [id, version]))
      const rows = await database.read(reads.atVersions, { listed: pairs })
      const documents = new Map(rows.map(({ id, document }) => [id, document]))
      return listed.map(({ id }) => {
        const document = documents.get(id) ?? undefined
        return document === undefined ? undefined : bytesOf(document)
      })
    },
    get: async (id) => (await database.read(reads.get, { id })).map(documentOf)[0],
    insert: (record, change = {}, entry) => writeOne<StoreClash>({ op: 'insert', record, change, entry }),
    replace: (record, expected, change = {}, entry) => writeOne({ op: 'replace', record, expected, change, entry }),
    remove: async (expected, change = {}, entry) => {
      const result = await writeOne<'gone' | 'stale'>({ op: 'remove', expected, change, entry })
      return result === 'stored' ? 'removed' : result
    },
    writeAll,
    versions: async (id) => (await database.read(versions.list, { id })).map(summaryOf),
    version: async (id, version) => (await database.read(versions.get, { id, version })).map(versionOf)[0],
    newestVersions: async () => newestOf(await database.read(versions.newest, {})),
    ping: () => database.ping(),
    close,
  }
}

const bytesOf = (text: Uint8Array | string): Uint8Array => (typeof text === 'string' ? Buffer.from(text) : text)
