/** The store of the codes that messages missed in tables, of both databases: instances add up in it, in bounded space. */
import type { MissedCode } from '../../core/tables/table-reads.ts'
import { type Database, step } from './database.ts'
import type { Tables } from './schema.ts'
import { elements, type NoValues, named, sql } from './sql.ts'

/** What the messages of one endpoint missed. Times in milliseconds since the epoch. */
export type Misses = MissedCode &
  Readonly<{
    endpointId: string
    count: number
    firstAt: number
    lastAt: number
    /** Ids of the newest ones, newest first. */
    messages: readonly string[]
  }>

export type UnmappedCode = Omit<MissedCode, 'table'> &
  Readonly<{ count: number; byEndpoint: readonly Omit<Misses, keyof MissedCode>[] }>

/** Of one table; `uncounted`: misses of codes beyond those that are kept. */
export type UnmappedCodes = Readonly<{ codes: readonly UnmappedCode[]; codesInAll: number; uncounted: number }>

/** Codes of a table, and rows: a row for each endpoint that missed a code. */
export const MAX_CODES = 10_000
const MAX_ROWS = 100_000
/** Of a code, the newest. */
export const MAX_MISSING_MESSAGES = 20
const ID_LENGTH = 24
const EVERY_ID = new RegExp(`.{${ID_LENGTH}}`, 'g')

type Row = Tables['unmapped_codes']
type ByTable = Readonly<{ table: string }>
type Rows = Readonly<{ rows: string }>
type Key = readonly [table: string, column: string, code: string, endpointId: string]

/** No column has an empty name, so this is no code: it counts the misses that have no row. */
const REST = sql`column_name = ''`

const ROOM = sql<ByTable, { codes: number | string; rows: number | string }>`
  select count(distinct code) as codes, count(*) as rows from unmapped_codes where table_name = :table`
/** In: the first columns of many rows. */
const KNOWN = sql<Rows, Pick<Row, 'table_name' | 'column_name' | 'code' | 'endpoint_id'>>`
  select known.table_name, known.column_name, known.code, known.endpoint_id
  from ${elements(named('rows'))} as element join unmapped_codes as known on known.table_name = element.value ->> 0
    and known.column_name = element.value ->> 1 and known.code = element.value ->> 2
    and known.endpoint_id = element.value ->> 3`
/** Of many, those that a table has rows for. */
const KNOWN_CODES = sql<ByTable & Rows, Pick<Row, 'code'>>`
  select distinct code from unmapped_codes where table_name = :table and column_name <> ''
  and code in (select element.value ->> 0 from ${elements(named('rows'))} as element)`
const ADD = sql<Rows>`
  insert into unmapped_codes (table_name, column_name, code, endpoint_id, count, first_at, last_at, messages)
  select element.value ->> 0, element.value ->> 1, element.value ->> 2, element.value ->> 3,
    cast(element.value ->> 4 as bigint), cast(element.value ->> 5 as bigint), cast(element.value ->> 6 as bigint),
    element.value ->> 7
  from ${elements(named('rows'))} as element where true
  on conflict (table_name, column_name, code, endpoint_id) do update
  set count = unmapped_codes.count + excluded.count,
    last_at = case when excluded.last_at > unmapped_codes.last_at then excluded.last_at else unmapped_codes.last_at end,
    messages = substr(excluded.messages || unmapped_codes.messages, 1, ${MAX_MISSING_MESSAGES * ID_LENGTH})`
const LIST = sql<ByTable & Readonly<{ limit: number; from: number }>, Row>`
  select code.table_name, code.column_name, code.code, endpoint_id, count, first_at, last_at, messages
  from unmapped_codes as code join (
    select column_name, code, sum(count) as total from unmapped_codes
    where table_name = :table and column_name <> '' group by column_name, code
    order by total desc, column_name, code limit cast(:limit as integer) offset cast(:from as integer)
  ) as newest on newest.column_name = code.column_name and newest.code = code.code
  where table_name = :table
  order by newest.total desc, code.column_name, code.code, count desc, endpoint_id`
const SUMS = sql<ByTable, { codes: number | string; uncounted: number | string }>`
  select (
    select count(*) from (
      select distinct column_name, code from unmapped_codes where table_name = :table and column_name <> ''
    ) as code
  ) as codes, (
    select coalesce(sum(count), 0) from unmapped_codes where table_name = :table and ${REST}
  ) as uncounted`
const ALL = sql<NoValues, Pick<Row, 'table_name' | 'column_name' | 'code'>>`
  select distinct table_name, column_name, code from unmapped_codes where column_name <> ''`
const COUNT = sql<ByTable & Rows, { count: number | string }>`
  select coalesce(sum(count), 0) as count from unmapped_codes where table_name = :table and column_name <> ''
  and code in (select element.value ->> 0 from ${elements(named('rows'))} as element)`
const REMOVE = sql<Readonly<{ table: string; before: number }>>`
  delete from unmapped_codes where table_name = :table and last_at <= :before`
const REMOVE_CODES = sql<Readonly<{ table: string; before: number } & Rows>>`
  delete from unmapped_codes where table_name = :table and last_at <= :before
  and code in (select element.value ->> 0 from ${elements(named('rows'))} as element)`
