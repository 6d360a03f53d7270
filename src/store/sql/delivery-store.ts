/** The store of deliveries, of both databases. */
import type {
  AttemptEnd,
  ClaimedDelivery,
  Delivery,
  DeliveryRequest,
  DeliveryState,
  NewDelivery,
} from '../../core/deliveries/delivery.ts'
import { idFrom } from '../../core/id.ts'
import { type Database, step, storeUnavailable, type TransactionWork } from './database.ts'
import { bytesOf, compileAccept } from './delivery-accept.ts'
import { cancelWork, endWork, retryWork } from './delivery-changes.ts'
import {
  createTotals,
  DELETE_CONTENTS,
  type DeliveryRow,
  deliveryFromRow,
  isoTime,
  listOf,
  SELECT_DELIVERY,
  valuesOf,
} from './delivery-rows.ts'
import { keyText, type Tables } from './schema.ts'
import { differing, elements, type Fragment, NOW, type NoValues, raw, sql, where } from './sql.ts'
import type { StateRecord } from './states.ts'

export type DeliveryFilter = Readonly<{
  id?: string
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
  bytes: number
}>

/** `oldestAt`: ISO 8601, when the oldest pending one was accepted. */
export type DeliveryTotals = Readonly<{ counts: readonly DeliveryCount[]; oldestAt?: string }>

/** What retries a delivery: `body` in place of the stored one. */
export type RetryChange = Readonly<{ body?: string | Uint8Array }>

/** Every call rejects with StoreUnavailable if the database does not answer. Times are those of the database. */
export interface DeliveryStore {
  /**
   * Stores all of them, which are of one message, and the state that it leaves its endpoint, or nothing; at least one delivery. 'full': they would take more than `maxBytes` together with
   * what is stored. Resolves when they are durable.
   */
  accept(deliveries: readonly NewDelivery[], maxBytes: number, state?: StateRecord): Promise<'accepted' | 'full'>
  /** The targets that have something due, each with when it was due first; `nextMs`: until the next one, of any target. */
  dueTargets(limit: number): Promise<Readonly<{ targets: readonly string[]; nextInMs: number | undefined }>>
  /**
   * Takes up to `limit` deliveries of a target that are due, the first of each key, for `leaseMs`. `triedBefore`: takes also
   * those that are not due yet and were tried before that time (milliseconds since the epoch).
   */
  claim(
    owner: string,
    target: string,
    limit: number,
    leaseMs: number,
    triedBefore?: number,
  ): Promise<readonly ClaimedDelivery[]>
  /** Resolves to the ids of those that the owner still has. */
  renew(owner: string, ids: readonly string[], leaseMs: number): Promise<readonly string[]>
  /**
   * Stores how attempts ended. What another owner has taken over meanwhile keeps its lease; the end is stored unless the
   * delivery has ended before. Resolves to the ids of those that it was stored for.
   */
  end(owner: string, ends: readonly AttemptEnd[]): Promise<readonly string[]>
  get(id: string): Promise<Delivery | undefined>
  /** What is sent; undefined if it is not kept any more. */
  content(id: string): Promise<Omit<ClaimedDelivery, 'delivery'> | undefined>
  /** Newest first. `before`: the id of the last one of the page before. */
  list(filter: DeliveryFilter, limit: number, before?: string): Promise<readonly Delivery[]>
  totals(): Promise<DeliveryTotals>
  /**
   * Sends pending ones at once and those that ended undeliverable or cancelled again, behind what is pending of their key.
   * Resolves to the ids of those that it changed.
   */
  retry(ids: readonly string[], change?: RetryChange): Promise<readonly string[]>
  /** Ends pending and undeliverable ones. One that is being sent may arrive nevertheless. Resolves to the ids that it changed. */
  cancel(ids: readonly string[]): Promise<readonly string[]>
  /** Deletes up to `limit` delivered and cancelled ones that ended before the time. Resolves to how many. */
  purge(endedBeforeMs: number, limit: number): Promise<number>
}

type ContentRow = Pick<Tables['delivery_contents'], 'request' | 'body'>
type Count = number | string

/** How long before its acceptance the id of a delivery may have been made, with the difference of clocks. */
const ID_SLACK_MS = 3_600_000

/** Each takes a change of another call in between. */
const MAX_CHANGE_TIMES = 20

const SKIP_LOCKED = differing(sql``, sql`for update skip locked`)
type DueValues = Readonly<{ target: string; limit: number }>
const lockWhere = <More extends DueValues>(condition: Fragment) => sql<More, { lane: string }>`
  select lane from delivery_lanes where target = :target and ${condition} order by due limit :limit ${SKIP_LOCKED}`
