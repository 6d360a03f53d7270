/** The store of the audit log, of both databases. */
import { idFrom, timeOfId } from '../../../domain/id.ts'
import {
  type AuditEntry,
  type AuditFilter,
  type AuditStore,
  isRefused,
} from '../../../domain/ports/audit-store-port.ts'
import { type Database, step, type TransactionWork } from '../database.ts'
import { elements } from '../dialect.ts'
import { among, anyOf, named, type Sql, sql, where } from '../sql.ts'
import { keyText, type Tables } from '../tables.ts'

type Row = Tables['audit']
type FoundRow = Pick<Row, 'id' | 'detail'>

/** `rows`: the columns of many rows, as `rowsText` writes them. */
const APPEND = sql<{ rows: string }>`
  insert into audit (id, who, name, what, target, refused, detail)
  select element.value ->> 0, element.value ->> 1, element.value ->> 2, element.value ->> 3,
    element.value ->> 4, cast(element.value ->> 5 as integer), element.value ->> 6
  from ${elements(named('rows'))} as element`

/** Each part of the condition has an index. */
const PURGE = sql<{ oldest: string; refused: number }>`
  delete from audit where id < :oldest or (refused = 1 and id <= (
    select newest.id from audit as newest where newest.refused = 1 order by newest.id desc limit 1 offset :refused
  ))`

/** Written for each call, as every filter is another text. */
function findQuery({ who, what, from, to }: AuditFilter, limit: number, before?: string): Sql<never, FoundRow> {
  const conditions = [
    ...(who === undefined ? [] : [anyOf([among('who', who.map(keyText)), among('name', who.map(keyText))])]),
    ...(what === undefined ? [] : [anyOf([among('what', what), among('target', what)])]),
    ...(from === undefined ? [] : [sql`id >= ${idFrom(from)}`]),
    ...(to === undefined ? [] : [sql`id < ${idFrom(to)}`]),
    ...(before === undefined ? [] : [sql`id < ${before}`]),
  ]
  return sql`select id, detail from audit ${where(conditions)} order by id desc limit ${limit}`
}

/** More entries than that are several statements. */
const ENTRIES_PER_STATEMENT = 1_000

/** Writes the entries of changes within their transaction; undefined stands for a change without an entry. */
export function* addEntries(entries: readonly (AuditEntry | undefined)[]): TransactionWork<void> {
  const given = entries.flatMap((entry) => entry ?? [])
  for (let start = 0; start < given.length; start += ENTRIES_PER_STATEMENT) {
    yield* step(APPEND, { rows: rowsText(given.slice(start, start + ENTRIES_PER_STATEMENT)) })
  }
}

/** Builds the store over a database whose tables are up to date. */
export function compileAuditStore(database: Database): AuditStore {
  const { rowsPerWrite } = database
  return {
    append: async (...entries) => {
      for (let start = 0; start < entries.length; start += rowsPerWrite) {
        await database.write(APPEND, { rows: rowsText(entries.slice(start, start + rowsPerWrite)) })
      }
    },
    find: async (filter, limit, before) => (await database.readOnce(findQuery(filter, limit, before))).map(entryOf),
    purge: async (before, refused) => {
      await database.write(PURGE, { oldest: idFrom(before), refused })
    },
  }
}

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
