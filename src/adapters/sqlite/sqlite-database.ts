/** SQLite behind the port of the SQL stores: reads at once, writes in the next transaction of the group commit. */
import type { DatabaseSync } from 'node:sqlite'
import type { SqlDatabase, SqlDialect, TransactionWork } from '../sql/database.ts'
import type { SqlValues, Statement } from '../sql/statement.ts'
import type { GroupCommit } from './group-commit.ts'
import { type Prepared, prepare } from './prepare.ts'

export type SqliteDatabaseOptions = Readonly<{
  db: DatabaseSync
  dialect: SqlDialect
  writer: GroupCommit
  /** Whether other processes of the service work on the file too. */
  shared: boolean
}>

/** Takes about a millisecond on the thread of the messages. */
const ROWS_PER_WRITE = 100

const PING: Statement<Record<never, never>> = { sql: 'select id from endpoints limit 1', bind: () => [] }

/** Writes the page that it is on, and changes nothing. */
const PROBE = 'PRAGMA user_version = 0'

/** Each waits for a flush to the disk. */
const PROBE_EVERY_MS = 1_000

export function createSqliteDatabase({ db, dialect, writer, shared }: SqliteDatabaseOptions): SqlDatabase {
  const prepared = new WeakMap<object, unknown>()
  let probe: Promise<void> | undefined
  let probedAt = 0

  function run<Values extends SqlValues, Row>(statement: Statement<Values, Row>, values: Values): readonly Row[] {
    const known = prepared.get(statement) as Prepared<Values, Row> | undefined
    if (known !== undefined) return known.all(values)
    const added = prepare(db, statement)
    prepared.set(statement, added)
    return added.all(values)
  }

  function runWork<T>(work: TransactionWork<T>): T {
    let next = work.next([])
    while (!next.done) next = work.next(run(next.value.statement, next.value.values))
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
    dialect,
    isShared: shared,
    isEmbedded: true,
    rowsPerWrite: ROWS_PER_WRITE,
    read: run,
    readOnce: ({ sql, parameters }) =>
      prepare(db, { sql, bind: () => parameters as (string | number)[] }).all({}) as never[],
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
