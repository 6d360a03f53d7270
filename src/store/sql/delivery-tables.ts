/** The tables of deliveries, in both databases. */
import { BYTES, COUNTER, differing, STRICT, sql, TEXT } from './sql.ts'

export type DeliveryTables = {
  /** One row per delivery: all but what is sent. */
  deliveries: {
    /** The order within a lane. */
    sequence: number
    id: string
    lane: string
    /** What the totals count together: endpoint, request and target. */
    kind: string
    /** Of `keyText`, as `request_id` and `order_key`; the names as they are, are in `detail`. */
    target: string
    state: string
    endpoint_id: string
    message_id: string
    request_id: string
    order_key: string | null
    /** JSON of the names and the item. */
    detail: string
    /** In milliseconds since the epoch. */
    accepted_at: number
    /** 0 while it is pending. */
    ended_at: number
    attempts: number
    /** The latest attempts, as JSON. */
    log: string
    /** Of its row of `delivery_contents`. */
    bytes: number
  }
  /** Apart, so that a change of state does not write the body again. Deleted when the delivery has arrived. */
  delivery_contents: {
    id: string
    /** The `DeliveryRequest`, as JSON. */
    request: string
    body: Uint8Array | null
  }
  /** What is sent one after the other: the pending deliveries of one key, or a single one. Exists while it has any. */
  delivery_lanes: {
    lane: string
    target: string
    /** In milliseconds since the epoch: when it may be claimed. The end of the lease while it is claimed. */
    due: number
    /** Who has claimed it; empty if nobody has. */
    owner: string
    /** How many deliveries are pending. */
    depth: number
    /** When the last attempt ended; 0 before the first. */
    tried: number
    /** The sequence of the delivery that was claimed last. */
    claimed: number
  }
  /** How many deliveries there are, in several rows on PostgreSQL, so that writers seldom wait for each other. */
  delivery_totals: {
    kind: string
    state: string
    slot: number
    target: string
    /** JSON of the names of endpoint, request and target. */
    names: string
    count: number
    bytes: number
  }
}

/** Of PostgreSQL. */
export const DELIVERIES_SEQUENCE = sql`create sequence deliveries_sequence`

export const DELIVERIES = [
  sql`create table deliveries (
    sequence ${differing(sql`integer not null primary key`, sql`bigint not null default nextval('deliveries_sequence')`)},
    id ${TEXT} not null,
    lane ${TEXT} not null,
    kind ${TEXT} not null,
    target ${TEXT} not null,
    state ${TEXT} not null,
    endpoint_id ${TEXT} not null,
    message_id ${TEXT} not null,
    request_id ${TEXT} not null,
    order_key ${TEXT},
    detail text not null,
    accepted_at ${COUNTER} not null,
    ended_at ${COUNTER} not null,
    attempts integer not null,
    log text not null,
    bytes integer not null
  ) ${STRICT}`,
  sql`create unique index deliveries_id on deliveries (id)`,
  sql`create index deliveries_pending on deliveries (lane, sequence) where state = 'pending'`,
  sql`create index deliveries_of_state on deliveries (state, id)`,
  sql`create index deliveries_of_message on deliveries (message_id)`,
  sql`create index deliveries_of_endpoint on deliveries (endpoint_id, id)`,
  sql`create index deliveries_of_key on deliveries (order_key, id) where order_key is not null`,
  sql`create index deliveries_ended on deliveries (ended_at) where state in ('delivered', 'cancelled')`,

  sql`create table delivery_contents (
    id ${TEXT} not null primary key,
    request text not null,
    body ${BYTES}
  ) ${STRICT}`,

  sql`create table delivery_lanes (
    lane ${TEXT} not null primary key,
    target ${TEXT} not null,
    due ${COUNTER} not null,
    owner text not null,
    depth integer not null,
    tried ${COUNTER} not null,
    claimed ${COUNTER} not null
  ) ${STRICT}`,
  sql`create index delivery_lanes_due on delivery_lanes (target, due)`,

  sql`create table delivery_totals (
    kind ${TEXT} not null,
    state ${TEXT} not null,
    slot integer not null,
    target ${TEXT} not null,
    names text not null,
    count ${COUNTER} not null,
    bytes ${COUNTER} not null,
    constraint delivery_totals_key primary key (kind, state, slot)
  ) ${STRICT}`,
]
