/** SQLite behind the port of the SQL stores: reads at once, writes in the next transaction of the group commit. */
import type { DatabaseSync } from 'node:sqlite'
import { type Database, storeClosed, type TransactionWork } from '../sql/database.ts'
import { readDocument } from '../sql/schema.ts'
import { type Fragment, type NoValues, render, type Sql, type SqlValues, sql } from '../sql/sql.ts'
import type { ChangeFeed } from '../store.ts'
import type { GroupCommit } from './group-commit.ts'
import { storeFault } from './sqlite-file.ts'

/** A prepared statement. Faults of the file or disk become `StoreUnavailable`. */
type Prepared<Values, Row> = Readonly<{
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

type SqliteDatabaseOptions = Readonly<{
  db: DatabaseSync
  writer: GroupCommit
  /** Other processes of the service work on the file too. */
  shared: boolean
}>

/** Takes about a millisecond on the thread of the messages. */
const ROWS_PER_WRITE = 100

/** Of the values that may be large. */
function countBytes(values: SqlValues): number {
  return Object.values(values).reduce((sum: number, value) => sum + (value instanceof Uint8Array ? value.length : 0), 0)
}

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
    version: VERSION,
    rowsPerWrite: ROWS_PER_WRITE,
    read: run,
    readOnce: (query) => prepare(db, query).all({} as never),
    write: (statement, values) => writer.write(() => run(statement, values), 'other', countBytes(values)),
    transaction: (work) => writer.write(() => runWhole(work)),
    transactionBeside: (work, isAwaited) => writer.write(() => runWhole(work), isAwaited ? 'message' : 'other'),
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

type ClosableChangeFeed = ChangeFeed & Readonly<{ close(): void }>

/** The processes of one service notify each other of changes; polling finds the notifications that were lost. */
const POLL_MS = 5_000

type VersionRow = Readonly<{ version: number }>
type SinceRow = VersionRow & Readonly<{ id: string | null; document: string | null; number: number | null }>

const CHANGES_OF_TABLES = sql`(select coalesce(max(rowid), 0) from table_versions)`

/** One above the newest rows, so that a file without endpoints has a version too. */
const VERSION = sql<NoValues, VersionRow>`
  select coalesce(max(rowid), 0) + 1 + ${CHANGES_OF_TABLES} as version from endpoint_versions`

/**
 * One statement, so that version and documents are of one moment. It returns one row if nothing is new. Where tables have
 * changed too, documents that have not may be among those that have.
 */
const SINCE = sql<{ since: number }, SinceRow>`
  with newest as (${VERSION}),
    changed as (
      select endpoint_id, max(version) as number from endpoint_versions
      where rowid >= :since - ${CHANGES_OF_TABLES} group by endpoint_id
    )
  select newest.version, endpoints.id, coalesce(changed.number, 1) as number,
    case when :since = 0 or changed.number is not null then endpoints.document end as document
  from newest
    left join endpoints on newest.version > :since
    left join changed on changed.endpoint_id = endpoints.id
  order by endpoints.id`

/**
 * Builds the change feed of a file that several processes of one service work on. Each change of an endpoint adds a row to
 * `endpoint_versions` in its own transaction, each of a table one to `table_versions`, so the numbers of the newest rows show
 * whether anything is new.
 */
export function compileChangeFeed(db: DatabaseSync): ClosableChangeFeed {
  const since = prepare(db, SINCE)
  const version = prepare(db, VERSION)
  let timer: NodeJS.Timeout | undefined

  return {
    since: async (known) => {
      const rows = since.all({ since: known })
      const changed = rows.filter(({ document }) => document !== null)
      return {
        version: rows[0]?.version as number,
        documents: changed.flatMap(({ document }) => (document === null ? [] : [readDocument({ document })])),
        versions: new Map(changed.map(({ id, number }) => [id as string, number as number])),
        ids: new Set(rows.flatMap(({ id }) => id ?? [])),
      }
    },
    watch: (notify) => {
      const poll = () => {
        try {
          notify((version.first({}) as VersionRow).version)
        } catch {
          // The calls that need the file report that it does not answer; the next poll finds the change.
        }
      }
      timer ??= setInterval(poll, POLL_MS).unref()
    },
    close: () => clearInterval(timer),
  }
}
