/** Statements of src/adapters/sql, prepared on a connection; faults of the file or disk become `StoreUnavailable`. */
import type { DatabaseSync } from 'node:sqlite'
import type { SqlValues, Statement } from '../sql/statement.ts'
import { storeClosed, storeFault } from './faults.ts'

export type Prepared<Values, Row> = Readonly<{
  all(values: Values): Row[]
  first(values: Values): Row | undefined
  /** The number of rows that were written. */
  run(values: Values): number
}>

/** Prepares `statement`; its rows have the columns that its type says. */
export function prepare<Values extends SqlValues, Row>(
  db: DatabaseSync,
  { sql, bind }: Statement<Values, Row>,
): Prepared<Values, Row> {
  const attempt = <T>(work: () => T): T => {
    if (!db.isOpen) throw storeClosed()
    try {
      return work()
    } catch (thrown) {
      throw storeFault(thrown)
    }
  }
  const prepared = attempt(() => db.prepare(sql))
  return {
    all: (values) => attempt(() => prepared.all(...bind(values)) as Row[]),
    first: (values) => attempt(() => prepared.get(...bind(values)) as Row | undefined),
    run: (values) => attempt(() => Number(prepared.run(...bind(values)).changes)),
  }
}
