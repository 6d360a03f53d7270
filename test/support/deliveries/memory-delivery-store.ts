/** A store of deliveries in memory, for tests of what people see and change: it gives nothing to send. */
import type { Delivery, DeliveryAttempt, DeliveryState, NewDelivery } from '../../../src/core/deliveries/delivery.ts'
import { timeFromId } from '../../../src/core/id.ts'
import type {
  DeliveryCount,
  DeliveryFilter,
  DeliveryStore,
  RetryChange,
} from '../../../src/store/sql/delivery-store.ts'

type Stored = { delivery: Delivery; content: Pick<NewDelivery, 'request' | 'body'> }

export type MemoryDeliveryStore = Pick<
  DeliveryStore,
  'accept' | 'get' | 'content' | 'list' | 'totals' | 'retry' | 'cancel'
> &
  Readonly<{
    /** As a sender leaves it. */
    leave(id: string, state: DeliveryState, attempts?: readonly DeliveryAttempt[]): void
  }>

export function createMemoryDeliveryStore(clock: () => number = Date.now): MemoryDeliveryStore {
  const stored = new Map<string, Stored>()
  const now = (): string => new Date(clock()).toISOString()

  const change = (ids: readonly string[], from: readonly DeliveryState[], to: DeliveryState, body?: RetryChange) =>
    ids.filter((id) => {
      const one = stored.get(id)
      if (one === undefined || !from.includes(one.delivery.state)) return false
      const { endedAt: _, ...delivery } = one.delivery
      one.delivery =
        to === 'pending' ? { ...delivery, state: to, attempts: 0 } : { ...delivery, state: to, endedAt: now() }
      if (body?.body !== undefined) one.content = { ...one.content, body: body.body }
      return true
    })

  return {
    accept: async (deliveries) => {
      for (const { request, body, ...names } of deliveries) {
        const times = { acceptedAt: now(), since: now() }
        const delivery = { ...names, ...times, state: 'pending', attempts: 0, lastAttempts: [] } as const
        stored.set(names.id, { delivery: { ...delivery, bytes: body?.length ?? 0 }, content: { request, body } })
      }
      return 'accepted'
    },
    get: async (id) => stored.get(id)?.delivery,
    content: async (id) => {
      const found = stored.get(id)
      if (found === undefined) return undefined
      const { request, body } = found.content
      return { request, body: body === undefined ? undefined : Buffer.from(body) }
    },
    list: async (filter, limit, before) =>
      [...stored.values()]
        .map(({ delivery }) => delivery)
        .filter((delivery) => matches(delivery, filter) && (before === undefined || delivery.id < before))
        .sort((one, other) => (one.id < other.id ? 1 : -1))
        .slice(0, limit),
    totals: async () => {
      const counts = new Map<string, DeliveryCount>()
      for (const { delivery } of stored.values()) {
        const { endpointId, endpoint, requestId, target, state, bytes } = delivery
        const key = JSON.stringify([endpointId, requestId, target, state])
        const known = counts.get(key) ?? { endpointId, endpoint, requestId, target, state, count: 0, bytes: 0 }
        counts.set(key, { ...known, count: known.count + 1, bytes: known.bytes + bytes })
      }
      const pending = [...stored.values()].filter(({ delivery }) => delivery.state === 'pending')
      const [oldestAt] = pending.map(({ delivery }) => delivery.acceptedAt).sort()
      return { counts: [...counts.values()], ...(oldestAt === undefined ? {} : { oldestAt }) }
    },
    retry: async (ids, body) => change(ids, ['pending', 'undeliverable', 'cancelled'], 'pending', body),
    cancel: async (ids) => change(ids, ['pending', 'undeliverable'], 'cancelled'),
    leave: (id, state, attempts = []) => {
      const found = stored.get(id)
      if (found === undefined) throw new Error(`There is no delivery ${id}.`)
      const ended = state === 'pending' ? {} : { endedAt: now() }
      found.delivery = { ...found.delivery, state, attempts: attempts.length, lastAttempts: attempts, ...ended }
    },
  }
}

const matches = (delivery: Delivery, { fromMs = 0, toMs = Infinity, ...names }: DeliveryFilter): boolean => {
  const at = timeFromId(delivery.id)
  return (
    at >= fromMs &&
    at < toMs &&
    Object.entries(names).every(([name, value]) => delivery[name as keyof typeof names] === value)
  )
}
