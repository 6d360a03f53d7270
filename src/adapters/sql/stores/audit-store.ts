/** The store of the audit log, of both databases. */
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import { idFrom, timeOfId } from '../../../domain/id.ts'
import {
  type AuditEntry,
  type AuditFilter,
  type AuditStore,
  isRefused,
} from '../../../domain/ports/audit-store-port.ts'
import { type SqlDatabase, type SqlDialect, step, type TransactionWork } from '../database.ts'
import { compileStatement, rawQuery } from '../statement.ts'
import { keyText, type Tables } from '../tables.ts'

type Row = Tables['audit']
type FoundRow = Pick<Row, 'id' | 'detail'>

/** `rows`: the columns of many rows, as `rowsText` writes them. */
const compileAppend = ({ queries, elements }: SqlDialect) =>
  compileStatement<Readonly<{ rows: string }>>((value) =>
    rawQuery(queries)(sql`insert into audit (id, who, name, what, target, refused, detail)
      select element.value ->> 0, element.value ->> 1, element.value ->> 2, element.value ->> 3,
        element.value ->> 4, cast(element.value ->> 5 as integer), element.value ->> 6
      from ${elements(value('rows'))} as element`),
  )

/** Writes the entries of changes within their transaction; undefined stands for a change without an entry. */
export function compileEntries({
  dialect,
  rowsPerWrite,
}: Pick<SqlDatabase, 'dialect' | 'rowsPerWrite'>): (
  entries: readonly (AuditEntry | undefined)[],
) => TransactionWork<void> {
  const append = compileAppend(dialect)
  return function* (entries) {
    const given = entries.flatMap((entry) => entry ?? [])
    for (let start = 0; start < given.length; start += rowsPerWrite) {
      yield* step(append, { rows: rowsText(given.slice(start, start + rowsPerWrite)) })
    }
  }
}

function compileStatements({ queries }: SqlDialect) {
  return {
    /** Each part of the condition has an index. */
    purge: compileStatement<Readonly<{ oldest: string; refused: number }>>((value) =>
      queries
        .deleteFrom('audit')
        .where((where) =>
          where.or([
            where('id', '<', value('oldest')),
            where.and([
              where('refused', '=', sql.lit(1)),
              where(
                'id',
                '<=',
                where
                  .selectFrom('audit as newest')
                  .select('newest.id')
                  .where('newest.refused', '=', sql.lit(1))
                  .orderBy('newest.id', 'desc')
                  .limit(sql.lit(1))
                  .offset(value('refused')),
              ),
            ]),
          ]),
        ),
    ),
  }
}

/** Built for each call, as every filter is another text. */
function compileFind(
  queries: Kysely<Tables>,
  { who, what, from, to }: AuditFilter,
  limit: number,
  before?: string,
): CompiledQuery<FoundRow> {
  return queries
    .selectFrom('audit')
    .select(['id', 'detail'])
    .where((where) =>
      where.and([
        ...(who === undefined ? [] : [where.or([where('who', 'in', keysOf(who)), where('name', 'in', keysOf(who))])]),
        ...(what === undefined ? [] : [where.or([where('what', 'in', what), where('target', 'in', what)])]),
        ...(from === undefined ? [] : [where('id', '>=', idFrom(from))]),
        ...(to === undefined ? [] : [where('id', '<', idFrom(to))]),
        ...(before === undefined ? [] : [where('id', '<', before)]),
      ]),
    )
    .orderBy('id', 'desc')
    .limit(limit)
    .compile()
}

/** Builds the store over a database whose tables are up to date. */
export function compileAuditStore(database: SqlDatabase): AuditStore {
  const { queries } = database.dialect
  const statements = compileStatements(database.dialect)
  const append = compileAppend(database.dialect)
  const { rowsPerWrite } = database
  return {
    append: async (...entries) => {
      for (let start = 0; start < entries.length; start += rowsPerWrite) {
        await database.write(append, { rows: rowsText(entries.slice(start, start + rowsPerWrite)) })
      }
    },
    find: async (filter, limit, before) =>
      (await database.readOnce(compileFind(queries, filter, limit, before))).map(entryOf),
    purge: async (before, refused) => {
      await database.write(statements.purge, { oldest: idFrom(before), refused })
    },
  }
}

const keysOf = (texts: readonly string[]): readonly string[] => texts.map(keyText)

/** Names come from outside and databases reject some texts: the names that are shown are in `detail`, as JSON. */
const rowOf = (entry: AuditEntry): Row => {
  const { id, at: _, ...detail } = entry
  return {
    id,
    who: keyText(entry.who),
    name: keyText(entry.name ?? ''),
    what: entry.what,
    target: entry.target ?? '',
    refused: isRefused(entry) ? 1 : 0,
    detail: JSON.stringify(detail),
  }
}

const rowsText = (entries: readonly AuditEntry[]): string =>
  JSON.stringify(
    entries
      .map(rowOf)
      .map(({ id, who, name, what, target, refused, detail }) => [id, who, name, what, target, refused, detail]),
  )

const entryOf = ({ id, detail }: FoundRow): AuditEntry => ({
  id,
  at: new Date(timeOfId(id)).toISOString(),
  ...(JSON.parse(detail) as Omit<AuditEntry, 'id' | 'at'>),
})
