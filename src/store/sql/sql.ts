/**
 * SQL as text, with the values beside it: a value never becomes part of a text. One text serves both databases; what
 * differs between them is at the end, and each database renders its own.
 */

export type SqlValue = string | number | Uint8Array | null
export type SqlValues = Readonly<Record<string, SqlValue>>
export type NoValues = Readonly<Record<never, never>>

type DialectName = 'sqlite' | 'postgres'

type Parameter = Readonly<{ name: string }> | Readonly<{ value: SqlValue }>
type Part = string | Parameter | Readonly<Record<DialectName, Fragment>>

/** A statement, or a part of one. `Values`: the values that each run gives, by name; `Row`: a row of the result. */
export type Sql<Values extends SqlValues = NoValues, Row = unknown> = Readonly<{
  parts: readonly Part[]
  /** Only types. */
  types?: (values: Values) => Row
}>

/** A part of any statement. */
export type Fragment = Sql<never>

/**
 * The SQL of a template. `:name` is a value that each run gives. Between `${}`, SQL is inserted, and any other value is
 * bound.
 */
export const sql = <Values extends SqlValues = NoValues, Row = unknown>(
  texts: readonly string[],
  ...inserted: readonly (SqlValue | Fragment)[]
): Sql<Values, Row> => ({
  parts: texts.flatMap((text, index) => [...parse(text), ...inserted.slice(index, index + 1).flatMap(insert)]),
})

/** `:name` is a value, `::name` a cast. */
const parse = (text: string): readonly Part[] =>
  text.split(/(?<!:):([a-z]\w*)/i).map((part, index) => (index % 2 === 0 ? part : { name: part }))

const insert = (value: SqlValue | Fragment): readonly Part[] =>
  typeof value === 'object' && value !== null && 'parts' in value ? value.parts : [{ value }]

/** A text of the program, such as the name of a column. */
export const raw = (text: string): Fragment => ({ parts: [text] })

/** A value that each run gives, as `:name` in a template. */
export const named = (name: string): Fragment => ({ parts: [{ name }] })

export const join = (items: readonly (SqlValue | Fragment)[], separator = ', '): Fragment => ({
  parts: items.flatMap((item, index) => (index === 0 ? insert(item) : [separator, ...insert(item)])),
})

/** The condition that a column has one of the values. */
export const among = (column: string, values: readonly SqlValue[]): Fragment =>
  values.length === 0 ? sql`1 = 0` : sql`${raw(column)} in (${join(values)})`

/** The condition that one of the conditions holds. */
export const anyCondition = (conditions: readonly Fragment[]): Fragment =>
  conditions.length === 0 ? sql`1 = 0` : sql`(${join(conditions, ' or ')})`

/** The clause that demands all conditions. */
export const where = (conditions: readonly Fragment[]): Fragment =>
  conditions.length === 0 ? sql`` : sql`where ${join(conditions, ' and ')}`

/** SQL in which the databases differ. */
export const differing = (sqlite: Fragment, postgres: Fragment): Fragment => ({ parts: [{ sqlite, postgres }] })

/** A statement as a database runs it. */
type Rendered = Readonly<{
  text: string
  /** The values in the order of their placeholders. */
  bind(values: SqlValues): SqlValue[]
}>

export function render(statement: Fragment, dialect: DialectName): Rendered {
  const parameters: Parameter[] = []
  const writePart = (part: Part): string => {
    if (typeof part === 'string') return part
    if ('sqlite' in part) return part[dialect].parts.map(writePart).join('')
    const number = parameters.push(part)
    return dialect === 'sqlite' ? '?' : `$${number}`
  }
  const text = statement.parts.map(writePart).join('')
  return {
    text,
    bind: (values) => parameters.map((part) => ('name' in part ? (values[part.name] as SqlValue) : part.value)),
  }
}

/** The clock of the database in whole milliseconds since the epoch: the clock of an instance may be wrong. */
export const NOW = differing(
  sql`cast(unixepoch('subsec') * 1000 as integer)`,
  sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
)

/** Ids, and texts that searches sort by: in the order of their bytes, whatever the collation of the database. */
export const TEXT = differing(sql`text`, sql`text collate "C"`)
/** A number that grows without limit: the service counts up by millions of states a day. */
export const COUNTER = differing(sql`integer`, sql`bigint`)
/** SQLite checks the types of columns in strict tables only. */
export const STRICT = differing(sql`strict`, sql``)

/** The column type of bytes. */
export const BYTES = differing(sql`blob`, sql`bytea`)

/** A text as bytes in UTF-8 if the driver reads these without a copy as a text, else the text. */
export const textBytes = (text: Fragment): Fragment => differing(sql`cast(${text} as blob)`, text)

/** The elements of a JSON array of arrays as rows: `from … as element`, then `element.value ->> 0`. */
export const elements = (json: Fragment): Fragment =>
  differing(sql`json_each(${json})`, sql`jsonb_array_elements(cast(${json} as jsonb))`)

/** The end of a query in a transaction: locks its rows, in their order, if other transactions can run beside this one. */
export const LOCK_ROWS = differing(sql``, sql`for update`)

/** The sequence that makes a row of `states` the newest of its endpoint. */
export const nextStateSequence = (endpointId: Fragment): Fragment =>
  differing(
    sql`(select coalesce(max(sequence), 0) + 1 from states where endpoint_id = ${endpointId})`,
    sql`nextval('states_sequence')`,
  )
