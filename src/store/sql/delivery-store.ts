/**
 * The store of deliveries, of both databases. Deliveries with one order key are a lane, one without a key is a lane of its
 * own. A claim takes lanes rather than deliveries, so that of each key one delivery at a time is sent: the oldest pending
 * one. A lease is a due time in the future: one that has expired is due again.
 *
 * Each transaction locks its lanes first, in their order, and its totals last: so none waits for another in a circle, and
 * the depth of a lane is always the number of its pending deliveries. The clock is that of the database.
 */
import {
  type AttemptEnd,
  type ClaimedDelivery,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryLease,
  type DeliveryRequest,
  type DeliveryState,
  MAX_KEPT_ATTEMPTS,
  type NewDelivery,
} from '../../core/deliveries/delivery.ts'
import { StoreUnavailable } from '../store-access.ts'
import { type Database, rowsStatement, step, type TransactionWork } from './database.ts'
import { keyText, type Tables } from './schema.ts'
import {
  differing,
  elements,
  type Fragment,
  LOCK_ROWS,
  NOW,
  named,
  nextStateSequence,
  raw,
  type Sql,
  sql,
  where,
} from './sql.ts'
import { type StateRecord, stateRow } from './states.ts'

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
  /** Of what is kept of their requests and bodies. */
  bytes: number
}>

/** `oldestAt`: ISO 8601, when the oldest pending one was accepted. */
export type DeliveryTotals = Readonly<{ counts: readonly DeliveryCount[]; oldestAt?: string }>

/** What a retry changes: the body that is sent in place of the stored one. */
export type RetryChange = Readonly<{ body?: string | Uint8Array }>

/** Every call rejects with StoreUnavailable if the database does not answer. */
export interface DeliveryStore {
  /**
   * Stores all of them, which are of one message, and the state that it leaves, or nothing. 'full': they would take more than
   * `maxBytes` together with what is stored. Other processes may exceed it by what they accept within a second. Resolves when
   * they are durable.
   */
  accept(deliveries: readonly NewDelivery[], maxBytes: number, state?: StateRecord): Promise<'accepted' | 'full'>
  /** The targets that have something due, longest due first; and milliseconds until something is due that is not yet. */
  dueTargets(limit: number): Promise<Readonly<{ targets: readonly string[]; nextInMs: number | undefined }>>
  /**
   * Takes up to `limit` deliveries of a target that are due, the first of each key, for `leaseMs`. `triedBefore`: takes those
   * that wait for their next attempt instead, if they were tried before that time of the database (milliseconds since the
   * epoch).
   */
  claim(
    owner: string,
    target: string,
    limit: number,
    leaseMs: number,
    triedBefore?: number,
  ): Promise<readonly ClaimedDelivery[]>
  /** The clock of the database, in milliseconds since the epoch. */
  now(): Promise<number>
  /** Resolves to the ids of those whose lease is still held. */
  renew(leases: readonly DeliveryLease[], leaseMs: number): Promise<readonly string[]>
  /**
   * Stores how attempts ended, of those that have not ended before, and ends the leases. A lease that another claim has taken
   * over goes on. Resolves to the ids of those that it changed.
   */
  end(ends: readonly AttemptEnd[]): Promise<readonly string[]>
  get(id: string): Promise<Delivery | undefined>
  /** What is sent; undefined if it is not kept any more. */
  content(id: string): Promise<Pick<ClaimedDelivery, 'request' | 'body'> | undefined>
  /** Newest first. `before`: the id of the last one of the page before. */
  list(filter: DeliveryFilter, limit: number, before?: string): Promise<readonly Delivery[]>
  totals(): Promise<DeliveryTotals>
  /**
   * Sends pending ones at once, and those that ended undeliverable or cancelled again, in the order in which they were
   * accepted. Resolves to the ids of those that it changed.
   */
  retry(ids: readonly string[], change?: RetryChange): Promise<readonly string[]>
  /** Ends pending and undeliverable ones. One that is being sent may arrive nevertheless. Resolves to the ids that it changed. */
  cancel(ids: readonly string[]): Promise<readonly string[]>
  /** Deletes up to `limit` delivered and cancelled ones that ended more than `ageMs` ago. Resolves to how many. */
  purge(ageMs: number, limit: number): Promise<number>
}

