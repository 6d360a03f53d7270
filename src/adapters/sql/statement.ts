/**
 * Statements that Kysely builds once, typed and in the dialect of the database, and that run many times with other values.
 * Each database runs them on its own driver, so that SQLite's synchronous driver stays synchronous on the path of a
 * message.
 */
import { type Compilable, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'

export type SqlValue = string | number | Uint8Array | null
export type SqlValues = Readonly<Record<string, SqlValue>>

export type Statement<Values extends SqlValues, Row = unknown> = Readonly<{
  sql: string
  /** The values in the order of their placeholders in the text. */
  bind(values: Values): SqlValue[]
  /** Only a type: that of a row of the result. */
  row?: Row
}>

const NAME = Symbol('name of a value')
type Placeholder = Readonly<{ [NAME]: string }>

const isPlaceholder = (parameter: unknown): parameter is Placeholder =>
  typeof parameter === 'object' && parameter !== null && NAME in parameter

/** The placeholder of the value of that name. */
export type ValueOf<Values extends SqlValues> = <Name extends keyof Values & string>(
  name: Name,
) => RawBuilder<Values[Name]>

/**
 * Builds a statement whose values come later.
 *
 * In: a function that builds the query, with `value('…')` in place of each value that differs from run to run. Out: the
 * text and the order of its values; literal values of the query are bound as they are.
 */
export function compileStatement<Values extends SqlValues, Row = unknown>(
  build: (value: ValueOf<Values>) => Compilable<Row>,
): Statement<Values, Row> {
  const query = build((name) => sql`${{ [NAME]: name } satisfies Placeholder}`).compile()
  const parameters = query.parameters
  return {
    sql: query.sql,
    bind: (values) =>
      parameters.map((parameter) => (isPlaceholder(parameter) ? values[parameter[NAME]] : parameter) as SqlValue),
  }
}

/** A query that is written in SQL, as `compileStatement` takes it. `queries`: of the dialect. */
export const rawQuery =
  (queries: QueryExecutorProvider) =>
  <Row>(query: RawBuilder<Row>): Compilable<Row> => ({ compile: () => query.compile(queries) })
