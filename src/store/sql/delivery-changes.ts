/**
 * Changes of deliveries that are stored: how attempts end, retries and cancellations. Each locks the lanes first, which
 * orders it with every other change of the same deliveries.
 */
import { type AttemptEnd, type DeliveryAttempt, MAX_KEPT_ATTEMPTS } from '../../core/deliveries/delivery.ts'
import { step, type TransactionWork } from './database.ts'
import {
  addLanes,
  compareTexts,
  createTotals,
  DELETE_CONTENTS,
  type DeliveryRow,
  listOf,
  valuesOf,
} from './delivery-rows.ts'
import type { Tables } from './schema.ts'
import { BYTES, differing, elements, type Fragment, LOCK_ROWS, NOW, sql } from './sql.ts'

type Ids = Readonly<{ ids: string }>
type List = Readonly<{ list: string }>
type NumberText = number | string
type LaneRow = Pick<Tables['delivery_lanes'], 'lane' | 'owner' | 'depth'> &
  Readonly<{ due: NumberText; tried: NumberText; claimed: NumberText; now: NumberText }>
type Lane = { lane: string; owner: string; depth: number; due: number; tried: number; claimed: number; now: number }
type StoredRow = Omit<DeliveryRow, 'due' | 'accepted_at' | 'ended_at'>

const LANES_OF = sql<Ids, { lane: string; target: string }>`
  select distinct lane, target from deliveries where id in (${valuesOf(sql`:ids`)}) and state <> 'delivered'`
const lockLanes = (lanes: Fragment) => sql<Ids, LaneRow>`
  select lane, owner, due, depth, tried, claimed, ${NOW} as now from delivery_lanes
  where lane in (${lanes}) order by lane ${LOCK_ROWS}`
const LOCK_LANES = lockLanes(valuesOf(sql`:ids`))
const LOCK_LANES_OF = lockLanes(sql`select lane from deliveries where id in (${valuesOf(sql`:ids`)})`)
const LOCK_DELIVERIES = sql<Ids, StoredRow>`
  select sequence, id, lane, kind, target, state, endpoint_id, message_id, request_id, order_key, detail, attempts, log, bytes
  from deliveries where id in (${valuesOf(sql`:ids`)}) order by id ${LOCK_ROWS}`
const UPDATE_DELIVERIES = sql<List>`
  update deliveries set sequence = cast(element.value ->> 1 as bigint), state = element.value ->> 2,
    ended_at = case when element.value ->> 2 = 'pending' then 0 else ${NOW} end,
    attempts = cast(element.value ->> 3 as integer), log = element.value ->> 4,
    bytes = cast(element.value ->> 5 as integer)
  from ${elements(sql`:list`)} as element where deliveries.id = element.value ->> 0`
/** The target is that of the first delivery: what a request is sent to may change. */
const UPDATE_LANES = sql<List>`
  update delivery_lanes set depth = cast(element.value ->> 1 as integer), due = cast(element.value ->> 2 as bigint),
    owner = element.value ->> 3, tried = cast(element.value ->> 4 as bigint), target = coalesce((
      select deliveries.target from deliveries where deliveries.lane = delivery_lanes.lane and state = 'pending'
      order by sequence limit 1), delivery_lanes.target)
  from ${elements(sql`:list`)} as element where delivery_lanes.lane = element.value ->> 0`
const DELETE_LANES = sql<Ids>`delete from delivery_lanes where lane in (${valuesOf(sql`:ids`)}) and depth = 0`
const NEXT_SEQUENCES = sql<Ids, { next: NumberText }>`
  select ${differing(
    sql`(select max(sequence) from deliveries) + element.key + 1`,
    sql`nextval('deliveries_sequence')`,
  )} as next from ${elements(sql`:ids`)} as element`
const BODY_SIZES = sql<Ids, { id: string; size: number }>`
  select id, coalesce(length(body), 0) as size from delivery_contents where id in (${valuesOf(sql`:ids`)})`
const REPLACE_BODIES = sql<Ids & Readonly<{ body: Uint8Array }>>`
  update delivery_contents set body = cast(:body as ${BYTES}) where id in (${valuesOf(sql`:ids`)})`

type Change = Partial<Pick<StoredRow, 'state' | 'attempts' | 'log' | 'bytes'>> & Readonly<{ sequence?: number }>

/**
 * The deliveries with these ids and their lanes, all locked, and the changes that are made to them; undefined if another
 * transaction has put one of them into a lane meanwhile, which is not locked. `added`: the lanes that the caller has added to,
 * which may be empty: those of the deliveries by default.
 */
