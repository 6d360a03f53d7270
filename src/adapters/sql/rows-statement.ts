/**
 * Writes many rows with few statements: on PostgreSQL each statement is a round trip, and SQLite reads values faster from
 * their placeholders than from JSON.
 */
import { type Compilable, type RawBuilder, sql } from 'kysely'
import { step, type TransactionWork } from './database.ts'
import { compileStatement, type SqlValue, type SqlValues, type Statement } from './statement.ts'

/** The numbers of rows for which a statement is built: its text names each value, so every number needs its own. */
const BLOCKS = [64, 8, 1]

/** Writes the rows, in their order, within a transaction. */
export type RowsStatement<Column extends string> = (
  rows: readonly Readonly<Record<Column, SqlValue>>[],
) => TransactionWork<void>

/**
 * In: the columns of a row, and a function that builds the statement around `values (…), (…)`. Statements are built at
 * their first use.
 */
export function compileRowsStatement<Column extends string>(
  columns: readonly Column[],
  build: (rows: RawBuilder<unknown>) => Compilable,
): RowsStatement<Column> {
  const built = new Map<number, Statement<SqlValues>>()

  const statementOf = (size: number): Statement<SqlValues> => {
    const known = built.get(size)
    if (known !== undefined) return known
    const added = compileStatement<SqlValues>((value) => {
      const row = (_: unknown, index: number) =>
        sql`(${sql.join(columns.map((column) => value(nameOf(column, index))))})`
      return build(sql`values ${sql.join(Array.from({ length: size }, row))}`)
    })
    built.set(size, added)
    return added
  }

  return function* (rows) {
    let start = 0
    for (const size of BLOCKS) {
      for (; start + size <= rows.length; start += size) {
        const block = rows.slice(start, start + size)
        const values = block.flatMap((row, index) =>
          columns.map((column): [string, SqlValue] => [nameOf(column, index), row[column]]),
        )
        yield* step(statementOf(size), Object.fromEntries(values))
      }
    }
  }
}

const nameOf = (column: string, index: number): string => `${column} ${index}`
