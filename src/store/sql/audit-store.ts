/** The store of the audit log, of both databases: one entry a management call. Entries are never changed. */
import { idFrom, timeFromId } from '../../core/id.ts'
import { type Database, step, type TransactionWork } from './database.ts'
import { keyText, type Tables } from './schema.ts'
import { among, anyCondition, elements, named, type Sql, sql, where } from './sql.ts'

export type AuditEntry = Readonly<{
  /** Time-ordered (core/id.ts). */
  id: string
  /** ISO 8601 with milliseconds and `Z`; derived from the id, so stores do not store it again. */
  at: string
  /** As `Caller.who`; `unknown` if the credentials were missing or wrong. */
  who: string
  /** The name of the key or the token at that time. */
  name?: string
  /** IP address of the caller; left out for commands. */
  address?: string
  /** Method and route, never the URL itself: `PUT /endpoints/{id}`. */
  what: string
  /** Id of the endpoint, message or key that the call used or created. */
  target?: string
  /** Versions of an endpoint; 0 if it did not exist. */
  before?: number
  after?: number
  /** What the caller says about its change, unchecked. */
  note?: string
  /** HTTP status of the answer; 0 for commands. */
  status: number
  code?: string
  /** The number of refused calls since the one before this entry that were not written. */
  omitted?: number
}>

/** What a change does, for its entry. */
export type AuditEffect = Pick<AuditEntry, 'target' | 'before' | 'after' | 'note'>

/** Builds the entry that a store writes in one transaction with a change. A transaction that is repeated asks again. */
export type ToAuditEntry = (effect: AuditEffect) => AuditEntry

/** An entry must match all fields; several values of one field are alternatives. */
export type AuditFilter = Readonly<{
  /** `who` or `name`. */
  who?: readonly string[]
  /** `what` or `target`. */
  what?: readonly string[]
  /** In milliseconds since the epoch: from, inclusive; to, exclusive. */
  from?: number
  to?: number
}>

/** Unauthenticated callers can cause any number of refused calls. */
export const isRefused = ({ status }: Pick<AuditEntry, 'status'>): boolean => status === 401 || status === 403

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
    ...(who === undefined ? [] : [anyCondition([among('who', who.map(keyText)), among('name', who.map(keyText))])]),
    ...(what === undefined ? [] : [anyCondition([among('what', what), among('target', what)])]),
    ...(from === undefined ? [] : [sql`id >= ${idFrom(from)}`]),
    ...(to === undefined ? [] : [sql`id < ${idFrom(to)}`]),
    ...(before === undefined ? [] : [sql`id < ${before}`]),
  ]
  return sql`select id, detail from audit ${where(conditions)} order by id desc limit ${limit}`
}

/** More entries than that are several statements. */
const ENTRIES_PER_STATEMENT = 1_000

/** Writes the entries of changes within their transaction; undefined for a change without an entry. */
export function* addEntries(entries: readonly (AuditEntry | undefined)[]): TransactionWork<void> {
  const given = entries.flatMap((entry) => entry ?? [])
  for (let start = 0; start < given.length; start += ENTRIES_PER_STATEMENT) {
    yield* step(APPEND, { rows: rowsText(given.slice(start, start + ENTRIES_PER_STATEMENT)) })
  }
}

export type AuditStore = ReturnType<typeof compileAuditStore>

/** Builds the store over a database whose tables are up to date. Rejects with StoreUnavailable if it does not answer. */
export function compileAuditStore(database: Database) {
  const { rowsPerWrite } = database
  return {
    /** Resolves when the entries are durable. */
    append: async (...entries: readonly AuditEntry[]): Promise<void> => {
      for (let start = 0; start < entries.length; start += rowsPerWrite) {
        await database.write(APPEND, { rows: rowsText(entries.slice(start, start + rowsPerWrite)) })
      }
    },
    /** Newest first, at most `limit`, all older than the id `before` if it is given. */
    find: async (filter: AuditFilter, limit: number, before?: string): Promise<readonly AuditEntry[]> =>
      (await database.readOnce(findQuery(filter, limit, before))).map(entryFromRow),
    /** Removes entries older than `before` (milliseconds since the epoch), and all but the newest `refused` refused calls. */
    purge: async (before: number, refused: number): Promise<void> => {
      await database.write(PURGE, { oldest: idFrom(before), refused })
    },
  }
}

/** Names come from outside and databases reject some texts: the names that are shown are in `detail`, as JSON. */
const toRow = (entry: AuditEntry): Row => {
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
      .map(toRow)
      .map(({ id, who, name, what, target, refused, detail }) => [id, who, name, what, target, refused, detail]),
  )

const entryFromRow = ({ id, detail }: FoundRow): AuditEntry => ({
  id,
  at: new Date(timeFromId(id)).toISOString(),
  ...(JSON.parse(detail) as Omit<AuditEntry, 'id' | 'at'>),
})