type Row = Readonly<{
  [Column in keyof Tables['deliveries']]: Tables['deliveries'][Column] extends number ? number | string : string
}>
type ShownRow = Row & Readonly<{ due: number | string | null }>
type ContentRow = Tables['delivery_contents']
type Detail = Pick<Delivery, 'endpoint' | 'item' | 'orderKey'>
type Ids = Readonly<{ ids: string }>
type CountRow = Readonly<{ [Column in Exclude<keyof Tables['delivery_totals'], 'slot' | 'count' | 'bytes'>]: string }> &
  Readonly<{ count: number | string; bytes: number | string }>

/** The rows of a JSON array of arrays, named `element`. */
const given = (name: string): Fragment => sql`${elements(named(name))} as element`
const AMONG_IDS = sql`(select element.value ->> 0 from ${given('ids')})`
const textAt = (index: number): Fragment => raw(`(element.value ->> ${index})`)
const numberAt = (index: number): Fragment => raw(`cast(element.value ->> ${index} as bigint)`)

const ADD_DEPTH = rowsStatement(
  ['lane', 'target', 'depth'],
  (rows) => sql`insert into delivery_lanes (lane, target, depth) ${rows}
    on conflict (lane) do update set depth = delivery_lanes.depth + excluded.depth`,
)
const NEW_COLUMNS = [
  'id',
  'lane',
  'target',
  'state',
  'endpoint_id',
  'message_id',
  'request_id',
  'order_key',
  'ended',
  'attempts',
  'bytes',
  'detail',
  'log',
] as const
const INSERT = rowsStatement(
  NEW_COLUMNS,
  (rows) => sql`insert into deliveries (id, lane, target, state, endpoint_id, message_id, request_id, order_key, ended,
    attempts, bytes, detail, log) ${rows}`,
)
const INSERT_CONTENT = rowsStatement(
  ['id', 'request', 'body'],
  (rows) => sql`insert into delivery_contents (id, request, body) ${rows}`,
)
const TOTAL_COLUMNS = ['endpoint_id', 'request_id', 'target', 'state', 'slot', 'endpoint', 'count', 'bytes'] as const
const ADD_TOTALS = rowsStatement(
  TOTAL_COLUMNS,
  (
    rows,
  ) => sql`insert into delivery_totals (endpoint_id, request_id, target, state, slot, endpoint, count, bytes) ${rows}
    on conflict (endpoint_id, request_id, target, state, slot) do update set endpoint = excluded.endpoint,
    count = delivery_totals.count + excluded.count, bytes = delivery_totals.bytes + excluded.bytes`,
)
/** Replaces the older state of the endpoint with the same status and network error, as the stores of states do. */
const APPEND_STATE = sql<
  Readonly<{ endpointId: string }> & Pick<Tables['states'], 'lookup_status' | 'network_error' | 'state'>
>`
  insert into states (endpoint_id, lookup_status, network_error, sequence, state)
  select endpoints.id, cast(:lookup_status as integer), cast(:network_error as integer),
    ${nextStateSequence(sql`endpoints.id`)}, cast(:state as text)
  from endpoints where endpoints.id = :endpointId ${differing(sql``, sql`for key share`)}
  on conflict (endpoint_id, lookup_status, network_error) do update
  set sequence = excluded.sequence, state = excluded.state where states.sequence < excluded.sequence`

const SIZE = sql<Readonly<Record<never, never>>, { bytes: number | string | null }>`
  select sum(bytes) as bytes from delivery_totals`
const TOTALS = sql<Readonly<Record<never, never>>, CountRow>`
  select endpoint_id, request_id, target, state, max(endpoint) as endpoint, sum(count) as count, sum(bytes) as bytes
  from delivery_totals group by endpoint_id, request_id, target, state having sum(count) > 0
  order by endpoint_id, request_id, target, state`
