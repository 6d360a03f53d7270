/** SQLite behind the port of the SQL stores: reads at once, writes in the next transaction of the group commit. */
import type { DatabaseSync } from 'node:sqlite'
import type { Database, TransactionWork } from '../sql/database.ts'
import { storeClosed } from '../sql/database.ts'
import { type Fragment, render, type Sql, type SqlValues, sql } from '../sql/sql.ts'
import { storeFault } from './error-codes.ts'
import type { GroupCommit } from './group-commit.ts'

/** A prepared statement. Faults of the file or disk become `StoreUnavailable`. */
export type Prepared<Values, Row> = Readonly<{
  all(values: Values): Row[]
  first(values: Values): Row | undefined
  /** For a statement that returns no rows. */
  run(values: Values): void
}>

/** Prepares a statement; its rows have the columns that its type says. */
export function prepare<Values extends SqlValues, Row>(
  db: DatabaseSync,
  statement: Sql<Values, Row>,
): Prepared<Values, Row> {
  const attempt = <T>(work: () => T): T => {
    if (!db.isOpen) throw storeClosed()
    try {
      return work()
    } catch (thrown) {
      throw storeFault(thrown)
    }
  }
  const { text, bind } = render(statement, 'sqlite')
  const prepared = attempt(() => db.prepare(text))
  return {
    all: (values) => attempt(() => prepared.all(...bind(values)) as Row[]),
    first: (values) => attempt(() => prepared.get(...bind(values)) as Row | undefined),
    run: (values) => attempt(() => void prepared.run(...bind(values))),
  }
}

export type SqliteDatabaseOptions = Readonly<{
  db: DatabaseSync
  writer: GroupCommit
  /** Whether other processes of the service work on the file too. */
  shared: boolean
}>

/** Takes about a millisecond on the thread of the messages. */
const ROWS_PER_WRITE = 100

const PING = sql`select id from endpoints limit 1`

/** Writes the page that it is on, and changes nothing. */
const PROBE = 'PRAGMA user_version = 0'

/** Each waits for a flush to the disk. */
const PROBE_EVERY_MS = 1_000

export function createSqliteDatabase({ db, writer, shared }: SqliteDatabaseOptions): Database {
  const prepared = new WeakMap<Fragment, unknown>()
  let probe: Promise<void> | undefined
  let probedAt = 0

  function run<Values extends SqlValues, Row>(statement: Sql<Values, Row>, values: Values): readonly Row[] {
    const known = prepared.get(statement) as Prepared<Values, Row> | undefined
    if (known !== undefined) return known.all(values)
    const added = prepare(db, statement)
    prepared.set(statement, added)
    return added.all(values)
  }

  function runWork<T>(work: TransactionWork<T>): T {
    let next = work.next([])
    while (!next.done) next = work.next(run(next.value.statement as Sql<SqlValues>, next.value.values))
    return next.value
  }

  /** All or nothing of `work`, whatever else is in the transaction of the group commit. */
  function runWhole<T>(work: () => TransactionWork<T>): T {
    db.exec('SAVEPOINT work')
    try {
      const result = runWork(work())
      db.exec('RELEASE work')
      return result
    } catch (thrown) {
      if (db.isTransaction) db.exec('ROLLBACK TO work; RELEASE work')
      throw thrown
    }
  }

  return {
    isShared: shared,
    isEmbedded: true,
    rowsPerWrite: ROWS_PER_WRITE,
    read: run,
    readOnce: (query) => prepare(db, query).all({} as never),
    write: (statement, values) => writer.write(() => run(statement, values)),
    transaction: (work) => writer.write(() => runWhole(work)),
    // The checks of a transaction hold until its commit, as it has the write lock.
    violatedIndex: () => undefined,
    ping: async () => {
      run(PING, {})
      const now = performance.now()
      if (now - probedAt < PROBE_EVERY_MS && probe !== undefined) return probe
      probedAt = now
      probe = writer.write(() => db.exec(PROBE))
      return probe
    },
  }
}
