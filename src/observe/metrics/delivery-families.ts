/** The metrics of deliveries. */
import type { DeliveryCounts } from '../../deliveries/delivery-counts.ts'
import type { DeliveryUpkeep } from '../../deliveries/delivery-upkeep.ts'
import type { DeliverySender } from '../../deliveries/sender.ts'
import type { Family, Sample } from './expositions.ts'

export type DeliveriesSource = Readonly<{
  sender: Pick<DeliverySender, 'underWay' | 'pausedTargets'>
  counts: Pick<DeliveryCounts, 'all'>
  /** Undefined in processes that leave it to another one, so that a sum over all is right. */
  upkeep: Pick<DeliveryUpkeep, 'totals'> | undefined
}>

/** Those that are of use in an alert; the others are counted by their attempts. */
const STORED_STATES: readonly string[] = ['pending', 'undeliverable']

export function describeDeliveries({ sender, counts, upkeep }: DeliveriesSource): Family[] {
  const stored = (value: 'count' | 'bytes') => (): Sample[] => {
    const sums = new Map<string, Sample & { value: number }>()
    for (const one of upkeep?.totals.counts ?? []) {
      const { endpoint, state } = one
      if (!STORED_STATES.includes(state)) continue
      const key = JSON.stringify([endpoint, state])
      const sum = sums.get(key) ?? { labels: { endpoint, state }, value: 0 }
      sum.value += one[value]
      sums.set(key, sum)
    }
    return [...sums.values()]
  }
  return [
    {
      name: 'crosswalk_deliveries',
      help: 'Stored deliveries that are pending or undeliverable.',
      type: 'gauge',
      labels: ['endpoint', 'state'],
      samples: stored('count'),
    },
    {
      name: 'crosswalk_deliveries_bytes',
      help: 'Bytes of stored deliveries that are pending or undeliverable.',
      type: 'gauge',
      labels: ['endpoint', 'state'],
      samples: stored('bytes'),
    },
    {
      name: 'crosswalk_deliveries_oldest_seconds',
      help: 'Age of the oldest delivery that is pending; 0 without one.',
      type: 'gauge',
      labels: [],
      *samples() {
        if (upkeep === undefined) return
        const { oldestAt } = upkeep.totals
        const ageMs = oldestAt === undefined ? 0 : Date.now() - Date.parse(oldestAt)
        yield { labels: {}, value: Math.max(0, ageMs) / 1_000 }
      },
    },
    {
      name: 'crosswalk_deliveries_under_way',
      help: 'Deliveries that are being sent.',
      type: 'gauge',
      labels: [],
      samples: () => [{ labels: {}, value: sender.underWay }],
    },
    {
      name: 'crosswalk_delivery_paused_targets',
      help: 'Targets to which nothing is sent now, since they have failed too often.',
      type: 'gauge',
      labels: [],
      samples: () => [{ labels: {}, value: sender.pausedTargets.length }],
    },
    {
      name: 'crosswalk_delivery_attempts_total',
      help: 'Attempts at deliveries, by their result: delivered, retried (another one follows) or undeliverable.',
      type: 'counter',
      labels: ['endpoint', 'target', 'result'],
      *samples() {
        const sums = new Map<string, Sample & { value: number }>()
        for (const { endpoint, target, result, count } of counts.all()) {
          const key = JSON.stringify([endpoint, target, result])
          const sum = sums.get(key) ?? { labels: { endpoint, target, result }, value: 0 }
          sum.value += count
          sums.set(key, sum)
        }
        yield* sums.values()
      },
    },
  ]
}
