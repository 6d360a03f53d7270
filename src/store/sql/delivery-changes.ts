/** Changes of stored deliveries: how attempts end, and what people do. */
import { type AttemptEnd, type DeliveryState, MAX_KEPT_ATTEMPTS } from '../../core/deliveries/delivery.ts'
import { step, type TransactionWork } from './database.ts'
import {
  ADD_DEPTH,
  AMONG_IDS,
  attemptsOf,
  byText,
  bytesOf,
  detailOf,
  given,
  type Ids,
  idsOf,
  numberAt,
  type Row,
  sizeOf,
  Totals,
  textAt,
} from './delivery-rows.ts'
import { LOCK_ROWS, NOW, sql } from './sql.ts'

/** What a retry changes: the body that is sent in place of the stored one. */
export type RetryChange = Readonly<{ body?: string | Uint8Array }>

const LANES_OF = sql<Ids, { lane: string; target: string }>`
  select distinct lane, target from deliveries where id in ${AMONG_IDS}`
/** Locked: a purge takes no lanes. */
const ROWS = sql<Ids, Row>`select * from deliveries where id in ${AMONG_IDS} order by sequence ${LOCK_ROWS}`
const UPDATE = sql<Readonly<{ rows: string }>>`
  update deliveries set state = ${textAt(1)}, attempts = ${numberAt(2)}, log = ${textAt(3)}, bytes = ${numberAt(4)},
    ended = case when ${textAt(1)} = 'pending' then 0 else ${NOW} end,
    since = case when ${numberAt(5)} = 1 then ${NOW} else since end
  from ${given('rows')} where deliveries.id = ${textAt(0)}`
/** The target is that of the first delivery: one key may have several, after a change of the document. */
const UPDATE_LANES = sql<Readonly<{ rows: string }>>`
  update delivery_lanes set depth = depth + ${numberAt(1)},
    due = case when ${numberAt(2)} >= 0 and lease = ${textAt(3)} then ${NOW} + ${numberAt(2)} else due end,
    lease = case when ${numberAt(2)} >= 0 and lease = ${textAt(3)} then '' else lease end,
    target = coalesce((select deliveries.target from deliveries where deliveries.sequence = (select min(sequence)
      from deliveries where deliveries.lane = delivery_lanes.lane and state = 'pending')), delivery_lanes.target)
  from ${given('rows')} where delivery_lanes.lane = ${textAt(0)}`
const DELETE_EMPTY = sql<Ids>`delete from delivery_lanes where depth = 0 and lane in ${AMONG_IDS}`
export const DELETE_CONTENTS = sql<Ids>`delete from delivery_contents where id in ${AMONG_IDS}`
const SET_BODY = sql<Readonly<{ id: string; body: Uint8Array }>>`
  update delivery_contents set body = :body where id = :id`

/** What a transaction makes of a delivery and of its lane. */
type Change = Readonly<{
  state: DeliveryState
  attempts?: number
  log?: string
  bytes?: number
  isRenewed?: boolean
}>
type LaneRelease = Readonly<{ lease: string; dueInMs: number }>
export type Decision = Readonly<{ change?: Change; release?: LaneRelease }>

/** Changes deliveries and their lanes as `decide` says of each row. Gives the ids of those that it changed. */
export function* changeAll(
  ids: readonly string[],
  decide: (row: Row) => Decision | undefined,
  slot: number,
  body?: RetryChange['body'],
): TransactionWork<readonly string[]> {
  const among = idsOf(ids)
  const found = yield* step(LANES_OF, { ids: among })
  const lanes = [...new Map(found.map((one) => [one.lane, one])).values()].sort(byText(({ lane }) => lane))
  if (lanes.length === 0) return []
  yield* ADD_DEPTH(lanes.map(({ lane, target }) => ({ lane, target, depth: 0 })))
  const rows = yield* step(ROWS, { ids: among })
  const changes: unknown[] = []
  const delivered: string[] = []
  const laneChanges = new Map<string, { depth: number; release?: LaneRelease }>()
  const totals = new Totals(slot)
  const changedIds: string[] = []
  for (const row of rows) {
    const { change, release } = decide(row) ?? {}
    const lane = laneChanges.get(row.lane) ?? { depth: 0 }
    if (release !== undefined) lane.release = release
    laneChanges.set(row.lane, lane)
    if (change === undefined) continue
    const bytes = change.state === 'delivered' ? 0 : (change.bytes ?? Number(row.bytes))
    lane.depth += Number(change.state === 'pending') - Number(row.state === 'pending')
    if (change.state === 'delivered') delivered.push(row.id)
    if (body !== undefined) yield* step(SET_BODY, { id: row.id, body: bytesOf(body) })
    changes.push([
      row.id,
      change.state,
      change.attempts ?? Number(row.attempts),
      change.log ?? row.log,
      bytes,
      change.isRenewed ? 1 : 0,
    ])
    const { endpoint } = detailOf(row)
    totals.add(row, endpoint, row.state, -1, -Number(row.bytes))
    totals.add(row, endpoint, change.state, 1, bytes)
    changedIds.push(row.id)
  }
  if (changes.length > 0) yield* step(UPDATE, { rows: JSON.stringify(changes) })
  if (delivered.length > 0) yield* step(DELETE_CONTENTS, { ids: idsOf(delivered) })
  const released = [...laneChanges].map(([lane, { depth, release }]) => [
    lane,
    depth,
    release === undefined ? -1 : Math.max(0, Math.round(release.dueInMs)),
    release?.lease ?? '',
  ])
  yield* step(UPDATE_LANES, { rows: JSON.stringify(released) })
  yield* step(DELETE_EMPTY, { ids: idsOf(lanes.map(({ lane }) => lane)) })
  yield* totals.write()
  return changedIds
}

/** The lease ends even where the delivery has ended before: the next one of its lane waits for it. */
export function decideEnd(row: Row, { attempt, state, dueInMs = 0, lease }: AttemptEnd): Decision {
  const release = { lease, dueInMs: state === 'pending' ? dueInMs : 0 }
  if (row.state !== 'pending') return { release }
  const log = attempt && [...attemptsOf(row), attempt].slice(-MAX_KEPT_ATTEMPTS)
  return {
    change: { state, attempts: Number(row.attempts) + (attempt ? 1 : 0), ...(log && { log: JSON.stringify(log) }) },
    release,
  }
}

export function decideRetry(row: Row, body: RetryChange['body']): Decision | undefined {
  if (row.state === 'delivered') return undefined
  const bytes = body === undefined ? {} : { bytes: detailOf(row).requestSize + sizeOf(body) }
  const change: Change =
    row.state === 'pending'
      ? { state: 'pending', ...bytes }
      : { state: 'pending', attempts: 0, isRenewed: true, ...bytes }
  return { change, release: { lease: '', dueInMs: 0 } }
}
