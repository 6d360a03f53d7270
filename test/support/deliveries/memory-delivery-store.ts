/** Deliveries in memory, on a clock of the test: what a sender needs of a store. */
import {
  type ClaimedDelivery,
  type Delivery,
  type DeliveryRequest,
  type DeliveryState,
  isMade,
} from '../../../src/core/deliveries/delivery.ts'
import type { DeliveryStore } from '../../../src/store/sql/delivery-store.ts'

type Stored = { delivery: Delivery; request: DeliveryRequest; laneOf: string }
type Lane = { due: number; lease: string; tried: number }

export type MemoryDeliveryStore = Pick<DeliveryStore, 'dueTargets' | 'claim' | 'now' | 'renew' | 'end'> &
  Readonly<{
    add(delivery: Pick<Delivery, 'id' | 'target' | 'orderKey'>, request: DeliveryRequest): void
    get(id: string): Delivery
    inState(state: DeliveryState): number
    /** Each call rejects with it while it is set. */
    fault: { error: Error | undefined }
  }>

export function memoryDeliveryStore(nowMs: () => number): MemoryDeliveryStore {
  const stored = new Map<string, Stored>()
  const lanes = new Map<string, Lane>()
  let claims = 0
  const fault: { error: Error | undefined } = { error: undefined }
  const call = async <T>(work: () => T): Promise<T> => {
    if (fault.error !== undefined) throw fault.error
    return work()
  }
  const heads = (): readonly (readonly [Stored, Lane])[] => {
    const seen = new Set<string>()
    return [...stored.values()].flatMap((one) => {
      if (one.delivery.state !== 'pending' || seen.has(one.laneOf)) return []
      seen.add(one.laneOf)
      return [[one, lanes.get(one.laneOf) as Lane] as const]
    })
  }
  const get = (id: string): Stored => {
    const found = stored.get(id)
    if (found === undefined) throw new Error(`There is no delivery ${id}.`)
    return found
  }
  return {
    fault,
    get: (id) => get(id).delivery,
    inState: (state) => [...stored.values()].filter(({ delivery }) => delivery.state === state).length,
    add: (names, request) => {
      const laneOf = names.orderKey ?? names.id
      stored.set(names.id, {
        delivery: {
          messageId: 'm',
          endpointId: 'e',
          endpoint: 'test',
          requestId: 'r',
          ...names,
          state: 'pending',
          position: stored.size + 1,
          acceptedAt: new Date(nowMs()).toISOString(),
          since: new Date(nowMs()).toISOString(),
          attempts: 0,
          lastAttempts: [],
          bytes: 0,
        },
        request,
        laneOf,
      })
      if (!lanes.has(laneOf)) lanes.set(laneOf, { due: nowMs(), lease: '', tried: 0 })
    },
    dueTargets: () =>
      call(() => {
        const all = heads()
        const due = all.filter(([, lane]) => lane.due <= nowMs())
        const later = all.flatMap(([, lane]) => (lane.due > nowMs() ? [lane.due - nowMs()] : []))
        return {
          targets: [...new Set(due.map(([{ delivery }]) => delivery.target))],
          nextInMs: later.length === 0 ? undefined : Math.min(...later),
        }
      }),
    now: () => call(nowMs),
    claim: (owner, target, limit, leaseMs, triedBefore) =>
      call(() => {
        claims += 1
        const lease = `${owner} ${claims}`
        return heads()
          .filter(([one, lane]) => {
            if (one.delivery.target !== target) return false
            return triedBefore === undefined ? lane.due <= nowMs() : lane.lease === '' && lane.tried < triedBefore
          })
          .slice(0, limit)
          .map(([{ delivery, request }, lane]): ClaimedDelivery => {
            Object.assign(lane, { lease, due: nowMs() + leaseMs, tried: nowMs() })
            return { delivery, lease, request, ageMs: nowMs() - Date.parse(delivery.since), body: undefined }
          })
      }),
    renew: (leases, leaseMs) =>
      call(() =>
        leases.flatMap(({ id, lease }) => {
          const lane = lanes.get(get(id).laneOf)
          if (lane?.lease !== lease) return []
          lane.due = nowMs() + leaseMs
          return [id]
        }),
      ),
    end: (ends) =>
      call(() =>
        ends.flatMap(({ id, lease, attempt, state, dueInMs = 0 }) => {
          const one = get(id)
          if (one.delivery.state !== 'pending') return []
          const attempts = one.delivery.attempts + (isMade(attempt) ? 1 : 0)
          one.delivery = { ...one.delivery, state, attempts, lastAttempts: attempt === undefined ? [] : [attempt] }
          const lane = lanes.get(one.laneOf)
          if (lane?.lease === lease)
            Object.assign(lane, { lease: '', due: nowMs() + (state === 'pending' ? dueInMs : 0) })
          return [id]
        }),
      ),
  }
}