const IS_DUE = sql`due <= ${NOW}`
const LOCK_DUE = lockWhere<DueValues>(IS_DUE)
const LOCK_TRIED = lockWhere<DueValues & Readonly<{ triedBefore: number }>>(
  sql`(${IS_DUE} or (owner = '' and tried < cast(:triedBefore as bigint)))`,
)
type ClaimValues = Readonly<{ owner: string; lanes: string; leaseMs: number }>
/** After the lock: a statement that waits for a row sees other tables as they were before. */
const CLAIM = sql<ClaimValues, { lane: string; claimed: Count }>`
  update delivery_lanes set owner = :owner, due = ${NOW} + cast(:leaseMs as integer), claimed = (
    select min(sequence) from deliveries where deliveries.lane = delivery_lanes.lane and state = 'pending')
  where lane in (${valuesOf(sql`:lanes`)}) returning lane, claimed`
/** SQLite has an index of the sequence alone, PostgreSQL one of the lanes of pending deliveries. */
const CLAIMED = sql<Readonly<{ claims: string }>, DeliveryRow & ContentRow>`
  select ${SELECT_DELIVERY}, delivery_contents.request, delivery_contents.body from ${elements(sql`:claims`)} as element
  join deliveries on deliveries.lane = element.value ->> 0 and deliveries.sequence = cast(element.value ->> 1 as bigint)
    ${differing(sql``, sql`and deliveries.state = 'pending'`)}
  join delivery_contents on delivery_contents.id = deliveries.id order by deliveries.sequence`

type RenewValues = Readonly<{ owner: string; ids: string }>
const OWNED = sql<RenewValues, { lane: string; id: string }>`
  select delivery_lanes.lane, deliveries.id from deliveries
  join delivery_lanes on delivery_lanes.lane = deliveries.lane and claimed = sequence and owner = :owner
  where deliveries.id in (${valuesOf(sql`:ids`)}) and state = 'pending' order by delivery_lanes.lane
  ${differing(sql``, sql`for update of delivery_lanes`)}`
const EXTEND = sql<Readonly<{ lanes: string; owner: string; leaseMs: number }>, { lane: string }>`
  update delivery_lanes set due = ${NOW} + cast(:leaseMs as integer)
  where lane in (${valuesOf(sql`:lanes`)}) and owner = :owner returning lane`

/** Of each target that has anything pending. The totals name the targets: there may be a million lanes of one. */
const DUE = sql<NoValues, { names: string; due: Count; now: Count }>`
  select names, due, ${NOW} as now from (
    select names, (select min(due) from delivery_lanes where delivery_lanes.target = known.target) as due
    from (select target, max(names) as names from delivery_totals where state = 'pending' group by target) as known
  ) as targets where due is not null order by due`
const GET = sql<Readonly<{ id: string }>, DeliveryRow>`select ${SELECT_DELIVERY} from deliveries where id = :id`
const CONTENT = sql<Readonly<{ id: string }>, ContentRow>`select request, body from delivery_contents where id = :id`
const TOTALS = sql<NoValues, { state: string; names: string; count: Count; bytes: Count }>`
  select state, max(names) as names, sum(count) as count, sum(bytes) as bytes from delivery_totals
  group by kind, state having sum(count) > 0 order by kind, state`
const OLDEST = sql<NoValues, { accepted: Count }>`
  select accepted_at as accepted from deliveries where state = 'pending' order by id limit 1`

type PurgedRow = Pick<DeliveryRow, 'id' | 'kind' | 'endpoint_id' | 'target' | 'state' | 'detail' | 'bytes'>
const ENDED = sql<Readonly<{ before: number; limit: number }>, PurgedRow>`
  select id, kind, endpoint_id, target, state, detail, bytes from deliveries ${differing(sql`indexed by deliveries_ended`, sql``)}
  where state in ('delivered', 'cancelled') and ended_at < cast(:before as bigint) order by ended_at limit :limit
  ${SKIP_LOCKED}`
const DELETE = sql<Readonly<{ ids: string }>>`delete from deliveries where id in (${valuesOf(sql`:ids`)})`

const contentFromRow = ({ request, body }: ContentRow): Omit<ClaimedDelivery, 'delivery'> => ({
  request: JSON.parse(request) as DeliveryRequest,
  body: body ?? undefined,
})

function filterConditions(filter: DeliveryFilter, before: string | undefined): readonly Fragment[] {
  const { id, state, endpointId, requestId, messageId, target, orderKey, fromMs, toMs } = filter
  return [
    ...(id === undefined ? [] : [sql`id = ${id}`]),
    // As a text of the statement: partial indices are chosen by it.
    ...(state === undefined ? [] : [sql`state = ${raw(`'${state}'`)}`]),
    ...(endpointId === undefined ? [] : [sql`endpoint_id = ${endpointId}`]),
    ...(requestId === undefined ? [] : [sql`request_id = ${keyText(requestId)}`]),
    ...(messageId === undefined ? [] : [sql`message_id = ${messageId}`]),
    ...(target === undefined ? [] : [sql`deliveries.target = ${keyText(target)}`]),
    ...(orderKey === undefined ? [] : [sql`order_key = ${keyText(orderKey)}`]),
    ...(fromMs === undefined ? [] : [sql`accepted_at >= ${fromMs} and id >= ${idFrom(fromMs - ID_SLACK_MS)}`]),
    ...(toMs === undefined ? [] : [sql`accepted_at < ${toMs} and id < ${idFrom(toMs + ID_SLACK_MS)}`]),
    ...(before === undefined ? [] : [sql`id < ${before}`]),
  ]
}

