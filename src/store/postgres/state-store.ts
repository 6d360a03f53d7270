/** The state store of PostgreSQL: every instance reads the newest state that any instance has committed. */
import type { StateStore } from '../../domain/ports/state-store-port.ts'
import { StoreUnavailable } from '../../domain/ports/store-port.ts'
import { cacheNewestReads } from '../sql/state-statements.ts'
import { storeClosed } from '../sql/store-faults.ts'
import { type StateRow, stateOf, stateRow } from '../sql/tables.ts'
import { createBatches } from './batches.ts'
import { CHUNK_LIMIT, ROW_SIZE } from './chunks.ts'
import { type Connections, prepare, prepareText } from './connection-pool.ts'

export type ClosableStateStore = StateStore & Readonly<{ close(): Promise<void> }>

/** A row to write, with its endpoint. */
type StateItem = Readonly<{ endpointId: string }> & StateRow

/**
 * Each row replaces the older one of its endpoint, status and network error. The sequence is drawn in the order of the
 * array; if another instance drew a higher one for the same row meanwhile, that row is the newer state and stays.
 *
 * The endpoints are locked before any state is written, and both in one order, so that two writers never deadlock. Rows
 * of a deleted endpoint are left out.
 */
const APPEND = prepareText<readonly StateItem[], never>(
  `with present as materialized (
    select id from endpoints where id = any($1::text[]) order by id for key share
  ), numbered as materialized (
    select endpoint_id, lookup_status, network_error, state, nextval('states_sequence') as sequence
    from unnest($1::text[], $2::integer[], $3::integer[], $4::text[]) as item (endpoint_id, lookup_status, network_error, state)
  )
  insert into states (endpoint_id, lookup_status, network_error, sequence, state)
  select endpoint_id, lookup_status, network_error, sequence, state
  from numbered join present on present.id = numbered.endpoint_id
  order by endpoint_id, lookup_status, network_error
  on conflict (endpoint_id, lookup_status, network_error) do update
  set sequence = excluded.sequence, state = excluded.state where states.sequence < excluded.sequence`,
  (items) => [
    items.map((item) => item.endpointId),
    items.map((item) => item.lookup_status),
    items.map((item) => item.network_error),
    items.map((item) => item.state),
  ],
)

/** Of several rows with one key only the last would ever be read, and a statement can write only one of them. */
function lastOfEach(items: readonly StateItem[]): readonly StateItem[] {
  const last = new Map<string, StateItem>()
  for (const item of items) {
    const key = `${item.endpointId} ${item.lookup_status} ${item.network_error}`
    last.delete(key)
    last.set(key, item)
  }
  return [...last.values()]
}

/** Builds the store over a database whose tables are up to date. Each filter object is compiled once: keep it. */
export function compileStateStore(connections: Connections): ClosableStateStore {
  const readOf = cacheNewestReads(prepare)
  let closed = false
  const batches = createBatches<StateItem>({
    write: async (items) => {
      await connections.run(APPEND, lastOfEach(items))
    },
    mayDivide: (thrown) => !(thrown instanceof StoreUnavailable),
    sizeOf: ({ state }) => state.length + ROW_SIZE,
    limit: CHUNK_LIMIT,
  })

  return {
    newest: async (endpointId, filter) => {
      const read = readOf(filter)
      if (read === undefined) return undefined
      const [row] = await connections.run(read, { endpointId })
      return row && stateOf(row)
    },
    append: async (endpointId, record) => {
      if (closed) throw storeClosed()
      await batches.add({ endpointId, ...stateRow(record) })
    },
    close: async () => {
      closed = true
      await batches.idle()
    },
  }
}
