/** The statements of the state stores. The stores differ between the databases: one batches writes, one reads at once. */
import { type Kysely, sql } from 'kysely'
import type { StateFilter } from '../../../domain/ports/state-store-port.ts'
import { compileStatement, type Statement } from '../statement.ts'
import type { StateRow, Tables } from '../tables.ts'

export type AppendValues = Readonly<{ endpointId: string; lookupStatus: number; networkError: number; state: string }>
export type NewestValues = Readonly<{ endpointId: string }>

/**
 * Builds the write of a state for SQLite. The state replaces the older row with the same endpoint, status and network
 * error and becomes the newest of its endpoint. Writes nothing if the endpoint does not exist.
 *
 * The next sequence is read from the table, so writers of one endpoint must run one after the other.
 */
export function compileAppend(db: Kysely<Tables>): Statement<AppendValues> {
  return compileStatement((value) =>
    db
      .insertInto('states')
      .columns(['endpoint_id', 'lookup_status', 'network_error', 'sequence', 'state'])
      .expression((from) =>
        from
          .selectFrom('endpoints')
          .select([
            'endpoints.id',
            value('lookupStatus').as('lookup_status'),
            value('networkError').as('network_error'),
            sql<number>`coalesce((select max(sequence) from states where endpoint_id = endpoints.id), 0) + 1`.as(
              'sequence',
            ),
            value('state').as('state'),
          ])
          .where('endpoints.id', '=', value('endpointId')),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['endpoint_id', 'lookup_status', 'network_error'])
          .doUpdateSet((row) => ({ sequence: row.ref('excluded.sequence'), state: row.ref('excluded.state') })),
      ),
  )
}

/**
 * Builds the function that gives the read of the newest state that passes a filter; undefined if no state can pass it. Each
 * filter object is compiled and prepared once, and its read is released with it.
 */
export function cacheNewestReads<Read>(
  db: Kysely<Tables>,
  prepare: (statement: Statement<NewestValues, StateRow>) => Read,
): (filter: StateFilter) => Read | undefined {
  const reads = new WeakMap<StateFilter, Read | 'nothing passes'>()

  function add(filter: StateFilter): Read | 'nothing passes' {
    const statement = compileNewest(db, filter)
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
export function compileNewest(db: Kysely<Tables>, filter: StateFilter): Statement<NewestValues, StateRow> | undefined {
  const { networkErrors, statuses } = filter
  if (!statuses.any && statuses.ranges.length === 0) return undefined
  return compileStatement((value) => {
    let query = db
      .selectFrom('states')
      .select(['lookup_status', 'network_error', 'state'])
      .where('endpoint_id', '=', value('endpointId'))
      .orderBy('sequence', 'desc')
      .limit(sql.lit(1))
    if (networkErrors !== 'no-filter') query = query.where('network_error', '=', networkErrors === 'include' ? 1 : 0)
    if (!statuses.any)
      query = query.where((where) =>
        // Clamped, so that no range matches the row without a status.
        where.or(statuses.ranges.map(([from, to]) => where.between('lookup_status', Math.max(from, 0), to))),
      )
    return query
  })
}