function* lock(ids: readonly string[], added?: readonly string[]) {
  const list = listOf(ids)
  const locked =
    added === undefined ? yield* step(LOCK_LANES_OF, { ids: list }) : yield* step(LOCK_LANES, { ids: listOf(added) })
  const lanes = new Map(
    locked.map(({ lane, owner, depth, due, tried, claimed, now }): [string, Lane] => [
      lane,
      {
        lane,
        owner,
        depth,
        due: Number(due),
        tried: Number(tried),
        claimed: Number(claimed),
        now: Number(now),
      },
    ]),
  )
  const rows = yield* step(LOCK_DELIVERIES, { ids: list })
  if (rows.some(({ state, lane }) => state === 'pending' && !lanes.has(lane))) return undefined
  const byId = new Map(rows.map((row) => [row.id, row]))
  const totals = createTotals()
  const changed = new Set<string>()

  return {
    get: (id: string) => byId.get(id),
    lane: ({ lane }: StoredRow) => lanes.get(lane),
    change(row: StoredRow, change: Change): void {
      const after = { ...row, ...change }
      if (after.state !== row.state || after.bytes !== row.bytes) {
        totals.add(row, row.state, row.bytes, -1)
        totals.add(row, after.state, after.bytes, 1)
      }
      byId.set(row.id, after)
      changed.add(row.id)
    },
    *write(): TransactionWork<void> {
      const after = [...changed].flatMap((id) => byId.get(id) ?? [])
      if (after.length > 0) {
        const list = after.map(({ id, sequence, state, attempts, log, bytes }) => [
          id,
          sequence,
          state,
          attempts,
          log,
          bytes,
        ])
        yield* step(UPDATE_DELIVERIES, { list: JSON.stringify(list) })
      }
      if (lanes.size > 0) {
        const list = [...lanes.values()].map(({ lane, depth, due, owner, tried }) => [lane, depth, due, owner, tried])
        yield* step(UPDATE_LANES, { list: JSON.stringify(list) })
        yield* step(DELETE_LANES, { ids: listOf([...lanes.keys()]) })
      }
      const delivered = after.filter(({ state }) => state === 'delivered').map(({ id }) => id)
      if (delivered.length > 0) yield* step(DELETE_CONTENTS, { ids: listOf(delivered) })
      yield* totals.write()
    },
  }
}

const isClaimed = (lane: Lane | undefined, row: StoredRow): lane is Lane => lane?.claimed === Number(row.sequence)

function logWith(log: string, attempt: DeliveryAttempt): string {
  const attempts: readonly DeliveryAttempt[] = JSON.parse(log)
  return JSON.stringify([...attempts, attempt].slice(-MAX_KEPT_ATTEMPTS))
}

/** The ids that a change was stored for; undefined if it has to be made again. */
type Changed = readonly string[] | undefined

/** As `DeliveryStore.end`. */
export function* endWork(owner: string, ends: readonly AttemptEnd[]): TransactionWork<Changed> {
  const held = yield* lock(ends.map(({ id }) => id))
  if (held === undefined) return undefined
  const stored: string[] = []
  for (const { id, attempt, state, dueInMs = 0 } of ends) {
    const row = held.get(id)
    if (row === undefined) continue
    const lane = held.lane(row)
    const isPending = row.state === 'pending'
    const isOwned = isClaimed(lane, row) && lane.owner === owner
    if (isPending) {
      held.change(row, {
        state,
        ...(attempt && { attempts: row.attempts + 1, log: logWith(row.log, attempt) }),
      })
      stored.push(id)
    }
    if (lane === undefined) continue
    if (isPending && state !== 'pending') lane.depth -= 1
    if (!isOwned) continue
    lane.owner = ''
    lane.due = isPending && state === 'pending' ? lane.now + dueInMs : lane.now
    if (attempt !== undefined) lane.tried = lane.now
  }
  yield* held.write()
  return stored
}

/** As `DeliveryStore.cancel`. */
export function* cancelWork(ids: readonly string[]): TransactionWork<Changed> {
  const held = yield* lock(ids)
  if (held === undefined) return undefined
  const cancelled: string[] = []
  for (const id of new Set(ids)) {
    const row = held.get(id)
    if (row?.state !== 'pending' && row?.state !== 'undeliverable') continue
    const lane = held.lane(row)
    held.change(row, { state: 'cancelled' })
    cancelled.push(id)
    if (row.state !== 'pending' || lane === undefined) continue
    lane.depth -= 1
    if (!isClaimed(lane, row)) continue
    // What waited for it goes on.
    lane.owner = ''
    lane.due = lane.now
  }
  yield* held.write()
  return cancelled
}

/** As `DeliveryStore.retry`. */
export function* retryWork(ids: readonly string[], body: Uint8Array | undefined): TransactionWork<Changed> {
  const found = yield* step(LANES_OF, { ids: listOf(ids) })
  const lanes = new Map(found.map(({ lane, target }) => [lane, { lane, target, depth: 0 }]))
  const added = [...lanes.keys()].toSorted(compareTexts)
  yield* addLanes(added.flatMap((lane) => lanes.get(lane) ?? []))
  const held = yield* lock(ids, added)
  const rows = [...new Set(ids)].flatMap((id) => held?.get(id) ?? []).filter(({ state }) => state !== 'delivered')
  // One may have been accepted, and may have ended, since its lane was looked for.
  if (held === undefined || rows.some((row) => held.lane(row) === undefined)) {
    yield* step(DELETE_LANES, { ids: listOf(added) })
    return undefined
  }
  const changed = rows.map(({ id }) => id)
  const list = listOf(changed)
  const ended = rows.filter(({ state }) => state !== 'pending')
  const drawn = yield* step(NEXT_SEQUENCES, { ids: listOf(ended.map(({ id }) => id)) })
  const sequences = drawn.map(({ next }) => Number(next)).toSorted((a, b) => a - b)
  const sizes = new Map<string, number>()
  if (body !== undefined) {
    for (const { id, size } of yield* step(BODY_SIZES, { ids: list })) sizes.set(id, size)
    yield* step(REPLACE_BODIES, { ids: list, body })
  }
  for (const row of rows) {
    const lane = held.lane(row)
    const bytes = body === undefined ? row.bytes : row.bytes - (sizes.get(row.id) ?? 0) + body.byteLength
    if (row.state === 'pending') {
      held.change(row, { attempts: 0, bytes })
      if (lane !== undefined && (lane.owner === '' || lane.due <= lane.now)) lane.due = Math.min(lane.due, lane.now)
      continue
    }
    const sequence = sequences.shift()
    held.change(row, { state: 'pending', attempts: 0, bytes, ...(sequence === undefined ? {} : { sequence }) })
    if (lane !== undefined) lane.depth += 1
  }
  yield* held.write()
  return changed
}
