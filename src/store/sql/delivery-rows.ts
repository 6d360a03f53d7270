/** Rows of deliveries, and the statements that several calls of their store share. */
import { createHash } from 'node:crypto'
import type { Delivery, DeliveryState, NewDelivery } from '../../core/deliveries/delivery.ts'
import { rowsStatement, type TransactionWork } from './database.ts'
import { indexable, keyText, type Tables } from './schema.ts'
import { differing, elements, type Fragment, NOW, raw, sql } from './sql.ts'

type Numbers<Row, Name extends keyof Row> = Omit<Row, Name> & Readonly<Record<Name, number | string>>

export type DeliveryRow = Numbers<Tables['deliveries'], 'sequence' | 'accepted_at' | 'ended_at'> &
  Readonly<{ due: number | string | null }>

/** Values as `elements` reads them; not of texts of messages, which may hold what JSON of PostgreSQL rejects. */
export const listOf = (values: readonly string[]): string => JSON.stringify(values.map((value) => [value]))

/** The values of `listOf`. */
export const valuesOf = (list: Fragment): Fragment => sql`select element.value ->> 0 from ${elements(list)} as element`

/** A pending delivery is the first of its lane. */
const IS_FIRST = sql`deliveries.state = 'pending' and deliveries.sequence = (
  select min(sequence) from deliveries as earlier where earlier.lane = deliveries.lane and earlier.state = 'pending')`

/** When the next attempt is due; null while one is made. */
const DUE = sql`case when ${IS_FIRST} then (
  select due from delivery_lanes where delivery_lanes.lane = deliveries.lane and (owner = '' or due <= ${NOW})) end`

export const SELECT_DELIVERY = sql`deliveries.sequence, deliveries.id, deliveries.lane, kind, deliveries.target, state,
  endpoint_id, message_id, request_id, order_key, detail, accepted_at, ended_at, attempts, log, bytes, ${DUE} as due`

type Names = Pick<Delivery, 'endpoint' | 'requestId' | 'target' | 'item' | 'orderKey'>

export const isoTime = (ms: number | string): string => new Date(Number(ms)).toISOString()

export const deliveryFromRow = (row: DeliveryRow): Delivery => ({
  id: row.id,
  messageId: row.message_id,
  endpointId: row.endpoint_id,
  ...(JSON.parse(row.detail) as Names),
  state: row.state as DeliveryState,
  acceptedAt: isoTime(row.accepted_at),
  ...(row.state === 'pending' ? {} : { endedAt: isoTime(row.ended_at) }),
  ...(row.due === null ? {} : { dueAt: isoTime(row.due) }),
  attempts: row.attempts,
  lastAttempts: JSON.parse(row.log) as Delivery['lastAttempts'],
  bytes: row.bytes,
})

export const detailOf = ({ endpoint, requestId, target, item, orderKey }: Names): string =>
  JSON.stringify({ endpoint, requestId, target, item, orderKey })

type Placed = Pick<NewDelivery, 'id' | 'endpointId' | 'requestId' | 'target' | 'orderKey'>

/** In ASCII, so that every process sorts lanes alike. */
export const laneOf = ({ id, endpointId, requestId, orderKey }: Placed): string =>
  orderKey === undefined
    ? id
    : createHash('sha256')
        .update(JSON.stringify([endpointId, requestId, orderKey]))
        .digest('base64url')

export const kindOf = ({ endpointId, requestId, target }: Placed): string =>
  indexable(JSON.stringify([endpointId, requestId, target]))

/** Of a key that may be absent. */
export const orderKeyText = (orderKey: string | undefined): string | null =>
  orderKey === undefined ? null : keyText(orderKey)

export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** What is kept of a delivery that has arrived is not counted. */
export const countedBytes = (state: string, bytes: number): number => (state === 'delivered' ? 0 : bytes)

/**
 * Adds to lanes, which are sorted and differ; a new one is due at once. Locks them. All transactions lock lanes first, then
 * deliveries, then totals, then states.
 */
export const addLanes = rowsStatement(
  ['lane', 'target', 'depth'],
  (rows) => sql`
    insert into delivery_lanes (lane, target, due, owner, depth, tried, claimed)
    select column1, column2, ${NOW}, '', cast(column3 as integer), 0, 0 from (${rows}) as item where true
    on conflict (lane) do update set depth = delivery_lanes.depth + excluded.depth`,
)

const SLOT = differing(sql`0`, sql`pg_backend_pid() % ${raw('16')}`)

const addTotals = rowsStatement(
  ['kind', 'state', 'target', 'names', 'count', 'bytes'],
  (rows) => sql`
    insert into delivery_totals (kind, state, slot, target, names, count, bytes)
    select column1, column2, ${SLOT}, column3, column4, cast(column5 as bigint), cast(column6 as bigint)
    from (${rows}) as item where true
    on conflict (kind, state, slot) do update set names = excluded.names,
      count = delivery_totals.count + excluded.count, bytes = delivery_totals.bytes + excluded.bytes`,
)

type Counted = Pick<DeliveryRow, 'kind' | 'endpoint_id' | 'target' | 'detail'>
type TotalsRow = Readonly<{ kind: string; state: string; target: string; names: string }> & {
  count: number
  bytes: number
}

/** Collects the changes of the totals that one transaction makes. */
export function createTotals() {
  const rows = new Map<string, TotalsRow>()
  return {
    /** `count`: 1 or -1. */
    add({ kind, target, endpoint_id: endpointId, detail }: Counted, state: string, bytes: number, count: number): void {
      const key = `${state} ${kind}`
      const known = rows.get(key)
      const names = known?.names ?? detailNames(endpointId, detail)
      const row = known ?? { kind, state, target, names, count: 0, bytes: 0 }
      row.count += count
      row.bytes += count * countedBytes(state, bytes)
      rows.set(key, row)
    },
    *write(): TransactionWork<void> {
      const changed = [...rows].filter(([, { count, bytes }]) => count !== 0 || bytes !== 0)
      yield* addTotals(changed.toSorted(([a], [b]) => compareTexts(a, b)).map(([, row]) => row))
    },
  }
}

/** Without what differs between deliveries of a kind. */
function detailNames(endpointId: string, detail: string): string {
  const { endpoint, requestId, target }: Names = JSON.parse(detail)
  return JSON.stringify({ endpointId, endpoint, requestId, target })
}

export const DELETE_CONTENTS = sql<Readonly<{ ids: string }>>`
  delete from delivery_contents where id in (${valuesOf(sql`:ids`)})`