function* claimWork(
  due: DueValues,
  lease: Omit<ClaimValues, 'lanes'>,
  triedBefore: number | undefined,
): TransactionWork<readonly (DeliveryRow & ContentRow)[]> {
  const lanes =
    triedBefore === undefined
      ? yield* step(LOCK_DUE, due)
      : yield* step(LOCK_TRIED, { ...due, triedBefore: Math.floor(triedBefore) })
  if (lanes.length === 0) return []
  const claims = yield* step(CLAIM, { ...lease, lanes: listOf(lanes.map(({ lane }) => lane)) })
  return yield* step(CLAIMED, { claims: JSON.stringify(claims.map(({ lane, claimed }) => [lane, Number(claimed)])) })
}

function* renewWork(owner: string, ids: readonly string[], leaseMs: number): TransactionWork<readonly string[]> {
  const owned = yield* step(OWNED, { owner, ids: listOf(ids) })
  if (owned.length > 0) yield* step(EXTEND, { owner, lanes: listOf(owned.map(({ lane }) => lane)), leaseMs })
  return owned.map(({ id }) => id)
}

function* purgeWork(before: number, limit: number): TransactionWork<number> {
  const ended = yield* step(ENDED, { before: Math.floor(before), limit })
  if (ended.length === 0) return 0
  const ids = listOf(ended.map(({ id }) => id))
  const totals = createTotals()
  for (const row of ended) totals.add(row, row.state, row.bytes, -1)
  yield* step(DELETE, { ids })
  yield* step(DELETE_CONTENTS, { ids })
  yield* totals.write()
  return ended.length
}

/** Builds the store over a database whose tables are up to date. */
export function compileDeliveryStore(database: Database): DeliveryStore {
  const beside = <T>(work: () => TransactionWork<T>): Promise<T> => database.transactionBeside(work, 'other')
  /** Makes a change again while others move its deliveries at the same time. */
  async function settle(
    ids: readonly unknown[],
    work: () => TransactionWork<readonly string[] | undefined>,
  ): Promise<readonly string[]> {
    if (ids.length === 0) return []
    for (let times = 0; times < MAX_CHANGE_TIMES; times += 1) {
      const changed = await beside(work)
      if (changed !== undefined) return changed
    }
    throw storeUnavailable(`others changed the same deliveries ${MAX_CHANGE_TIMES} times meanwhile`)
  }

  return {
    accept: compileAccept(database),
    dueTargets: async (limit) => {
      const all = (await database.read(DUE, {})).map(({ names, due, now }) => ({
        target: (JSON.parse(names) as Pick<Delivery, 'target'>).target,
        inMs: Number(due) - Number(now),
      }))
      const due = all.filter(({ inMs }) => inMs <= 0).slice(0, limit)
      const next = all[due.length]
      return {
        targets: due.map(({ target }) => target),
        nextInMs: next === undefined ? undefined : Math.max(0, next.inMs),
      }
    },
    claim: async (owner, target, limit, leaseMs, triedBefore) => {
      const due = { target: keyText(target), limit }
      const rows = await beside(() => claimWork(due, { owner, leaseMs }, triedBefore))
      return rows.map((row) => ({ delivery: deliveryFromRow(row), ...contentFromRow(row) }))
    },
    renew: async (owner, ids, leaseMs) => (ids.length === 0 ? [] : beside(() => renewWork(owner, ids, leaseMs))),
    end: (owner, ends) => settle(ends, () => endWork(owner, ends)),
    get: async (id) => (await database.read(GET, { id })).map(deliveryFromRow)[0],
    content: async (id) => (await database.read(CONTENT, { id })).map(contentFromRow)[0],
    list: async (filter, limit, before) => {
      const rows = await database.readOnce(sql<never, DeliveryRow>`select ${SELECT_DELIVERY} from deliveries
        ${where(filterConditions(filter, before))} order by id desc limit ${limit}`)
      return rows.map(deliveryFromRow)
    },
    totals: async () => {
      const rows = await database.read(TOTALS, {})
      const [oldest] = await database.read(OLDEST, {})
      return {
        counts: rows.map(({ state, names, count, bytes }) => ({
          ...(JSON.parse(names) as Pick<Delivery, 'endpointId' | 'endpoint' | 'requestId' | 'target'>),
          state: state as DeliveryState,
          count: Number(count),
          bytes: Number(bytes),
        })),
        ...(oldest === undefined ? {} : { oldestAt: isoTime(oldest.accepted) }),
      }
    },
    retry: async (ids, change) => {
      const body = change?.body === undefined ? undefined : bytesOf(change.body)
      return settle(ids, () => retryWork(ids, body))
    },
    cancel: (ids) => settle(ids, () => cancelWork(ids)),
    purge: async (endedBeforeMs, limit) => beside(() => purgeWork(endedBeforeMs, limit)),
  }
}