const REMOVE_OLD = sql<Readonly<{ before: number }>>`delete from unmapped_codes where last_at < :before`

export type UnmappedStore = ReturnType<typeof compileUnmappedStore>

/** Builds the store. Each call rejects with StoreUnavailable if the database does not answer. */
export function compileUnmappedStore(database: Database) {
  const { rowsPerWrite } = database
  return {
    /** Adds to what is stored. In: each table, column, code and endpoint once; without a column, what has no code. */
    add: (misses: readonly Misses[]): Promise<void> =>
      database.transaction(function* () {
        for (const [table, some] of Map.groupBy(misses, (one) => one.table)) {
          const [used] = yield* step(ROOM, { table })
          const room = { codes: MAX_CODES - Number(used?.codes), rows: MAX_ROWS - Number(used?.rows) }
          const codes = some.filter(({ column }) => column !== '')
          const kept = new Set(
            Math.min(room.codes, room.rows) >= codes.length ? codes : yield* findKept(table, codes, room),
          )
          const rest = some.filter((one) => !kept.has(one))
          const rows = [...kept, ...(rest.length === 0 ? [] : [restOf(table, rest)])].map(toRow)
          for (let start = 0; start < rows.length; start += rowsPerWrite) {
            yield* step(ADD, { rows: JSON.stringify(rows.slice(start, start + rowsPerWrite)) })
          }
        }
      }),
    /** Those that were missed most often, first. */
    list: async (table: string, limit: number, from = 0): Promise<UnmappedCodes> => {
      const [sums] = await database.read(SUMS, { table })
      const rows = await database.read(LIST, { table, limit, from })
      const codes = Map.groupBy(rows, (row) => JSON.stringify([row.column_name, row.code]))
      return {
        codes: [...codes.values()].map(codeFromRows),
        codesInAll: Number(sums?.codes),
        uncounted: Number(sums?.uncounted),
      }
    },
    /** All codes of all tables. */
    codes: async (): Promise<readonly MissedCode[]> =>
      (await database.read(ALL, {})).map((row) => ({
        table: row.table_name,
        column: row.column_name,
        code: JSON.parse(row.code),
      })),
    /** How often messages missed these codes. */
    count: async (table: string, codes: readonly string[]): Promise<number> =>
      Number((await database.read(COUNT, { table, rows: codeRows(codes) }))[0]?.count),
    /** Removes what was last missed until `before`. `codes`: undefined for all. */
    remove: async (table: string, codes?: readonly string[], before = Number.MAX_SAFE_INTEGER): Promise<void> => {
      if (codes === undefined) await database.write(REMOVE, { table, before })
      else await database.write(REMOVE_CODES, { table, before, rows: codeRows(codes) })
    },
    /** Removes what was last missed before, in milliseconds since the epoch, of all tables. */
    removeOld: async (before: number): Promise<void> => void (await database.write(REMOVE_OLD, { before })),
  }
}

/** Those that have a row already, and as many others as there is room for; a code that has a row takes no room of codes. */
function* findKept(table: string, misses: readonly Misses[], room: Readonly<{ codes: number; rows: number }>) {
  const rows = yield* step(KNOWN, { rows: JSON.stringify(misses.map(toKey)) })
  const known = new Set(rows.map((row) => JSON.stringify([row.table_name, row.column_name, row.code, row.endpoint_id])))
  const listed = yield* step(KNOWN_CODES, { table, rows: codeRows(misses.map(({ code }) => code)) })
  const codes = new Set(listed.map(({ code }) => JSON.parse(code)))
  const left = { ...room }
  return misses.filter((one) => {
    if (known.has(JSON.stringify(toKey(one)))) return true
    const isNew = !codes.has(one.code)
    if (left.rows <= 0 || (isNew && left.codes <= 0)) return false
    left.rows -= 1
    if (isNew) left.codes -= 1
    codes.add(one.code)
    return true
  })
}

const toKey = ({ table, column, code, endpointId }: Misses): Key => [table, column, JSON.stringify(code), endpointId]

const codeRows = (codes: readonly string[]): string => JSON.stringify(codes.map((code) => [JSON.stringify(code)]))

const restOf = (table: string, misses: readonly Misses[]): Misses => ({
  table,
  column: '',
  code: '',
  endpointId: '',
  count: misses.reduce((sum, { count }) => sum + count, 0),
  firstAt: Math.min(...misses.map(({ firstAt }) => firstAt)),
  lastAt: Math.max(...misses.map(({ lastAt }) => lastAt)),
  messages: [],
})

const toRow = (one: Misses) => [...toKey(one), one.count, one.firstAt, one.lastAt, one.messages.join('')]

function codeFromRows(rows: readonly Row[]): UnmappedCode {
  const [{ column_name: column, code }] = rows as readonly [Row]
  const byEndpoint = rows.map(({ endpoint_id: endpointId, messages, ...row }) => ({
    endpointId,
    count: Number(row.count),
    firstAt: Number(row.first_at),
    lastAt: Number(row.last_at),
    // A message that a replay missed again is there twice.
    messages: [...new Set(messages.match(EVERY_ID))],
  }))
  return { column, code: JSON.parse(code), count: byEndpoint.reduce((sum, { count }) => sum + count, 0), byEndpoint }
}
