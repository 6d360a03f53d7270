/** The statements of the state stores. The stores differ between the databases: one batches writes, one reads at once. */
import type { StateFilter } from '../../domain/ports/state-store-port.ts'
import { nextStateSequence } from './dialect.ts'
import { anyOf, type Fragment, type Sql, sql, where } from './sql.ts'
import type { StateRow } from './tables.ts'

export type AppendValues = Readonly<{ endpointId: string; lookupStatus: number; networkError: number; state: string }>
export type NewestValues = Readonly<{ endpointId: string }>

/**
 * The write of a state for SQLite. The state replaces the older row with the same endpoint, status and network error and
 * becomes the newest of its endpoint. Writes nothing if the endpoint does not exist.
 *
 * The next sequence is read from the table, so writers of one endpoint must run one after the other.
 */
export const APPEND = sql<AppendValues>`
  insert into states (endpoint_id, lookup_status, network_error, sequence, state)
  select endpoints.id, :lookupStatus, :networkError, ${nextStateSequence(sql`endpoints.id`)}, :state
  from endpoints where endpoints.id = :endpointId
  on conflict (endpoint_id, lookup_status, network_error) do update
  set sequence = excluded.sequence, state = excluded.state`

/**
 * Builds the function that gives the read of the newest state that passes a filter; undefined if no state can pass it. Each
 * filter object is compiled and prepared once, and its read is released with it.
 */
export function cacheNewestReads<Read>(
  prepare: (statement: Sql<NewestValues, StateRow>) => Read,
): (filter: StateFilter) => Read | undefined {
  const reads = new WeakMap<StateFilter, Read | 'nothing passes'>()

  function add(filter: StateFilter): Read | 'nothing passes' {
    const statement = compileNewest(filter)
    const read = statement === undefined ? 'nothing passes' : prepare(statement)
    reads.set(filter, read)
    return read
  }

  return (filter) => {
    const read = reads.get(filter) ?? add(filter)
    return read === 'nothing passes' ? undefined : read
  }
}

/** Builds the read of the newest state that passes `filter`; undefined if no state can pass it. */
export function compileNewest({ networkErrors, statuses }: StateFilter): Sql<NewestValues, StateRow> | undefined {
  if (!statuses.any && statuses.ranges.length === 0) return undefined
  const conditions: Fragment[] = [sql`endpoint_id = :endpointId`]
  if (networkErrors !== 'no-filter') conditions.push(sql`network_error = ${networkErrors === 'include' ? 1 : 0}`)
  if (!statuses.any) {
    // Clamped, so that no range matches the row without a status.
    const ranges = statuses.ranges.map(([from, to]) => sql`lookup_status between ${Math.max(from, 0)} and ${to}`)
    conditions.push(anyOf(ranges))
  }
  return sql`select lookup_status, network_error, state from states ${where(conditions)} order by sequence desc limit 1`
}
