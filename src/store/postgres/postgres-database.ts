/** PostgreSQL behind the port of the SQL stores: every statement is a round trip. */
import type { Database, TransactionWork } from '../sql/database.ts'
import { type Fragment, type NoValues, type Sql, type SqlValues, sql } from '../sql/sql.ts'
import {
  type Connections,
  type Prepared,
  prepare,
  prepareOnce,
  prepareText,
  READS_ONLY,
  type RunStatement,
  storeEmpty,
  TakesNoWrites,
  violatedIndex,
} from './connection-pool.ts'

/** About 100 kB. */
const ROWS_PER_WRITE = 1_000

/** The trigger of every change takes this lock too: it makes the versions follow the order of the commits. */
const LOCK = prepareText<undefined, never>('select version from configuration for update', () => [])

const PING = prepareText<undefined, { read_only: boolean }>(
  `select ${READS_ONLY} as read_only from configuration`,
  () => [],
)

const VERSION = sql<NoValues, Readonly<{ version: string }>>`select version from configuration`

export function createPostgresDatabase(connections: Connections): Database {
  const prepared = new WeakMap<Fragment, unknown>()

  function prepareCached<Values extends SqlValues, Row>(statement: Sql<Values, Row>): Prepared<Values, Row> {
    const known = prepared.get(statement) as Prepared<Values, Row> | undefined
    if (known !== undefined) return known
    const added = prepare(statement)
    prepared.set(statement, added)
    return added
  }

  async function runWork<T>(work: TransactionWork<T>, run: RunStatement): Promise<T> {
    let next = work.next([])
    while (!next.done) next = work.next(await run(prepareCached(next.value.statement), next.value.values))
    return next.value
  }

  const run: Database['write'] = (statement, values) => connections.run(prepareCached(statement), values)

  return {
    isShared: true,
    isEmbedded: false,
    version: VERSION,
    rowsPerWrite: ROWS_PER_WRITE,
    read: run,
    readOnce: (query) => connections.run(prepareOnce(query), undefined),
    write: run,
    transaction: (work) =>
      connections.transaction(async (runHere) => {
        await runHere(LOCK, undefined)
        return runWork(work(), runHere)
      }),
    transactionBeside: (work) => connections.transaction((runHere) => runWork(work(), runHere)),
    violatedIndex,
    ping: () =>
      connections.transaction(async (runHere) => {
        const [row] = await runHere(PING, undefined)
        if (row === undefined) throw storeEmpty()
        if (row.read_only) throw new TakesNoWrites()
      }),
  }
}