const OLDEST = sql<Readonly<Record<never, never>>, { accepted: number | string }>`
  select accepted from deliveries where state = 'pending' order by sequence limit 1`
const TIME = sql<Readonly<Record<never, never>>, { now: number | string }>`select ${NOW} as now`

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
const SHOWN_FROM = sql`from deliveries left join delivery_lanes
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
    target = coalesce((select deliveries.target from deliveries where deliveries.lane = delivery_lanes.lane
      and state = 'pending' order by sequence limit 1), delivery_lanes.target)
  from ${given('rows')} where delivery_lanes.lane = ${textAt(0)}`
const DELETE_EMPTY = sql<Ids>`delete from delivery_lanes where depth = 0 and lane in ${AMONG_IDS}`
const DELETE_CONTENTS = sql<Ids>`delete from delivery_contents where id in ${AMONG_IDS}`
const SET_BODY = sql<Readonly<{ id: string; body: Uint8Array }>>`
  update delivery_contents set body = :body where id = :id`
const CONTENT = sql<Readonly<{ id: string }>, Pick<ContentRow, 'request' | 'body'>>`
  select request, body from delivery_contents where id = :id`
const GET = sql<Readonly<{ id: string }>, ShownRow>`${SELECT_SHOWN} ${SHOWN_FROM} where deliveries.id = :id`
const EXPIRED = sql<Readonly<{ ageMs: number; limit: number }>, Row>`
  select * from deliveries where state in ('delivered', 'cancelled') and ended > 0
    and ended < ${NOW} - cast(:ageMs as bigint) order by ended limit :limit ${SKIP_LOCKED}`
const DELETE = sql<Ids>`delete from deliveries where id in ${AMONG_IDS}`

/** How many rows of totals one kind has, where other processes write beside this one. */
const SLOTS = 16
/** How long the size that was read last serves, if the store is far from full. */
const SIZE_AGE_MS = 1_000
/** What one transaction accepts at most, unless a single message has more. */
const BATCH_DELIVERIES = 500
const BATCH_BYTES = 8 * 1024 * 1024

/** What a transaction makes of a delivery and of its lane. */
type Change = Readonly<{
  state: DeliveryState
  attempts?: number
  log?: string
  bytes?: number
  isRenewed?: boolean
}>
type LaneRelease = Readonly<{ lease: string; dueInMs: number }>
type Decision = Readonly<{ change?: Change; release?: LaneRelease }>

type Accepting = Readonly<{
  deliveries: readonly NewDelivery[]
  rows: readonly (Readonly<Record<(typeof NEW_COLUMNS)[number], string | number>> & ContentRow)[]
  bytes: number
  maxBytes: number
  state: StateRecord | undefined
  resolve(result: 'accepted' | 'full'): void
  reject(reason: unknown): void
}>

