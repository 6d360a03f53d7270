/**
 * The store of deliveries, of both databases. Deliveries with one order key are a lane, one without a key is a lane of its
 * own. A claim takes lanes rather than deliveries, so that of each key one delivery at a time is sent: the oldest pending
 * one. A lease is a due time in the future: one that has expired is due again.
 *
 * Each transaction locks its lanes first, in their order, then its totals, then states and kept answers: so none waits for another in a circle, and
 * the depth of a lane is always the number of its pending deliveries. The clock is that of the database.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type {
  AttemptEnd,
  ClaimedDelivery,
  Delivery,
  DeliveryLease,
  DeliveryState,
} from '../../core/deliveries/delivery.ts'
import { type Database, readClock, step } from './database.ts'
import { compileAccept } from './delivery-accept.ts'
import {
  changeAll,
  DELETE_CONTENTS,
  type Decision,
  decideEnd,
  decideRetry,
  type RetryChange,
} from './delivery-changes.ts'
import {
  AMONG_IDS,
  type ContentRow,
  contentOf,
  detailOf,
  fromRow,
  given,
  type Ids,
  idsOf,
  isoTime,
  type Row,
  type ShownRow,
  Totals,
  textAt,
} from './delivery-rows.ts'
import { keyText, type Tables } from './schema.ts'
import { differing, type Fragment, NOW, type NoValues, raw, type Sql, sql, where } from './sql.ts'

export type DeliveryFilter = Readonly<{
  state?: DeliveryState
  endpointId?: string
  requestId?: string
  messageId?: string
  target?: string
  orderKey?: string
  /** Accepted at or after, and before; milliseconds since the epoch. */
  fromMs?: number
  toMs?: number
}>

/** How many deliveries there are of one kind. */
export type DeliveryCount = Readonly<{
  endpointId: string
  endpoint: string
  requestId: string
  target: string
  state: DeliveryState
  count: number
  /** Of what is kept of their requests and bodies. */
  bytes: number
}>

/** `oldestAt`: ISO 8601, when the oldest pending one was accepted. */
export type DeliveryTotals = Readonly<{ counts: readonly DeliveryCount[]; oldestAt?: string }>

type CountRow = Readonly<{ [Column in Exclude<keyof Tables['delivery_totals'], 'slot' | 'count' | 'bytes'>]: string }> &
  Readonly<{ count: number | string; bytes: number | string }>

const TOTALS = sql<NoValues, CountRow>`
  select endpoint_id, request_id, target, state, max(endpoint) as endpoint, sum(count) as count, sum(bytes) as bytes
  from delivery_totals group by endpoint_id, request_id, target, state having sum(count) > 0
  order by endpoint_id, request_id, target, state`
const OLDEST = sql<NoValues, { accepted: number | string }>`
  select accepted from deliveries where state = 'pending' order by sequence limit 1`

/** One look into the index for each target, whatever the number of lanes. */
const DUE_TARGETS = sql<Readonly<{ limit: number }>, { target: string; due_in: number | string }>`
  with recursive targets (target) as (
    select min(target) from delivery_lanes
    union all
    select (select min(delivery_lanes.target) from delivery_lanes where delivery_lanes.target > targets.target)
    from targets where targets.target is not null
  )
  select target, (select min(due) from delivery_lanes where delivery_lanes.target = targets.target) - ${NOW} as due_in
  from targets where target is not null order by due_in limit :limit`

const SKIP_LOCKED = differing(sql``, sql`for update skip locked`)
/** PostgreSQL would run a subquery of `in` with a limit more than once. */
const oneOf = (query: Fragment): Fragment => differing(sql`in (${query})`, sql`= any(array(${query}))`)
type ClaimValues = Readonly<{ lease: string; target: string; limit: number; leaseMs: number; triedBefore: number }>
const claimOf = (condition: Fragment) => sql<ClaimValues, { lane: string }>`
  update delivery_lanes set lease = :lease, due = ${NOW} + cast(:leaseMs as integer), tried = ${NOW}
  where lane ${oneOf(sql`select lane from delivery_lanes where target = :target and ${condition}
    order by due limit :limit ${SKIP_LOCKED}`)} returning lane`
