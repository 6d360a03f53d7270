/** The acceptance of deliveries: calls that wait at the same time share one transaction. */
import type { NewDelivery } from '../../core/deliveries/delivery.ts'
import { StoreUnavailable } from '../store-access.ts'
import { type Database, rowsStatement, step, type TransactionWork } from './database.ts'
import { addLanes, compareTexts, createTotals, detailOf, kindOf, laneOf, orderKeyText } from './delivery-rows.ts'
import { keyText, type Tables } from './schema.ts'
import { elements, NOW, type NoValues, sql } from './sql.ts'
import { APPEND_STATE, appendStates, newestByKey, type StateItem, type StateRecord, stateRow } from './states.ts'

type NewRow = Omit<Tables['deliveries'], 'sequence' | 'accepted_at' | 'ended_at' | 'attempts' | 'log' | 'state'>
type Prepared = Readonly<{ row: NewRow; request: string; body: Uint8Array | null }>
type Accepted = 'accepted' | 'full'

type Call = Readonly<{
  deliveries: readonly Prepared[]
  bytes: number
  maxBytes: number
  state: StateItem | undefined
  resolve(result: Accepted): void
  reject(reason: unknown): void
}>

/** A statement is one message to the server, and held in memory as a whole. */
const MAX_BATCH_BYTES = 4_000_000
const MAX_BATCH_CALLS = 256

const USED = sql<NoValues, { bytes: number | string }>`select coalesce(sum(bytes), 0) as bytes from delivery_totals`

const addDeliveries = rowsStatement<keyof NewRow>(
  ['id', 'lane', 'kind', 'target', 'endpoint_id', 'message_id', 'request_id', 'order_key', 'detail', 'bytes'],
  (rows) => sql`
    insert into deliveries (id, lane, kind, target, endpoint_id, message_id, request_id, order_key, detail, bytes, state,
      accepted_at, ended_at, attempts, log)
    select column1, column2, column3, column4, column5, column6, column7, column8, column9, cast(column10 as integer),
      'pending', ${NOW}, 0, 0, '[]' from (${rows}) as item`,
)

const addContents = rowsStatement(
  ['id', 'request', 'body'],
  (rows) => sql`insert into delivery_contents (id, request, body) ${rows}`,
)

const APPEND_STATES = appendStates<Readonly<{ states: string }>>(sql`
  select element.value ->> 0 as endpoint_id, cast(element.value ->> 1 as integer) as lookup_status,
    cast(element.value ->> 2 as integer) as network_error, element.value ->> 3 as state
  from ${elements(sql`:states`)} as element`)

export const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : content

function prepare(delivery: NewDelivery): Prepared {
  const request = JSON.stringify(delivery.request)
  const body = delivery.body === undefined ? null : bytesOf(delivery.body)
  const row = {
    id: delivery.id,
    lane: laneOf(delivery),
    kind: kindOf(delivery),
    target: keyText(delivery.target),
    endpoint_id: delivery.endpointId,
    message_id: delivery.messageId,
    request_id: keyText(delivery.requestId),
    order_key: orderKeyText(delivery.orderKey),
    detail: detailOf(delivery),
    bytes: Buffer.byteLength(request) + (body?.byteLength ?? 0),
  }
  return { row, request, body }
}

/** Splits items into parts of a limited size, in their order. A single item may be larger. */
function parts<Item>(items: readonly Item[], sizeOf: (item: Item) => number): readonly (readonly Item[])[] {
  const all: Item[][] = []
  let size = 0
  for (const item of items) {
    const last = all.at(-1)
    size += sizeOf(item)
    if (last === undefined || size > MAX_BATCH_BYTES) {
      all.push([item])
      size = sizeOf(item)
    } else last.push(item)
  }
  return all
}

/** Builds `DeliveryStore.accept`. */
export function compileAccept(database: Database) {
  let queue: Call[] = []
  let isRunning = false

  function* writeStates(items: readonly StateItem[]): TransactionWork<void> {
    const newest = newestByKey(items)
    if (!database.isEmbedded && newest.length > 0) {
      const rows = newest.map((item) => [item.endpointId, item.lookup_status, item.network_error, item.state])
      yield* step(APPEND_STATES, { states: JSON.stringify(rows) })
      return
    }
    for (const { endpointId, lookup_status: lookupStatus, network_error: networkError, state } of newest)
      if (database.isEmbedded) yield* step(APPEND_STATE, { endpointId, lookupStatus, networkError, state })
  }

  function* writeCalls(calls: readonly Call[]): TransactionWork<readonly Accepted[]> {
    const [total] = yield* step(USED, {})
    let used = Number(total?.bytes)
    const results = calls.map(({ bytes, maxBytes }): Accepted => {
      if (bytes > 0 && used + bytes > maxBytes) return 'full'
      used += bytes
      return 'accepted'
    })
    const accepted = calls.filter((_, index) => results[index] === 'accepted')
    const deliveries = accepted.flatMap((call) => call.deliveries)
    const lanes = new Map<string, { lane: string; target: string; depth: number }>()
    const totals = createTotals()
    for (const { row } of deliveries) {
      const known = lanes.get(row.lane)
      lanes.set(row.lane, { lane: row.lane, target: row.target, depth: (known?.depth ?? 0) + 1 })
      totals.add(row, 'pending', row.bytes, 1)
    }
    yield* addLanes([...lanes.values()].toSorted((a, b) => compareTexts(a.lane, b.lane)))
    yield* addDeliveries(deliveries.map(({ row }) => row))
    for (const part of parts(deliveries, ({ row }) => row.bytes))
      yield* addContents(part.map(({ row, request, body }) => ({ id: row.id, request, body })))
    yield* totals.write()
    yield* writeStates(accepted.flatMap(({ state }) => (state === undefined ? [] : [state])))
    return results
  }

  /** All of them, or one by one where one of them is at fault. */
  async function writeBatch(calls: readonly Call[]): Promise<void> {
    try {
      const results = await database.transactionBeside(() => writeCalls(calls), 'message')
      calls.forEach((call, index) => {
        call.resolve(results[index] ?? 'accepted')
      })
    } catch (thrown) {
      const mayDivide = calls.length > 1 && !(thrown instanceof StoreUnavailable)
      if (mayDivide) for (const call of calls) await writeBatch([call])
      else for (const { reject } of calls) reject(thrown)
    }
  }

  async function writeAll(): Promise<void> {
    // Calls of the same iteration of the event loop belong to the first batch.
    await new Promise((resolve) => setImmediate(resolve))
    while (queue.length > 0) {
      const [batch = []] = parts(queue.slice(0, MAX_BATCH_CALLS), ({ bytes }) => bytes)
      queue = queue.slice(batch.length)
      await writeBatch(batch)
    }
    isRunning = false
  }

  return async (deliveries: readonly NewDelivery[], maxBytes: number, state?: StateRecord): Promise<Accepted> => {
    const [first] = deliveries
    if (first === undefined) throw new RangeError('There is no delivery to accept.')
    const prepared = deliveries.map(prepare)
    const item = state && { endpointId: first.endpointId, ...stateRow(state) }
    const bytes = prepared.reduce((sum, { row }) => sum + row.bytes, 0)
    return new Promise((resolve, reject) => {
      queue.push({ deliveries: prepared, bytes, maxBytes, state: item, resolve, reject })
      if (!isRunning) void writeAll()
      isRunning = true
    })
  }
}