/** Builds the store over a database whose tables are up to date. */
export function compileDeliveryStore(database: Database): DeliveryStore {
  const slot = database.isEmbedded ? 0 : Math.floor(Math.random() * SLOTS)
  const queue: Accepting[] = []
  let isAccepting = false
  let claims = 0
  let knownBytes = 0
  let knownAt = Number.NEGATIVE_INFINITY

  /** The sum that was read last and what was accepted since, so that it is never less than what this process accepted. */
  async function hasRoom(bytes: number, maxBytes: number): Promise<boolean> {
    const isOld = performance.now() - knownAt > SIZE_AGE_MS
    if (isOld || knownBytes + bytes > maxBytes) {
      const [row] = await database.read(SIZE, {})
      knownBytes = Number(row?.bytes ?? 0)
      knownAt = performance.now()
    }
    if (knownBytes + bytes > maxBytes) return false
    knownBytes += bytes
    return true
  }

  async function acceptQueued(): Promise<void> {
    // Calls of the same iteration of the event loop belong to the first batch.
    await new Promise((resolve) => setImmediate(resolve))
    while (queue.length > 0) await acceptBatch(takeBatch(queue))
    isAccepting = false
  }

  /** All of them, or one by one where one of them is at fault. */
  async function acceptBatch(batch: readonly Accepting[]): Promise<void> {
    const fitting: Accepting[] = []
    try {
      for (const one of batch) {
        if (await hasRoom(one.bytes, one.maxBytes)) fitting.push(one)
        else one.resolve('full')
      }
      if (fitting.length === 0) return
      await database.transactionBeside(() => insertAll(fitting, slot), true)
      for (const { resolve } of fitting) resolve('accepted')
    } catch (thrown) {
      knownAt = Number.NEGATIVE_INFINITY
      const left = fitting.length === 0 ? batch : fitting
      if (left.length > 1 && !(thrown instanceof StoreUnavailable)) {
        for (const one of left) await acceptBatch([one])
        return
      }
      for (const { reject } of batch) reject(thrown)
    }
  }

  const changed = (ids: readonly string[], decide: (row: Row) => Decision | undefined, body?: RetryChange['body']) =>
    ids.length === 0 ? Promise.resolve([]) : database.transactionBeside(() => changeAll(ids, decide, slot, body))

  return {
    accept: (deliveries, maxBytes, state) =>
      new Promise((resolve, reject) => {
        const rows = deliveries.map(newRow)
        const bytes = sumOf(rows, (row) => row.bytes as number)
        queue.push({ deliveries, rows, bytes, maxBytes, state, resolve, reject })
        if (isAccepting) return
        isAccepting = true
        void acceptQueued()
      }),
    dueTargets: async (limit) => {
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
    claim: (owner, target, limit, leaseMs, triedBefore = 0) => {
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
    now: async () => Number((await database.read(TIME, {}))[0]?.now),
    renew: async (leases, leaseMs) => {
      if (leases.length === 0) return []
      return database.transactionBeside(function* () {
        const held = yield* step(HELD, { leases: JSON.stringify(leases.map(({ id, lease }) => [id, lease])) })
        if (held.length > 0) yield* step(RENEW, { ids: idsOf(held.map(({ lane }) => lane)), leaseMs })
        return held.map(({ id }) => id)
      })
    },
    end: (ends) => {
      const byId = new Map(ends.map((end) => [end.id, end]))
      return changed([...byId.keys()], (row) => decideEnd(row, byId.get(row.id) as AttemptEnd))
    },
    get: async (id) => (await database.read(GET, { id })).map(fromRow)[0],
    content: async (id) => (await database.read(CONTENT, { id })).map(contentOf)[0],
    list: async (filter, limit, before) => (await database.readOnce(compileList(filter, limit, before))).map(fromRow),
    totals: async () => {
      const counts = (await database.read(TOTALS, {})).map(countFromRow)
      const [oldest] = await database.read(OLDEST, {})
      return { counts, ...(oldest && { oldestAt: isoTime(oldest.accepted) }) }
    },
    retry: (ids, { body } = {}) => changed(ids, (row) => decideRetry(row, body), body),
    cancel: (ids) =>
      changed(ids, ({ state }) =>
        state === 'pending' || state === 'undeliverable'
          ? { change: { state: 'cancelled' }, ...(state === 'pending' && { release: { lease: '', dueInMs: 0 } }) }
          : undefined,
      ),
    purge: (ageMs, limit) =>
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

function takeBatch(queue: Accepting[]): readonly Accepting[] {
  let count = 0
  let bytes = 0
  const end = queue.findIndex((one) => {
    count += one.rows.length
    bytes += one.bytes
    return count > BATCH_DELIVERIES || bytes > BATCH_BYTES
  })
  return queue.splice(0, end === -1 ? queue.length : Math.max(1, end))
}

function* insertAll(batch: readonly Accepting[], slot: number): TransactionWork<void> {
  const rows = batch.flatMap((one) => one.rows)
  const depths = new Map<string, { lane: string; target: string; depth: number }>()
  const totals = new Totals(slot)
  for (const { deliveries, rows: own } of batch) {
    for (const [index, row] of own.entries()) {
      const { lane, target } = row as { lane: string; target: string }
      depths.set(lane, { lane, target: depths.get(lane)?.target ?? target, depth: (depths.get(lane)?.depth ?? 0) + 1 })
      const { endpointId, requestId, endpoint } = deliveries[index] as NewDelivery
      totals.add({ endpoint_id: endpointId, request_id: requestId, target }, endpoint, 'pending', 1, Number(row.bytes))
    }
  }
  yield* ADD_DEPTH([...depths.values()].sort(byText(({ lane }) => lane)))
  yield* INSERT(rows)
  yield* INSERT_CONTENT(rows)
  yield* totals.write()
  for (const [endpointId, state] of newestStates(batch)) yield* step(APPEND_STATE, { endpointId, ...stateRow(state) })
}

/** Of states with one key only the last would ever be read. Sorted as the stores of states sort them. */
function newestStates(batch: readonly Accepting[]): readonly (readonly [string, StateRecord])[] {
  const last = new Map<string, readonly [string, StateRecord]>()
  for (const { deliveries, state } of batch) {
    const endpointId = deliveries[0]?.endpointId
    if (state === undefined || endpointId === undefined) continue
    const key = `${endpointId} ${state.lookupStatus} ${state.networkError}`
    last.delete(key)
    last.set(key, [endpointId, state])
  }
  return [...last.values()].sort(byText(([endpointId]) => endpointId))
}

/** Changes deliveries and their lanes as `decide` says of each row. Gives the ids of those that it changed. */
function* changeAll(
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
function decideEnd(row: Row, { attempt, state, dueInMs = 0, lease }: AttemptEnd): Decision {
  const release = { lease, dueInMs: state === 'pending' ? dueInMs : 0 }
  if (row.state !== 'pending') return { release }
  const log = attempt && [...attemptsOf(row), attempt].slice(-MAX_KEPT_ATTEMPTS)
  return {
    change: { state, attempts: Number(row.attempts) + (attempt ? 1 : 0), ...(log && { log: JSON.stringify(log) }) },
    release,
  }
}

function decideRetry(row: Row, body: RetryChange['body']): Decision | undefined {
  if (row.state === 'delivered') return undefined
  const bytes = body === undefined ? {} : { bytes: requestBytes(row) + sizeOf(body) }
  const change: Change =
    row.state === 'pending'
      ? { state: 'pending', ...bytes }
      : { state: 'pending', attempts: 0, isRenewed: true, ...bytes }
  return { change, release: { lease: '', dueInMs: 0 } }
}

/** Changes of totals, written in one order. */
class Totals {
  readonly #slot: number
  readonly #rows = new Map<string, Record<(typeof TOTAL_COLUMNS)[number], string | number>>()

  constructor(slot: number) {
    this.#slot = slot
  }

  add(
    { endpoint_id, request_id, target }: Pick<Row, 'endpoint_id' | 'request_id' | 'target'>,
    endpoint: string,
    state: string,
    count: number,
    bytes: number,
  ): void {
    const key = JSON.stringify([endpoint_id, request_id, target, state])
    const before = this.#rows.get(key)
    this.#rows.set(key, {
      endpoint_id,
      request_id,
      target,
      state,
      slot: this.#slot,
      endpoint,
      count: Number(before?.count ?? 0) + count,
      bytes: Number(before?.bytes ?? 0) + bytes,
    })
  }

  *write(): TransactionWork<void> {
    const rows = [...this.#rows].filter(([, { count, bytes }]) => count !== 0 || bytes !== 0)
    yield* ADD_TOTALS(rows.sort(byText(([key]) => key)).map(([, row]) => row))
  }
}

const byText =
  <T>(textOf: (item: T) => string) =>
  (a: T, b: T): number =>
    textOf(a) < textOf(b) ? -1 : 1

const sumOf = <T>(items: readonly T[], numberOf: (item: T) => number): number =>
  items.reduce((sum, item) => sum + numberOf(item), 0)

/** An array of arrays with one text each. */
const idsOf = (ids: readonly string[]): string => JSON.stringify(ids.map((id) => [id]))

const isoTime = (ms: number | string): string => new Date(Number(ms)).toISOString()

const bytesOf = (body: string | Uint8Array): Uint8Array => (typeof body === 'string' ? Buffer.from(body) : body)

const sizeOf = (body: string | Uint8Array): number => (typeof body === 'string' ? Buffer.byteLength(body) : body.length)

function newRow(delivery: NewDelivery): Accepting['rows'][number] {
  const { id, messageId, endpointId, endpoint, requestId, item, target, orderKey, body } = delivery
  const request = JSON.stringify(delivery.request)
  const requestSize = Buffer.byteLength(request)
  const detail = {
    endpoint,
    ...(item !== undefined && { item }),
    ...(orderKey !== undefined && { orderKey }),
    requestSize,
  }
  return {
    id,
    lane: orderKey === undefined ? id : keyText(JSON.stringify([endpointId, requestId, orderKey])),
    target,
    state: 'pending',
    endpoint_id: endpointId,
    message_id: messageId,
    request_id: requestId,
    order_key: orderKey === undefined ? '' : keyText(orderKey),
    ended: 0,
    attempts: 0,
    bytes: requestSize + (body === undefined ? 0 : sizeOf(body)),
    detail: JSON.stringify(detail),
    log: '[]',
    request,
    body: body === undefined ? null : bytesOf(body),
  }
}

const detailOf = ({ detail }: Row): Detail & Readonly<{ requestSize: number }> => JSON.parse(detail)

const requestBytes = (row: Row): number => detailOf(row).requestSize

const attemptsOf = ({ log }: Row): readonly DeliveryAttempt[] => JSON.parse(log)

function fromRow(row: ShownRow): Delivery {
  const { requestSize: _, ...detail } = detailOf(row)
  return {
    id: row.id,
    messageId: row.message_id,
    endpointId: row.endpoint_id,
    requestId: row.request_id,
    target: row.target,
    ...detail,
    state: row.state as DeliveryState,
    acceptedAt: isoTime(row.accepted),
    since: isoTime(row.since),
    ...(Number(row.ended) > 0 && { endedAt: isoTime(row.ended) }),
    ...(row.due !== null && { dueAt: isoTime(row.due) }),
    attempts: Number(row.attempts),
    lastAttempts: attemptsOf(row),
    bytes: Number(row.bytes),
  }
}

const contentOf = ({ request, body }: Pick<ContentRow, 'request' | 'body'>) => ({
  request: JSON.parse(request) as DeliveryRequest,
  body: body ?? undefined,
})

const countFromRow = (row: CountRow): DeliveryCount => ({
  endpointId: row.endpoint_id,
  endpoint: row.endpoint,
  requestId: row.request_id,
  target: row.target,
  state: row.state as DeliveryState,
  count: Number(row.count),
  bytes: Number(row.bytes),
})

function compileList(filter: DeliveryFilter, limit: number, before: string | undefined): Sql<never, ShownRow> {
  const { id, state, endpointId, requestId, messageId, target, orderKey, fromMs, toMs } = filter
  const conditions = [
    id === undefined ? undefined : sql`deliveries.id = ${id}`,
    state === undefined ? undefined : sql`deliveries.state = ${state}`,
    endpointId === undefined ? undefined : sql`deliveries.endpoint_id = ${endpointId}`,
    requestId === undefined ? undefined : sql`deliveries.request_id = ${requestId}`,
    messageId === undefined ? undefined : sql`deliveries.message_id = ${messageId}`,
    target === undefined ? undefined : sql`deliveries.target = ${target}`,
    orderKey === undefined ? undefined : sql`deliveries.order_key = ${keyText(orderKey)}`,
    fromMs === undefined ? undefined : sql`deliveries.accepted >= cast(${fromMs} as bigint)`,
    toMs === undefined ? undefined : sql`deliveries.accepted < cast(${toMs} as bigint)`,
    before === undefined
      ? undefined
      : sql`deliveries.sequence < (select sequence from deliveries last where last.id = ${before})`,
  ].filter((condition) => condition !== undefined)
  return sql`${SELECT_SHOWN} ${SHOWN_FROM} ${where(conditions)} order by deliveries.sequence desc limit ${limit}`
}
