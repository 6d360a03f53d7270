/**
 * Queries that are built once with Kysely and run many times with other values. Kysely builds them, typed and in the
 * dialect of the database; each store runs them on its own driver, so that one with a synchronous driver stays
 * synchronous on the path of a message.
 */
import { type Compilable, type RawBuilder, sql } from 'kysely'

export type SqlValue = string | number | Uint8Array | null
export type SqlValues = Readonly<Record<string, SqlValue>>

export type Statement<Values extends SqlValues, Row = unknown> = Readonly<{
  sql: string
  /** The values in the order in which the text asks for them. */
  bind(values: Values): SqlValue[]
  /** Only a type: what one row of the result looks like. */
  row?: Row
}>

const NAME = Symbol('name of a value')
type Placeholder = Readonly<{ [NAME]: string }>

const isPlaceholder = (parameter: unknown): parameter is Placeholder =>
  typeof parameter === 'object' && parameter !== null && NAME in parameter

/** Stands in a query for the value of that name. */
export type ValueOf<Values extends SqlValues> = <Name extends keyof Values & string>(
  name: Name,
) => RawBuilder<Values[Name]>

/**
 * Builds a query whose values come later.
 *
 * In: a function that writes the query, naming with `value('…')` each value that differs from run to run. Out: the text
 * and the order of its values; values written into the query literally are bound as they are.
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
