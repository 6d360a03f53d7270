/** Deliveries for people: found, counted, tried again and cancelled, one by one or by filter. */
import { DELIVERY_ACTS, type Delivery, type DeliveryAct, type DeliveryState } from '../core/deliveries/delivery.ts'
import { Failure } from '../core/failure.ts'
import { isId } from '../core/id.ts'
import { type Json, omitUndefined } from '../core/json.ts'
import { cutPage, readCursor } from '../core/records/cursor.ts'
import type { MessageRecord } from '../core/records/message-record.ts'
import { type Clock, callKey, type Delivered } from '../core/run.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import { CODECS, codecForHeader } from '../formats/codecs.ts'
import { invalid } from '../records/message-log/message-filter.ts'
import type { MessageRecords } from '../records/replay/message-records.ts'
import { listDelivered } from '../records/replay/replay.ts'
import type { RetryChange } from '../store/sql/delivery-changes.ts'
import type { DeliveryFilter, DeliveryStore } from '../store/sql/delivery-store.ts'
import { callStore } from '../store/store-access.ts'
import { DELIVERY_FILTERS, type DeliveryQuery, readDeliveryFilter } from './delivery-filter.ts'
import { groupUndeliverable } from './delivery-groups.ts'
import type { ChangedDeliveries, DeliveryDetail, RetriedDelivery } from './delivery-schemas.ts'
import { createDeliveryViews, type DeliveryViewSettings } from './delivery-views.ts'

export const DEFAULT_LIMIT = 50
export const MAX_LIMIT = 500
/** Ids that its answer names. */
const MAX_SHOWN_IDS = 1_000
/** Of the undeliverable ones, the newest are grouped. */
export const MAX_GROUPED = 5_000
const PAGE = 500

type DeliveryServiceOptions = Readonly<{
  store: DeliveryStore
  registry: Pick<Registry, 'get' | 'all'>
  records: Pick<MessageRecords, 'replayByHand'> & Readonly<{ search: Pick<MessageRecords['search'], 'get'> }>
  settings: DeliveryViewSettings
  clock: Clock
}>

export type DeliveryService = ReturnType<typeof createDeliveryService>

