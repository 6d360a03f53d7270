/**
 * The store of endpoint state: the values that one message leaves for the next, their rows and statements. The stores differ
 * between the databases: one batches writes, one reads at once.
 */
import type { StatusSet } from '../../core/http.ts'
import type { Awaitable, JsonObject } from '../../core/json.ts'
import type { Tables } from './schema.ts'
import {
  anyCondition,
  type Fragment,
  type NoValues,
  nextStateSequence,
  type Sql,
  type SqlValues,
  sql,
  where,
} from './sql.ts'

/** The state that one message leaves. */
export type StateRecord = Readonly<{
  /**
   * The values of `state.extract`, with `system.timestamps`: the content of the root `state`, beside the results of the
   * lookups. May be computed when it is read; a store reads it once, when it writes it.
   */
  values: JsonObject
  /** The highest HTTP status of the message's lookups. */
  lookupStatus: number | undefined
  /** Only a dry run whose caller leaves it out has none. */
  networkError: boolean | undefined
}>

export type StateFilter = Readonly<{ networkErrors: 'no-filter' | 'include' | 'exclude'; statuses: StatusSet }>

export interface StateStore {
  /** The newest committed state of the endpoint that passes the filter. */
  newest(endpointId: string, filter: StateFilter): Awaitable<StateRecord | undefined>
  /**
   * Resolves when the record is durable. Concurrent calls are committed together.
   * A record replaces the older one of the same endpoint, lookupStatus and networkError: no filter could select that again.
   */
  append(endpointId: string, record: StateRecord): Promise<void>
}

/** A null cannot be part of the primary key. */
const NO_STATUS = -1

export type StateRow = Pick<Tables['states'], 'lookup_status' | 'network_error' | 'state'>

export const stateRow = (record: StateRecord): StateRow => ({
  lookup_status: record.lookupStatus ?? NO_STATUS,
  network_error: record.networkError ? 1 : 0,
  state: JSON.stringify(record.values),
})

export const stateFromRow = (row: StateRow): StateRecord => ({
  values: JSON.parse(row.state),
  lookupStatus: row.lookup_status === NO_STATUS ? undefined : row.lookup_status,
  networkError: row.network_error === 1,
})

/** A row to write, with its endpoint. */
export type StateItem = Readonly<{ endpointId: string }> & StateRow

/** Of several rows with one key only the last would ever be read, and a statement can write only one of them. */
export function newestByKey(items: readonly StateItem[]): readonly StateItem[] {
  const last = new Map<string, StateItem>()
  for (const item of items) {
    const key = `${item.endpointId} ${item.lookup_status} ${item.network_error}`
    last.delete(key)
    last.set(key, item)
  }
  return [...last.values()]
}

/**
 * The write of a state in SQLite. It replaces the older row with the same endpoint, status and network error and
 * becomes the newest of its endpoint. Writes nothing if the endpoint does not exist.
 *
 * The next sequence is read from the table, so writers of one endpoint must run one after the other.
 */
export const APPEND_STATE = sql<{ endpointId: string; lookupStatus: number; networkError: number; state: string }>`
  insert into states (endpoint_id, lookup_status, network_error, sequence, state)
  select endpoints.id, :lookupStatus, :networkError, ${nextStateSequence(sql`endpoints.id`)}, :state
  from endpoints where endpoints.id = :endpointId
  on conflict (endpoint_id, lookup_status, network_error) do update
  set sequence = excluded.sequence, state = excluded.state`

/**
 * Builds the write of many states in PostgreSQL. Each row replaces the older one of its endpoint, status and network error.
 * The sequence is drawn in the order of the rows; if another instance drew a higher one for the same row meanwhile, that row
 * is the newer state and stays.
 *
 * The endpoints are locked before any state is written, and both in one order, so that two writers never deadlock. Rows
 * of a deleted endpoint are left out.
 *
 * In: a query of rows (endpoint_id, lookup_status, network_error, state), no two with the same key.
 */
export const appendStates = <Values extends SqlValues = NoValues>(rows: Fragment): Sql<Values> =>
  sql<Values>`with item as materialized (${rows}), present as materialized (
    select id from endpoints where id = any(array(select endpoint_id from item)) order by id for key share
  ), numbered as materialized (
    select endpoint_id, lookup_status, network_error, state, nextval('states_sequence') as sequence from item
  )
  insert into states (endpoint_id, lookup_status, network_error, sequence, state)
  select endpoint_id, lookup_status, network_error, sequence, state
  from numbered join present on present.id = numbered.endpoint_id
  order by endpoint_id, lookup_status, network_error
  on conflict (endpoint_id, lookup_status, network_error) do update
  set sequence = excluded.sequence, state = excluded.state where states.sequence < excluded.sequence`

type NewestValues = Readonly<{ endpointId: string }>

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
    conditions.push(anyCondition(ranges))
  }
  return sql`select lookup_status, network_error, state from states ${where(conditions)} order by sequence desc limit 1`
}
