/** Accepting deliveries: what messages store at the same time shares one transaction. */
import type { NewDelivery } from '../../core/deliveries/delivery.ts'
import type { KeptAnswer } from '../../core/kept-answer.ts'
import type { RunLease } from '../../core/lease.ts'
import { StoreUnavailable } from '../store-access.ts'
import { type Database, insertStatement, step, type TransactionWork } from './database.ts'
import { ADD_DEPTH, byText, type NewRow, newRow, Totals } from './delivery-rows.ts'
import { keepAnswer } from './idempotency-store.ts'
import { assertLease } from './schedule-store.ts'
import type { Tables } from './schema.ts'
import { differing, type NoValues, nextStateSequence, sql } from './sql.ts'
import { type StateRecord, stateRow } from './states.ts'

const INSERT = insertStatement('deliveries', [
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
])
const INSERT_CONTENT = insertStatement('delivery_contents', ['id', 'request', 'body'])
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

const SIZE = sql<NoValues, { bytes: number | string | null }>`
  select sum(bytes) as bytes from delivery_totals`

/** How long the size that was read last serves, if the store is far from full. */
const SIZE_AGE_MS = 1_000
/** What one transaction accepts at most, unless a single message has more. */
const BATCH_DELIVERIES = 500
const BATCH_BYTES = 8 * 1024 * 1024

type Accepting = Readonly<{
  rows: readonly NewRow[]
  bytes: number
  maxBytes: number
  state: StateRecord | undefined
  answer: KeptAnswer | undefined
  lease: RunLease | undefined
  resolve(result: 'accepted' | 'full'): void
  reject(reason: unknown): void
}>

/**
 * Stores all of them, which are of one message, with its state and its answer, or nothing. 'full': they would take more than
 * `maxBytes` together with what is stored. Other processes may exceed it by what they accept within a second. Resolves when
 * they are durable. Rejects with ClaimLost if another message holds the key of the answer.
 */
type Accept = (
  deliveries: readonly NewDelivery[],
  maxBytes: number,
  state?: StateRecord,
  answer?: KeptAnswer,
  lease?: RunLease,
) => Promise<'accepted' | 'full'>

/** Builds `accept` of the store of deliveries. */
export function compileAccept(database: Database, slot: number): Accept {
  const queue: Accepting[] = []
  let isAccepting = false
  let knownBytes = 0
  let knownAt = Number.NEGATIVE_INFINITY

  /**
   * Against the sum that was read last and what was accepted since, so that it is never less than what this process accepted.
   * `fittingBytes`: of the batch so far, which is not stored yet.
   */
  async function hasRoom(bytes: number, maxBytes: number, fittingBytes: number): Promise<boolean> {
    const isOld = performance.now() - knownAt > SIZE_AGE_MS
    if (isOld || knownBytes + bytes > maxBytes) {
      const [row] = await database.read(SIZE, {})
      knownBytes = Number(row?.bytes ?? 0) + fittingBytes
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
    let fittingBytes = 0
    try {
      for (const one of batch) {
        if (await hasRoom(one.bytes, one.maxBytes, fittingBytes)) {
          fitting.push(one)
          fittingBytes += one.bytes
        } else one.resolve('full')
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

  return (deliveries, maxBytes, state, answer, lease) =>
    new Promise((resolve, reject) => {
      const rows = deliveries.map(newRow)
      const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
      queue.push({ rows, bytes, maxBytes, state, answer, lease, resolve, reject })
      if (isAccepting) return
      isAccepting = true
      void acceptQueued()
    })
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
  for (const row of rows) {
    const { lane, target, depth } = depths.get(row.lane) ?? { ...row, depth: 0 }
    depths.set(lane, { lane, target, depth: depth + 1 })
    totals.add(row, row.endpoint, row.state, 1, row.bytes)
  }
  yield* ADD_DEPTH([...depths.values()].sort(byText(({ lane }) => lane)))
  yield* INSERT(rows)
  yield* INSERT_CONTENT(rows)
  yield* totals.write()
  for (const [endpointId, state] of newestStates(batch)) yield* step(APPEND_STATE, { endpointId, ...stateRow(state) })
  for (const { answer } of batch) if (answer !== undefined) yield* keepAnswer(answer)
  for (const { lease } of batch) if (lease !== undefined) yield* assertLease(lease)
}

/** Of states with one key only the last would ever be read. Sorted as the stores of states sort them. */
function newestStates(batch: readonly Accepting[]): readonly (readonly [string, StateRecord])[] {
  const last = new Map<string, readonly [string, StateRecord]>()
  for (const { rows, state, lease } of batch) {
    const endpointId = rows[0]?.endpoint_id ?? lease?.endpointId
    if (state === undefined || endpointId === undefined) continue
    const key = `${endpointId} ${state.lookupStatus} ${state.networkError}`
    last.delete(key)
    last.set(key, [endpointId, state])
  }
  return [...last.values()].sort(byText(([endpointId]) => endpointId))
}
