/** Prepares statements of src/adapters/sql on a connection. Faults of the file or disk become `StoreUnavailable`. */
import type { DatabaseSync } from 'node:sqlite'
import type { SqlValues, Statement } from '../sql/statement.ts'
import { storeClosed } from '../sql/store-faults.ts'
import { storeFault } from './error-codes.ts'

export type Prepared<Values, Row> = Readonly<{
  all(values: Values): Row[]
  first(values: Values): Row | undefined
  /** For a statement that returns no rows. */
  run(values: Values): void
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
    run: (values) => attempt(() => void prepared.run(...bind(values))),
  }
}
