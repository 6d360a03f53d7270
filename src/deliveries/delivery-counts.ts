/** Deliveries in numbers: what is stored, and what this process counts of the attempts that it makes, for the metrics. */
import type { Delivery, DeliveryState } from '../core/deliveries/delivery.ts'
import type { DeliveryTotals } from '../store/sql/delivery-store.ts'
import type { NextStep } from './next-step.ts'

/** 'retried': the attempt failed, and another one follows. */
export const ATTEMPT_RESULTS = ['delivered', 'retried', 'undeliverable'] as const
type AttemptResultName = (typeof ATTEMPT_RESULTS)[number]

type Counted = Readonly<{ endpointId: string; endpoint: string; target: string; result: AttemptResultName }> & {
  count: number
}

/** Targets of an endpoint beyond these are counted together: a message may name any number. */
const MAX_SERIES = 3_000
const OTHERS = '(others)'

export class DeliveryCounts {
  readonly #counted = new Map<string, Counted>()

  add({ endpointId, endpoint, target }: Delivery, { attempt, state }: NextStep): void {
    if (attempt === undefined) return
    const result = state === 'pending' ? 'retried' : state
    const known = this.#counted.has(keyOf(endpointId, target, result))
    const named = known || this.#counted.size < MAX_SERIES ? target : OTHERS
    const key = keyOf(endpointId, named, result)
    const counted = this.#counted.get(key) ?? { endpointId, endpoint, target: named, result, count: 0 }
    counted.count += 1
    this.#counted.set(key, counted)
  }

  all(): Iterable<Readonly<Counted>> {
    return this.#counted.values()
  }

  /** Forgets the endpoints that are gone or have another name. */
  keep(nameOf: (endpointId: string) => string | undefined): void {
    for (const [key, { endpointId, endpoint }] of this.#counted)
      if (nameOf(endpointId) !== endpoint) this.#counted.delete(key)
  }
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts)

/** By state. `bytes`: of all, which DELIVERY_MAX_BYTES bounds; `oldestAt`: ISO 8601, when the oldest pending one was accepted. */
export type DeliverySums = Readonly<Record<DeliveryState | 'bytes', number> & { oldestAt?: string }>

export function sumDeliveries({ counts, ...oldest }: DeliveryTotals): DeliverySums {
  const sums = { pending: 0, delivered: 0, undeliverable: 0, cancelled: 0, bytes: 0 }
  for (const { state, count, bytes } of counts) {
    sums[state] += count
    sums.bytes += bytes
  }
  return { ...sums, ...oldest }
}