const CLAIM = claimOf(sql`due <= ${NOW} and cast(:triedBefore as bigint) = 0`)
const CLAIM_WAITING = claimOf(sql`lease = '' and tried < cast(:triedBefore as bigint)`)
const SELECT_SHOWN = sql`select deliveries.*, case when delivery_lanes.lease = '' and deliveries.sequence =
  (select min(earlier.sequence) from deliveries earlier where earlier.lane = deliveries.lane and earlier.state = 'pending')
  then delivery_lanes.due end as due`
const WITH_LANES = sql`left join delivery_lanes
  on delivery_lanes.lane = deliveries.lane and deliveries.state = 'pending'`
/** A statement of its own: its snapshot is taken after the lanes are locked. */
const HEADS = sql<Ids, ShownRow & Pick<ContentRow, 'request' | 'body'>>`
  select deliveries.*, null as due, delivery_contents.request, delivery_contents.body
  from deliveries join delivery_contents on delivery_contents.id = deliveries.id
  where deliveries.sequence in (select (select min(sequence) from deliveries
    where deliveries.lane = element.value ->> 0 and state = 'pending') from ${given('ids')})
  order by deliveries.sequence`
const HELD = sql<Readonly<{ leases: string }>, { id: string; lane: string }>`
  select deliveries.id, delivery_lanes.lane from ${given('leases')}
  join deliveries on deliveries.id = ${textAt(0)}
  join delivery_lanes on delivery_lanes.lane = deliveries.lane and delivery_lanes.lease = ${textAt(1)}
  order by delivery_lanes.lane ${differing(sql``, sql`for update of delivery_lanes`)}`
const RENEW = sql<Ids & Readonly<{ leaseMs: number }>>`
  update delivery_lanes set due = ${NOW} + cast(:leaseMs as integer) where lane in ${AMONG_IDS}`

const CONTENT = sql<Readonly<{ id: string }>, Pick<ContentRow, 'request' | 'body'>>`
  select request, body from delivery_contents where id = :id`
const GET = sql<
  Readonly<{ id: string }>,
  ShownRow
>`${SELECT_SHOWN} from deliveries ${WITH_LANES} where deliveries.id = :id`
/** SQLite would read all that are delivered, by their state. */
const EXPIRED = sql<Readonly<{ ageMs: number; limit: number }>, Row>`
  select * from deliveries ${differing(sql`indexed by deliveries_ended`, sql``)}
    where state in ('delivered', 'cancelled') and ended > 0 and ended < ${NOW} - cast(:ageMs as bigint)
    order by ended limit :limit ${SKIP_LOCKED}`
const DELETE = sql<Ids>`delete from deliveries where id in ${AMONG_IDS}`

/** How many rows of totals one kind has, where other processes write beside this one. */
const SLOTS = 16

export type DeliveryStore = ReturnType<typeof compileDeliveryStore>

