/** The statements and rows of the versions of endpoints. A change and its version are written in one transaction. */
import { sql } from 'kysely'
import type { StoredDocument } from '../../../domain/stored-document.ts'
import {
  type Change,
  type ChangeMethod,
  DELETED_ENDPOINTS,
  VERSIONS_OF_AN_ENDPOINT,
  type Version,
  type VersionSummary,
} from '../../../domain/stored-document.ts'
import type { SqlDialect } from '../database.ts'
import { compileRowsStatement } from '../rows-statement.ts'
import { compileStatement, rawQuery } from '../statement.ts'
import type { Tables } from '../tables.ts'

type Row = Tables['endpoint_versions']
type SummaryRow = Omit<Row, 'endpoint_id' | 'document'>
export type VersionValues = Readonly<{ id: string; at: string; about: string; document: string }>
type ById = Readonly<{ id: string }>

const COLUMNS = ['id', 'at', 'about', 'document'] as const

/** Builds every statement on versions. */
export function compileVersionStatements({ queries: db, elements }: SqlDialect) {
  const present = db.selectFrom('endpoints').select('id')
  const raw = rawQuery(db)
  return {
    /** Writers of one endpoint must run one after the other: the next number is read from the table. */
    add: compileRowsStatement(COLUMNS, (rows) =>
      raw(sql`with given (id, at, about, document) as (${rows})
        insert into endpoint_versions (endpoint_id, version, at, about, document)
        select given.id,
          (select coalesce(max(version), 0) + 1 from endpoint_versions where endpoint_id = given.id),
          given.at, given.about, given.document
        from given`),
    ),
    /** `ids`: a JSON array with an array of one id for each endpoint. */
    trim: compileStatement<Readonly<{ ids: string }>>((value) =>
      raw(sql`delete from endpoint_versions
        where endpoint_id in (select listed.value ->> 0 from ${elements(value('ids'))} as listed)
        and version <= (select max(newest.version) - ${sql.lit(VERSIONS_OF_AN_ENDPOINT)} from endpoint_versions as newest
          where newest.endpoint_id = endpoint_versions.endpoint_id)`),
    ),
    /** Removes the versions of all but the last deleted endpoints. Reads deletions only, by their index. */
    trimDeleted: compileStatement<Record<never, never>>(() =>
      db.deleteFrom('endpoint_versions').where('endpoint_id', 'in', (from) =>
        from
          .selectFrom('endpoint_versions as deleted')
          .select('deleted.endpoint_id')
          .where('deleted.document', '=', sql.lit(''))
          .where((where) =>
            where.not(
              where.exists(
                where
                  .selectFrom('endpoints')
                  .select('endpoints.id')
                  .whereRef('endpoints.id', '=', 'deleted.endpoint_id'),
              ),
            ),
          )
          .groupBy('deleted.endpoint_id')
          .orderBy(sql`max(deleted.at)`, 'desc')
          .orderBy('deleted.endpoint_id', 'desc')
          // SQLite accepts no offset without a limit.
          .limit(sql.lit(1_000_000))
          .offset(sql.lit(DELETED_ENDPOINTS)),
      ),
    ),
    list: compileStatement<ById, SummaryRow>((value) =>
      db
        .selectFrom('endpoint_versions')
        .select(['version', 'at', 'about'])
        .where('endpoint_id', '=', value('id'))
        .orderBy('version', 'desc'),
    ),
    get: compileStatement<ById & Readonly<{ version: number }>, SummaryRow & Pick<Row, 'document'>>((value) =>
      db
        .selectFrom('endpoint_versions')
        .select(['version', 'at', 'about', 'document'])
        .where('endpoint_id', '=', value('id'))
        .where('version', '=', value('version')),
    ),
    newest: compileStatement<Record<never, never>, Pick<Row, 'endpoint_id' | 'version'>>(() =>
      db
        .selectFrom('endpoint_versions')
        .select((from) => ['endpoint_id', from.fn.max('version').as('version')])
        .where('endpoint_id', 'in', present)
        .groupBy('endpoint_id'),
    ),
  }
}

export type VersionStatements = ReturnType<typeof compileVersionStatements>

/** The version that a write adds. `text`: the document as it is stored, empty for a deletion. */
export const versionValues = (
  method: ChangeMethod,
  { _id: id, updatedAt }: StoredDocument,
  text: string,
  change: Partial<Change> = {},
): VersionValues => ({
  id,
  at: change.at ?? updatedAt,
  about: aboutText({ method, origin: {}, ...change }),
  document: text,
})

const aboutText = ({ method, origin, restored }: Omit<Change, 'at'>): string =>
  JSON.stringify({ method, origin, restored })

export const summaryOf = ({ version, at, about }: SummaryRow): VersionSummary => {
  const { method, origin, restored }: Omit<Change, 'at'> = JSON.parse(about)
  return { version, at, method, ...(restored === undefined ? {} : { restored }), origin }
}

export const versionOf = (row: SummaryRow & Pick<Row, 'document'>): Version => ({
  ...summaryOf(row),
  document: row.document === '' ? null : JSON.parse(row.document),
})

export const newestOf = (rows: readonly Pick<Row, 'endpoint_id' | 'version'>[]): ReadonlyMap<string, number> =>
  new Map(rows.map(({ endpoint_id, version }) => [endpoint_id, version]))
