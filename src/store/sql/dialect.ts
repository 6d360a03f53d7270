/** The SQL in which SQLite and PostgreSQL differ, side by side. */
import { differing, type Fragment, sql } from './sql.ts'

/** The clock of the database in whole milliseconds since the epoch: the clock of an instance may be wrong. */
export const NOW = differing(
  sql`cast(unixepoch('subsec') * 1000 as integer)`,
  sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
)

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