/** Builds the store over a database whose tables are up to date. Every call rejects with StoreUnavailable if it does not answer. */
export function compileDeliveryStore(database: Database) {
  const slot = database.isEmbedded ? 0 : Math.floor(Math.random() * SLOTS)
  let claims = 0
  const changed = async (
    ids: readonly string[],
    decide: (row: Row) => Decision | undefined,
    body?: RetryChange['body'],
  ): Promise<readonly string[]> =>
    ids.length === 0 ? [] : database.transactionBeside(() => changeAll(ids, decide, slot, body))

  return {
    accept: compileAccept(database, slot),
    /** The targets that have something due, longest due first; and milliseconds until something is due that is not yet. */
    dueTargets: async (
      limit: number,
    ): Promise<Readonly<{ targets: readonly string[]; nextInMs: number | undefined }>> => {
      const rows = (await database.read(DUE_TARGETS, { limit: limit + 1 })).map((row) => ({
        target: row.target,
        dueInMs: Number(row.due_in),
      }))
      return {
        targets: rows
          .filter(({ dueInMs }) => dueInMs <= 0)
          .map(({ target }) => target)
          .slice(0, limit),
        nextInMs: rows.find(({ dueInMs }) => dueInMs > 0)?.dueInMs,
      }
    },
    /**
     * Takes up to `limit` deliveries of a target that are due, the first of each key, for `leaseMs`. `triedBefore`: takes those
     * that wait for their next attempt instead, if they were tried before that time of the database (milliseconds since the
     * epoch).
     */
    claim: async (
      owner: string,
      target: string,
      limit: number,
      leaseMs: number,
      triedBefore = 0,
    ): Promise<readonly ClaimedDelivery[]> => {
      claims += 1
      const lease = `${owner} ${claims}`
      const values = { lease, target, limit, leaseMs, triedBefore }
      return database.transactionBeside(function* () {
        const lanes = yield* step(triedBefore === 0 ? CLAIM : CLAIM_WAITING, values)
        if (lanes.length === 0) return []
        const rows = yield* step(HEADS, { ids: idsOf(lanes.map(({ lane }) => lane)) })
        return rows.map((row) => ({ delivery: fromRow(row), lease, ...contentOf(row) }))
      })
    },
    /** The clock of the database, in milliseconds since the epoch. */
    now: () => readClock(database),
    /** Resolves to the ids of those whose lease is still held. */
    renew: async (leases: readonly DeliveryLease[], leaseMs: number): Promise<readonly string[]> => {
      if (leases.length === 0) return []
      return database.transactionBeside(function* () {
        const held = yield* step(HELD, { leases: JSON.stringify(leases.map(({ id, lease }) => [id, lease])) })
        if (held.length > 0) yield* step(RENEW, { ids: idsOf(held.map(({ lane }) => lane)), leaseMs })
        return held.map(({ id }) => id)
      })
    },
    /**
     * Stores how attempts ended, of those that have not ended before, and ends the leases. A lease that another claim has taken
     * over goes on. Resolves to the ids of those that it changed.
     */
    end: (ends: readonly AttemptEnd[]) => {
      const byId = new Map(ends.map((end) => [end.id, end]))
      return changed([...byId.keys()], (row) => decideEnd(row, byId.get(row.id) as AttemptEnd))
    },
    get: async (id: string): Promise<Delivery | undefined> => (await database.read(GET, { id })).map(fromRow)[0],
    /** What is sent; undefined if it is not kept any more. */
    content: async (id: string) => (await database.read(CONTENT, { id })).map(contentOf)[0],
    /** Newest first. `before`: the id of the last one of the page before. */
    list: (filter: DeliveryFilter, limit: number, before?: string): Promise<readonly Delivery[]> =>
      listByParts(database, filter, limit, before),
    totals: async (): Promise<DeliveryTotals> => {
      const counts = (await database.read(TOTALS, {})).map(countFromRow)
      const [oldest] = await database.read(OLDEST, {})
      return { counts, ...(oldest && { oldestAt: isoTime(oldest.accepted) }) }
    },
    /**
     * Sends pending ones at once, and those that ended undeliverable or cancelled again, in the order in which they were
     * accepted. Resolves to the ids of those that it changed.
     */
    retry: (ids: readonly string[], { body }: RetryChange = {}) => changed(ids, (row) => decideRetry(row, body), body),
    /** Ends pending and undeliverable ones. One that is being sent may arrive nevertheless. Resolves to the ids that it changed. */
    cancel: (ids: readonly string[]) =>
      changed(ids, ({ state }) =>
        state === 'pending' || state === 'undeliverable'
          ? { change: { state: 'cancelled' }, ...(state === 'pending' && { release: { lease: '', dueInMs: 0 } }) }
          : undefined,
      ),
    /** Deletes up to `limit` delivered and cancelled ones that ended more than `ageMs` ago. Resolves to how many. */
    purge: (ageMs: number, limit: number): Promise<number> =>
      database.transactionBeside(function* () {
        const rows = yield* step(EXPIRED, { ageMs, limit })
        if (rows.length === 0) return 0
        const ids = idsOf(rows.map(({ id }) => id))
        yield* step(DELETE_CONTENTS, { ids })
        yield* step(DELETE, { ids })
        const totals = new Totals(slot)
        for (const row of rows) totals.add(row, detailOf(row).endpoint, row.state, -1, -Number(row.bytes))
        yield* totals.write()
        return rows.length
      }),
  }
}

