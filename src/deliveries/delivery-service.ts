/** Deliveries for people: found, counted, tried again and cancelled, one by one or by filter. */
import { DELIVERY_ACTS, type Delivery, type DeliveryAct } from '../core/deliveries/delivery.ts'
import { Failure } from '../core/failure.ts'
import { isId } from '../core/id.ts'
import type { Json } from '../core/json.ts'
import { cutPage, readCursor } from '../core/records/cursor.ts'
import type { MessageRecord, RecordedOutcome } from '../core/records/message-record.ts'
import { type Clock, callKey, type Delivered } from '../core/run.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import { CODECS, codecForHeader } from '../formats/codecs.ts'
import { invalid } from '../records/message-log/message-filter.ts'
import type { MessageRecords } from '../records/replay/message-records.ts'
import type { RetryChange } from '../store/sql/delivery-changes.ts'
import type { DeliveryFilter, DeliveryStore } from '../store/sql/delivery-store.ts'
import { callStore } from '../store/store-access.ts'
import { DELIVERY_FILTERS, type DeliveryQuery, readDeliveryFilter } from './delivery-filter.ts'
import { type DeliveryGroup, groupUndeliverable } from './delivery-groups.ts'
import {
  createDeliveryViews,
  type DeliveryDetail,
  type DeliveryView,
  type DeliveryViewSettings,
  type OutgoingContent,
  type SenderView,
} from './delivery-views.ts'

export const DEFAULT_LIMIT = 50
export const MAX_LIMIT = 500
/** Ids that its answer names. */
const MAX_SHOWN_IDS = 1_000
/** Of the undeliverable ones, the newest are grouped. */
export const MAX_GROUPED = 5_000
const PAGE = 500

/** `replay`: of a delivery that was made anew by the document of today. */
export type Retried = DeliveryDetail &
  Readonly<{
    replay?: Readonly<{ id: string; outcome: RecordedOutcome; code?: string; error?: string }>
    /** One sentence, if the message ran again but the old delivery could not be cancelled. */
    warning?: string
  }>

/** `ids`: the first ones. `more`: others that match were left, as the call changes at most `max`. */
export type Changed = Readonly<{ count: number; ids: readonly string[]; more: boolean }>

/** Fails with FILTER_INVALID, ID_MALFORMED, DELIVERY_UNKNOWN, STORE_UNAVAILABLE. */
export interface DeliveryService {
  /** Newest first. `next`: the cursor of the next page, if there is one. */
  list(
    query: DeliveryQuery & Readonly<{ limit?: number; cursor?: string }>,
  ): Promise<Readonly<{ deliveries: readonly DeliveryView[]; next?: string }>>
  counts(): ReturnType<DeliveryStore['totals']>
  /** Of the undeliverable ones that match. `more`: there are older ones that are not counted. */
  groups(query: DeliveryQuery): Promise<Readonly<{ groups: readonly DeliveryGroup[]; count: number; more: boolean }>>
  get(id: string): Promise<DeliveryDetail>
  /** In the order in which the message made them. */
  ofMessage(
    endpointId: string,
    messageId: string,
  ): Promise<Readonly<{ messageId: string; deliveries: readonly SenderView[] }>>
  /** What is sent. Fails with DELIVERY_ENDED too, if it is not kept any more. */
  content(id: string): Promise<OutgoingContent>
  /**
   * Sends it again, as it was or with another body: a text as it is, any other value as JSON. Fails with DELIVERY_ENDED and
   * DELIVERY_RETRY_INVALID too.
   */
  retry(id: string, body?: Json): Promise<DeliveryDetail>
  /**
   * Runs its message through the document of today, which sends nothing else that the message has sent before, and cancels
   * the delivery if the message succeeded. `body`: in place of that of the message. Fails as replays do, and with
   * DELIVERY_ENDED and REPLAY_REFUSED.
   */
  replay(id: string, body?: Json): Promise<Retried>
  /** Fails with DELIVERY_ENDED too. */
  cancel(id: string): Promise<DeliveryDetail>
  /** Those that match; the undeliverable ones unless the query has a state. */
  retryAll(query: DeliveryQuery, max: number): Promise<Changed>
  /** Those that match; the pending ones unless the query has a state. */
  cancelAll(query: DeliveryQuery, max: number): Promise<Changed>
}

type DeliveryServiceOptions = Readonly<{
  store: DeliveryStore
  registry: Pick<Registry, 'get' | 'all'>
  records: Pick<MessageRecords, 'replayByHand'> & Readonly<{ search: Pick<MessageRecords['search'], 'get'> }>
  settings: DeliveryViewSettings
  clock: Clock
}>

