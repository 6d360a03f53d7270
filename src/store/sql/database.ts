/**
 * What a store needs of its database. The folders sqlite/ and postgres/ implement it; the stores beside this file run on
 * both.
 */
import { Failure } from '../../core/failure.ts'
import type { Awaitable } from '../../core/json.ts'
import { StoreUnavailable } from '../store-access.ts'
import {
  type Fragment,
  join,
  NOW,
  type NoValues,
  named,
  raw,
  type Sql,
  type SqlValue,
  type SqlValues,
  sql,
} from './sql.ts'

/** A statement of a transaction, with its values. */
export type TransactionStep = Readonly<{ statement: Fragment; values: SqlValues }>

/**
 * The body of a transaction: a generator, so that SQLite runs it without a promise and PostgreSQL awaits each statement.
 * It changes nothing but through its statements.
 */
export type TransactionWork<T> = Generator<TransactionStep, T, readonly unknown[]>

/** Runs a statement within a transaction; gives its rows. */
export function* step<Values extends SqlValues, Row>(
  statement: Sql<Values, Row>,
  values: Values,
): TransactionWork<readonly Row[]> {
  return (yield { statement, values }) as readonly Row[]
}

/** Every call rejects, or throws where it is synchronous, with StoreUnavailable if the database does not answer. */
export interface Database {
  /** Other processes write to the database too. */
  readonly isShared: boolean
  /** A read costs no round trip and gives its rows without a promise. */
  readonly isEmbedded: boolean
  /** Reads the version of the store, as its change feed reports it. */
  readonly version: Sql<NoValues, Readonly<{ version: number | string }>>
  /** The most rows that one statement writes. */
  readonly rowsPerWrite: number
  /** Runs a statement that only reads, at once. It is prepared once: keep it. */
  read<Values extends SqlValues, Row>(statement: Sql<Values, Row>, values: Values): Awaitable<readonly Row[]>
  /** Runs a query that was written for this call, at once. It only reads. */
  readOnce<Row>(query: Sql<never, Row>): Awaitable<readonly Row[]>
  /** Runs one statement, whole or not at all. It is prepared once: keep it. Resolves to its rows when it is durable. */
  write<Values extends SqlValues, Row>(statement: Sql<Values, Row>, values: Values): Promise<readonly Row[]>
  /** Commits all of `work` or nothing. Transactions of all instances run one after the other. Durable when it resolves. */
  transaction<T>(work: () => TransactionWork<T>): Promise<T>
  /**
   * Commits all of `work` or nothing, beside other transactions: each locks its rows in one order, so that none waits for
   * another in a circle. Durable when it resolves. `isAwaited`: a message waits for it.
   */
  transactionBeside<T>(work: () => TransactionWork<T>, isAwaited?: boolean): Promise<T>
  /** The unique index that a write violated; undefined for any other error. */
  violatedIndex(thrown: unknown): string | undefined
  /** Resolves if the database takes writes. */
  ping(): Promise<void>
}

/** The numbers of rows for which a statement is made: its text names each value, so every number needs its own. */
const BLOCKS = [64, 32, 16, 8, 4, 2, 1]

/** Writes the rows, in their order, within a transaction. */
export type RowsStatement<Column extends string> = (
  rows: readonly Readonly<Record<Column, SqlValue>>[],
) => TransactionWork<void>

/**
 * Writes many rows with few statements: on PostgreSQL each statement is a round trip, and SQLite reads values faster from
 * their placeholders than from JSON.
 *
 * In: the columns of a row, and a function that makes the statement around `values (…), (…)`, at its first use.
 */
export function rowsStatement<Column extends string>(
  columns: readonly Column[],
  make: (rows: Fragment) => Fragment,
): RowsStatement<Column> {
  const parameterName = (column: string, index: number): string => `${column} ${index}`
  const made = new Map<number, Fragment>()

  function statementFor(size: number): Fragment {
    const known = made.get(size)
    if (known !== undefined) return known
    const row = (_: unknown, index: number) =>
      sql`(${join(columns.map((column) => named(parameterName(column, index))))})`
    const added = make(sql`values ${join(Array.from({ length: size }, row))}`)
    made.set(size, added)
    return added
  }

  return function* (rows) {
    let start = 0
    for (const size of BLOCKS) {
      for (; start + size <= rows.length; start += size) {
        const block = rows.slice(start, start + size)
        const values = block.flatMap((row, index) =>
          columns.map((column): [string, SqlValue] => [parameterName(column, index), row[column]]),
        )
        yield { statement: statementFor(size), values: Object.fromEntries(values) }
      }
    }
  }
}

/** `reason`: part of a sentence, without its full stop. */
export const storeUnavailable = (reason: string, options?: ErrorOptions): StoreUnavailable =>
  new StoreUnavailable(`The store did not answer: ${reason}.`, options)

export const storeClosed = (): StoreUnavailable => new StoreUnavailable('The store is closed.')

/**
 * Builds the mapping of thrown values to what the ports promise: `StoreUnavailable` if the database is at fault and a retry may
 * succeed, else the value itself. `reasonFor` knows the error codes of the database and gives undefined for a wrong query or value.
 */
export const compileStoreFault =
  (reasonFor: (thrown: unknown) => string | undefined) =>
  (thrown: unknown): unknown => {
    if (thrown instanceof StoreUnavailable || thrown instanceof Failure) return thrown
    const reason = reasonFor(thrown)
    return reason === undefined ? thrown : storeUnavailable(reason, { cause: thrown })
  }

/** Inserts rows, with few statements. `end`: what follows them, such as `on conflict`. */
export const insertStatement = <Column extends string>(table: string, columns: readonly Column[], end = sql``) =>
  rowsStatement(columns, (rows) => sql`insert into ${raw(table)} (${raw(columns.join(', '))}) ${rows} ${end}`)

const CLOCK = sql<NoValues, { now: number | string }>`select ${NOW} as now`

/** The clock of the database, in milliseconds since the epoch. */
export const readClock = async (database: Database): Promise<number> => Number((await database.read(CLOCK, {}))[0]?.now)