const countFromRow = (row: CountRow): DeliveryCount => ({
  endpointId: row.endpoint_id,
  endpoint: row.endpoint,
  requestId: row.request_id,
  target: row.target,
  state: row.state as DeliveryState,
  count: Number(row.count),
  bytes: Number(row.bytes),
})

/** What a statement of a list reads at most: some milliseconds where it holds up messages, else far less than its time limit. */
const MAX_PART = { embedded: 1_000, server: 20_000 }

/** Looks for the deliveries part by part, newest first. On SQLite that takes half of the time, so that messages go on. */
async function listByParts(
  database: Database,
  filter: DeliveryFilter,
  limit: number,
  before: string | undefined,
): Promise<readonly Delivery[]> {
  const maxPart = MAX_PART[database.isEmbedded ? 'embedded' : 'server']
  const found: Delivery[] = []
  let end = before === undefined ? undefined : sql`(select sequence from deliveries where id = ${before})`
  for (let size = limit; ; size = Math.min(size * 4, maxPart)) {
    const startedAt = performance.now()
    const conditions = [indexedCondition(filter), end && sql`sequence < ${end}`].filter((one) => one !== undefined)
    const part = sql`select sequence from deliveries ${where(conditions)} order by sequence desc limit ${size}`
    const [read] = await database.readOnce<{ lowest: number | string | null; count: number | string }>(
      sql`select min(sequence) as lowest, count(*) as count from (${part}) as part`,
    )
    const lowest = Number(read?.lowest ?? 0)
    // A cross join: SQLite reads the part first. PostgreSQL would read all for a join if it knows nothing of the table.
    const from = differing(
      sql`from (${part}) as part cross join deliveries on deliveries.sequence = part.sequence`,
      sql`from deliveries`,
    )
    const range = [sql`deliveries.sequence >= ${lowest}`, end && sql`deliveries.sequence < ${end}`]
    found.push(...(await database.readOnce(compileList(filter, limit - found.length, from, range))).map(fromRow))
    if (found.length === limit || Number(read?.count ?? 0) < size) return found
    end = sql`${lowest}`
    if (database.isEmbedded) await pause(performance.now() - startedAt)
  }
}

/** By the index that leaves the fewest: most deliveries are delivered. */
function indexedCondition({ messageId, endpointId, state }: DeliveryFilter): Fragment | undefined {
  if (messageId !== undefined) return sql`message_id = ${messageId}`
  if (endpointId !== undefined && (state ?? 'delivered') === 'delivered') return sql`endpoint_id = ${endpointId}`
  return state === undefined ? undefined : sql`state = ${state}`
}

function compileList(
  filter: DeliveryFilter,
  limit: number,
  from: Fragment,
  range: readonly (Fragment | undefined)[],
): Sql<never, ShownRow> {
  const { state, endpointId, requestId, messageId, target, orderKey, fromMs, toMs } = filter
  const order_key = orderKey === undefined ? undefined : keyText(orderKey)
  const equal = { state, endpoint_id: endpointId, request_id: requestId, message_id: messageId, target, order_key }
  const conditions = [
    ...range,
    ...Object.entries(equal).map(([column, value]) =>
      value === undefined ? undefined : sql`deliveries.${raw(column)} = ${value}`,
    ),
    fromMs === undefined ? undefined : sql`deliveries.accepted >= cast(${fromMs} as bigint)`,
    toMs === undefined ? undefined : sql`deliveries.accepted < cast(${toMs} as bigint)`,
  ].filter((condition) => condition !== undefined)
  return sql`${SELECT_SHOWN} ${from} ${WITH_LANES} ${where(conditions)}
    order by deliveries.sequence desc limit ${limit}`
}