export function createDeliveryService(options: DeliveryServiceOptions): DeliveryService {
  const { store, registry, records, settings, clock } = options
  const views = createDeliveryViews(settings, registry)

  const filter = (query: DeliveryQuery): DeliveryFilter =>
    readDeliveryFilter(query, { endpoints: registry.all().map(({ document }) => document), nowMs: clock() })

  async function find(id: string): Promise<Delivery> {
    refuseMalformed(id)
    const delivery = await callDeliveries(() => store.get(id))
    if (delivery !== undefined) return delivery
    throw new Failure(
      'DELIVERY_UNKNOWN',
      `There is no delivery '${id}': it was never stored, or it has ended and was removed since (DELIVERY_KEEP).`,
    )
  }

  async function detail(id: string): Promise<DeliveryDetail> {
    const delivery = await find(id)
    return views.detail(delivery, await callDeliveries(() => store.content(id)))
  }

  /** Newest first, `limit` at most. */
  async function* each(wanted: DeliveryFilter, limit = Number.POSITIVE_INFINITY): AsyncGenerator<Delivery> {
    let before: string | undefined
    for (let left = limit; left > 0; left -= PAGE) {
      const size = Math.min(PAGE, left)
      const page = await callDeliveries(() => store.list(wanted, size, before))
      yield* page
      before = page.at(-1)?.id
      if (page.length < size) return
    }
  }

  async function retry(id: string, body?: Json): Promise<DeliveryDetail> {
    const delivery = await find(id)
    refuseDelivered(delivery)
    const change = body === undefined ? undefined : await readBody(id, body)
    const changed = await callDeliveries(() => store.retry([id], change))
    // It may have ended meanwhile.
    if (changed.length === 0) refuseUnchanged(await find(id))
    return detail(id)
  }

  async function readBody(id: string, body: Json): Promise<RetryChange> {
    const content = await callDeliveries(() => store.content(id))
    const contentType = content?.request.contentType
    if (contentType === undefined) throw retryInvalid('The request of this delivery has no body; leave "body" out.')
    if (typeof body === 'string') return { body }
    if (codecForHeader(contentType) === CODECS.json) return { body: JSON.stringify(body) }
    throw retryInvalid(`The body of this delivery is ${contentType}: give "body" as a text.`)
  }

  /** What the message has sent, or has other deliveries of. */
  async function sentBeside({ id, messageId }: Delivery, { calls, notMade = [] }: MessageRecord): Promise<Delivered> {
    const sent = new Map<string, number | true>()
    for (const { kind, id: request, item, status } of calls) {
      if (kind === 'response' && status !== undefined) sent.set(callKey(request, item), status)
    }
    for (const { why, id: request, item } of notMade) {
      if (why === 'delivered') sent.set(callKey(request, item), true)
    }
    let own: string | undefined
    for await (const other of each({ messageId })) {
      const key = callKey(other.requestId, other.item)
      if (other.id === id) own = key
      else sent.set(key, true)
    }
    if (own !== undefined) sent.delete(own)
    return sent
  }

  async function replay(id: string, body?: Json): Promise<Retried> {
    const delivery = await find(id)
    refuseDelivered(delivery)
    const record = await records.search.get(delivery.messageId)
    const edited = body === undefined ? undefined : { body: Buffer.from(bodyText(body)), headers: {} }
    const { replayed } = await records.replayByHand(record, {
      edited,
      delivered: await sentBeside(delivery, record),
    })
    if ('blocker' in replayed) {
      const sentence = `The message '${record.id}' of the delivery cannot be replayed. ${replayed.blocker.error}`
      throw new Failure('REPLAY_REFUSED', sentence)
    }
    const { messageId, outcome, code, failure } = replayed.completed
    const ran = {
      replay: {
        id: messageId,
        outcome,
        ...(code === '' ? {} : { code }),
        ...(failure === undefined ? {} : { error: failure.message }),
      },
    }
    if (outcome !== 'done' && outcome !== 'partial') return { ...(await detail(id)), ...ran }
    try {
      await callDeliveries(() => store.cancel([id]))
      return { ...(await detail(id)), ...ran }
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      // A failure would make the caller repeat the replay.
      const warning = `The message ran again, but the delivery '${id}' may not be cancelled: ${thrown.message}`
      return { ...views.detail(delivery, undefined), ...ran, warning }
    }
  }

  async function cancel(id: string): Promise<DeliveryDetail> {
    const changed = isId(id) ? await callDeliveries(() => store.cancel([id])) : []
    if (changed.length === 0) refuseUnchanged(await find(id))
    return detail(id)
  }

  /** Changes page by page: what a page changed stays changed if a later one fails. */
  async function changeAll(query: DeliveryQuery, max: number, act: DeliveryAct): Promise<Changed> {
    const state = DELIVERY_ACTS[act]
    if (Object.keys(query).length === 0) {
      const names = Object.keys(DELIVERY_FILTERS).join(', ')
      throw invalid(`Give a filter, such as { "state": "${state}" } for all of them. There are: ${names}.`)
    }
    const wanted = filter({ state, ...query })
    const ids: string[] = []
    let count = 0
    let before: string | undefined
    for (;;) {
      const size = Math.min(PAGE, max - count + 1)
      const page = await callDeliveries(() => store.list(wanted, size, before))
      const taken = page.slice(0, max - count)
      const asked = taken.map(({ id }) => id)
      const done = new Set(asked.length === 0 ? [] : await callDeliveries(() => store[act](asked)))
      const changed = asked.filter((id) => done.has(id))
      count += changed.length
      ids.push(...changed.slice(0, MAX_SHOWN_IDS - ids.length))
      if (taken.length < page.length) return { count, ids, more: true }
      before = page.at(-1)?.id
      if (page.length < size) return { count, ids, more: false }
    }
  }

  return {
    list: async ({ limit = DEFAULT_LIMIT, cursor, ...query }) => {
      const found = await callDeliveries(() => store.list(filter(query), limit + 1, readCursor(cursor)))
      const { page, ...next } = cutPage(found, limit)
      return { deliveries: page.map(views.list), ...next }
    },
    counts: () => callDeliveries(() => store.totals()),
    groups: async ({ state = 'undeliverable', ...query }) => {
      if (state !== 'undeliverable') throw invalid('Groups have undeliverable deliveries alone; leave state out.')
      const wanted = filter({ state, ...query })
      const grouped = await groupUndeliverable(each(wanted, MAX_GROUPED))
      return { ...grouped, more: grouped.count === MAX_GROUPED }
    },
    get: detail,
    ofMessage: async (endpointId, messageId) => {
      for (const id of [endpointId, messageId]) refuseMalformed(id)
      const found = await Array.fromAsync(each({ endpointId, messageId }), views.forSender)
      if (found.length > 0) return { messageId, deliveries: found.reverse() }
      throw new Failure(
        'DELIVERY_UNKNOWN',
        `The message '${messageId}' has no deliveries of the endpoint '${endpointId}': it left none, or they have ended and were removed since (DELIVERY_KEEP).`,
      )
    },
    content: async (id) => {
      const delivery = await find(id)
      const content = await callDeliveries(() => store.content(id))
      if (content !== undefined) return views.content(delivery, content)
      throw new Failure('DELIVERY_ENDED', `What the delivery '${id}' sends is not kept any more: it has ended.`)
    },
    retry,
    replay,
    cancel,
    retryAll: async (query, max) => {
      if (query.state === 'delivered') throw invalid('What was delivered is not sent again; replay its messages.')
      return changeAll(query, max, 'retry')
    },
    cancelAll: async (query, max) => {
      if (query.state === 'delivered' || query.state === 'cancelled') {
        throw invalid(`What is ${query.state} cannot be cancelled; state is pending or undeliverable.`)
      }
      return changeAll(query, max, 'cancel')
    },
  }
}

const bodyText = (body: Json): string => (typeof body === 'string' ? body : JSON.stringify(body))

const callDeliveries = <T>(work: () => Promise<T>): Promise<T> => callStore('The store of deliveries', work)

const retryInvalid = (sentence: string): Failure => new Failure('DELIVERY_RETRY_INVALID', sentence)

function refuseMalformed(id: string): void {
  if (!isId(id)) throw new Failure('ID_MALFORMED', `'${id}' is not an ID: 24 lower-case hexadecimal digits.`)
}

function refuseDelivered(delivery: Delivery): void {
  if (delivery.state === 'delivered') refuseUnchanged(delivery)
}

function refuseUnchanged({ id, state, endedAt }: Delivery): never {
  const sentences = {
    delivered: `The delivery '${id}' has arrived (${endedAt}). To send its message again, replay the message.`,
    cancelled: `The delivery '${id}' is cancelled already (${endedAt}).`,
    pending: `The delivery '${id}' has changed at this moment; try again.`,
    undeliverable: `The delivery '${id}' has changed at this moment; try again.`,
  }
  throw new Failure('DELIVERY_ENDED', sentences[state])
}
