/**
 * The port between the stores that both databases share (stores/) and a database. src/adapters/sqlite and
 * src/adapters/postgres implement it.
 */
import type { CompiledQuery, Kysely, RawBuilder } from 'kysely'
import type { Awaitable } from '../../domain/json.ts'
import type { SqlValues, Statement } from './statement.ts'
import type { Tables } from './tables.ts'

/** The SQL in which the databases differ. */
export type SqlDialect = Readonly<{
  /** Builds queries and runs none. */
  queries: Kysely<Tables>
  /** The clock of the database in whole milliseconds since the epoch: the clock of an instance may be wrong. */
  now: RawBuilder<number>
  /** The column type of bytes. */
  bytes: RawBuilder<unknown>
  /** A text as bytes in UTF-8 if the driver reads these without a copy as a text, else the text. */
  textBytes(text: RawBuilder<string>): RawBuilder<Uint8Array | string>
  /** The elements of a JSON array of arrays as rows: `from … as element`, then `element.value ->> 0`. */
  elements(json: RawBuilder<string>): RawBuilder<unknown>
  /** The end of a query in a transaction: locks its rows, in their order, if other transactions can run beside this one. */
  lockRows: RawBuilder<unknown>
  /** The sequence that makes a row of `states` the newest of its endpoint. */
  nextStateSequence(endpointId: RawBuilder<unknown>): RawBuilder<number>
}>

/** A statement of a transaction, with its values. */
export type TransactionStep = Readonly<{ statement: Statement<SqlValues>; values: SqlValues }>

/**
 * The body of a transaction: a generator, so that SQLite runs it without a promise and PostgreSQL awaits each statement.
 * It changes nothing but through its statements.
 */
export type TransactionWork<T> = Generator<TransactionStep, T, readonly unknown[]>

/** Runs a statement within a transaction; gives its rows. */
export function* step<Values extends SqlValues, Row>(
  statement: Statement<Values, Row>,
  values: Values,
): TransactionWork<readonly Row[]> {
  return (yield { statement, values }) as readonly Row[]
}

/** Every call rejects, or throws where it is synchronous, with StoreUnavailable if the database does not answer. */
export interface SqlDatabase {
  readonly dialect: SqlDialect
  /** Whether other processes write to the database too. */
  readonly isShared: boolean
  /** Whether a read costs no round trip and gives its rows without a promise. */
  readonly isEmbedded: boolean
  /** The most rows that one statement writes. */
  readonly rowsPerWrite: number
  /** Runs a statement that only reads, at once. */
  read<Values extends SqlValues, Row>(statement: Statement<Values, Row>, values: Values): Awaitable<readonly Row[]>
  /** Runs a query that was built for this call, at once. It only reads. */
  readOnce<Row>(query: CompiledQuery<Row>): Awaitable<readonly Row[]>
  /** Runs one statement, whole or not at all. Resolves to its rows when it is durable. */
  write<Values extends SqlValues, Row>(statement: Statement<Values, Row>, values: Values): Promise<readonly Row[]>
  /** Commits all of `work` or nothing. Transactions of all instances run one after the other. Durable when it resolves. */
  transaction<T>(work: () => TransactionWork<T>): Promise<T>
  /** The unique index that a write violated; undefined for any other error. */
  violatedIndex(thrown: unknown): string | undefined
  /** Resolves if the database takes writes. */
  ping(): Promise<void>
}
