/** Rows of deliveries: how they are written, read and counted. */
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryRequest,
  DeliveryState,
  NewDelivery,
} from '../../core/deliveries/delivery.ts'
import { insertStatement, type TransactionWork } from './database.ts'
import { keyText, type Tables } from './schema.ts'
import { elements, type Fragment, named, raw, sql } from './sql.ts'

export type Row = Readonly<{
  [Column in keyof Tables['deliveries']]: Tables['deliveries'][Column] extends number ? number | string : string
}>
export type ShownRow = Row & Readonly<{ due: number | string | null }>
export type ContentRow = Tables['delivery_contents']
type Detail = Pick<Delivery, 'endpoint' | 'item' | 'orderKey'>
export type Ids = Readonly<{ ids: string }>

/** The rows of a JSON array of arrays, named `element`. */
export const given = (name: string): Fragment => sql`${elements(named(name))} as element`
export const AMONG_IDS = sql`(select element.value ->> 0 from ${given('ids')})`
export const textAt = (index: number): Fragment => raw(`(element.value ->> ${index})`)
export const numberAt = (index: number): Fragment => raw(`cast(element.value ->> ${index} as bigint)`)

export const ADD_DEPTH = insertStatement(
  'delivery_lanes',
  ['lane', 'target', 'depth'],
  sql`on conflict (lane) do update set depth = delivery_lanes.depth + excluded.depth`,
)

const TOTAL_COLUMNS = ['endpoint_id', 'request_id', 'target', 'state', 'slot', 'endpoint', 'count', 'bytes'] as const
const ADD_TOTALS = insertStatement(
  'delivery_totals',
  TOTAL_COLUMNS,
  sql`on conflict (endpoint_id, request_id, target, state, slot) do update set endpoint = excluded.endpoint,
    count = delivery_totals.count + excluded.count, bytes = delivery_totals.bytes + excluded.bytes`,
)

/** Changes of totals, written in one order. */
export class Totals {
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

export const byText =
  <T>(textOf: (item: T) => string) =>
  (a: T, b: T): number =>
    textOf(a) < textOf(b) ? -1 : 1

/** An array of arrays with one text each. */
export const idsOf = (ids: readonly string[]): string => JSON.stringify(ids.map((id) => [id]))

export const isoTime = (ms: number | string): string => new Date(Number(ms)).toISOString()

export const bytesOf = (body: string | Uint8Array): Uint8Array => (typeof body === 'string' ? Buffer.from(body) : body)

export const sizeOf = (body: string | Uint8Array): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.length

export type NewRow = ReturnType<typeof newRow>

export function newRow(delivery: NewDelivery) {
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
    state: 'pending' as const,
    endpoint,
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

export const detailOf = ({ detail }: Row): Detail & Readonly<{ requestSize: number }> => JSON.parse(detail)

export const attemptsOf = ({ log }: Row): readonly DeliveryAttempt[] => JSON.parse(log)

export function fromRow(row: ShownRow): Delivery {
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

export const contentOf = ({ request, body }: Pick<ContentRow, 'request' | 'body'>) => ({
  request: JSON.parse(request) as DeliveryRequest,
  body: body ?? undefined,
})