/** Every call fails with FILTER_INVALID, ID_MALFORMED, DELIVERY_UNKNOWN or STORE_UNAVAILABLE. */
export function createDeliveryService({ store, registry, records, settings, clock }: DeliveryServiceOptions) {
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
  async function* pages(wanted: DeliveryFilter, limit = Number.POSITIVE_INFINITY): AsyncGenerator<readonly Delivery[]> {
    let before: string | undefined
    for (let left = limit; left > 0; left -= PAGE) {
      const size = Math.min(PAGE, left)
      const page = await callDeliveries(() => store.list(wanted, size, before))
      yield page
      before = page.at(-1)?.id
      if (page.length < size) return
    }
  }

  async function* each(wanted: DeliveryFilter, limit?: number): AsyncGenerator<Delivery> {
    for await (const page of pages(wanted, limit)) yield* page
  }

  /**
   * Sends it again, as it was or with another body: a text as it is, any other value as JSON. Fails with DELIVERY_ENDED and
   * DELIVERY_RETRY_INVALID too.
   */
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
  async function sentBeside({ id, messageId }: Delivery, record: MessageRecord): Promise<Delivered> {
    const sent = listDelivered(record)
    let own: string | undefined
    for await (const other of each({ messageId })) {
      const key = callKey(other.requestId, other.item)
      if (other.id === id) own = key
      else sent.set(key, true)
    }
    if (own !== undefined) sent.delete(own)
    return sent
  }

  /**
   * Runs its message through the document of today, which sends nothing else that the message has sent before, and cancels
   * the delivery if the message succeeded. `body`: in place of that of the message. Fails as replays do, and with
   * DELIVERY_ENDED and REPLAY_REFUSED.
   */
  async function replay(id: string, body?: Json): Promise<RetriedDelivery> {
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
    const ran = { replay: omitUndefined({ id: messageId, outcome, code: code || undefined, error: failure?.message }) }
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

  /** Fails with DELIVERY_ENDED too. */
  async function cancel(id: string): Promise<DeliveryDetail> {
    const changed = isId(id) ? await callDeliveries(() => store.cancel([id])) : []
    if (changed.length === 0) refuseUnchanged(await find(id))
    return detail(id)
  }

  /**
   * Changes those that match, `max` at most, in the state of DELIVERY_ACTS unless the query has one. It goes page by page: what
   * a page changed stays changed if a later one fails. Out: the first ids; `more`: whether others that match were left.
   */
  async function changeAll(act: DeliveryAct, query: DeliveryQuery, max: number): Promise<ChangedDeliveries> {
    const { state = DELIVERY_ACTS[act] } = query
    const refusal = REFUSED_STATES[act][state]
    if (refusal !== undefined) throw invalid(refusal)
    if (Object.keys(query).length === 0) {
      const names = Object.keys(DELIVERY_FILTERS).join(', ')
      throw invalid(`Give a filter, such as { "state": "${state}" } for all of them. There are: ${names}.`)
    }
    const changed: ChangedDeliveries = { count: 0, ids: [], more: false }
    let left = max
    for await (const page of pages(filter({ ...query, state }), max + 1)) {
      const asked = page.slice(0, left).map(({ id }) => id)
      left -= asked.length
      changed.more = asked.length < page.length
      if (asked.length === 0) continue
      const done = new Set(await callDeliveries(() => store[act](asked)))
      changed.count += done.size
      changed.ids.push(...asked.filter((id) => done.has(id)).slice(0, MAX_SHOWN_IDS - changed.ids.length))
    }
    return changed
  }

  return {
    /** Newest first. `next`: the cursor of the next page, if there is one. */
    list: async ({ limit = DEFAULT_LIMIT, cursor, ...query }: DeliveryQuery & Page) => {
      const found = await callDeliveries(() => store.list(filter(query), limit + 1, readCursor(cursor)))
      const { page, ...next } = cutPage(found, limit)
      return { deliveries: page.map(views.list), ...next }
    },
    counts: () => callDeliveries(() => store.totals()),
    /** Of the undeliverable ones that match. `more`: there are older ones that are not counted. */
    groups: async ({ state = 'undeliverable', ...query }: DeliveryQuery) => {
      if (state !== 'undeliverable') throw invalid('Groups have undeliverable deliveries alone; leave state out.')
      const wanted = filter({ state, ...query })
      const grouped = await groupUndeliverable(each(wanted, MAX_GROUPED))
      return { ...grouped, more: grouped.count === MAX_GROUPED }
    },
    get: detail,
    /** In the order in which the message made them. */
    ofMessage: async (endpointId: string, messageId: string) => {
      for (const id of [endpointId, messageId]) refuseMalformed(id)
      const found = await Array.fromAsync(each({ endpointId, messageId }), views.forSender)
      if (found.length > 0) return { messageId, deliveries: found.reverse() }
      throw new Failure(
        'DELIVERY_UNKNOWN',
        `The message '${messageId}' has no deliveries of the endpoint '${endpointId}': it left none, or they have ended and were removed since (DELIVERY_KEEP).`,
      )
    },
    /** What is sent. Fails with DELIVERY_ENDED too, if it is not kept any more. */
    content: async (id: string) => {
      const delivery = await find(id)
      const content = await callDeliveries(() => store.content(id))
      if (content !== undefined) return views.content(delivery, content)
      throw new Failure('DELIVERY_ENDED', `What the delivery '${id}' sends is not kept any more: it has ended.`)
    },
    retry,
    replay,
    cancel,
    changeAll,
  }
}

type Page = Readonly<{ limit?: number; cursor?: string }>

const REFUSED_STATES: Readonly<Record<DeliveryAct, Partial<Record<DeliveryState, string>>>> = {
  retry: { delivered: 'What was delivered is not sent again; replay its messages.' },
  cancel: {
    delivered: 'What is delivered cannot be cancelled; state is pending or undeliverable.',
    cancelled: 'What is cancelled cannot be cancelled; state is pending or undeliverable.',
  },
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
