/** The metrics of deliveries. */
import type { DeliveryCounts } from '../../deliveries/delivery-counts.ts'
import type { DeliveryUpkeep } from '../../deliveries/delivery-upkeep.ts'
import type { DeliverySender } from '../../deliveries/sender.ts'
import { type Family, type Sample, single } from './expositions.ts'

export type DeliveriesSource = Readonly<{
  sender: Pick<DeliverySender, 'underWay' | 'pausedTargets'>
  counts: Pick<DeliveryCounts, 'all'>
  /** Undefined in processes that leave it to another one, so that a sum over all is right. */
  upkeep: Pick<DeliveryUpkeep, 'totals'> | undefined
}>

/** Those that are of use in an alert; the others are counted by their attempts. */
const STORED_STATES: readonly string[] = ['pending', 'undeliverable']

export function describeDeliveries({ sender, counts, upkeep }: DeliveriesSource): Family[] {
  const stored = (value: 'count' | 'bytes') => (): Iterable<Sample> =>
    sumAlike(
      (upkeep?.totals.counts ?? [])
        .filter(({ state }) => STORED_STATES.includes(state))
        .map(({ endpoint, state, [value]: one }) => ({ labels: { endpoint, state }, value: one })),
    )
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
    single('gauge', 'crosswalk_deliveries_under_way', 'Deliveries that are being sent.', () => sender.underWay),
    single(
      'gauge',
      'crosswalk_delivery_paused_targets',
      'Targets to which nothing is sent now, since they have failed too often.',
      () => sender.pausedTargets.length,
    ),
    {
      name: 'crosswalk_delivery_attempts_total',
      help: 'Attempts at deliveries, by their result: delivered, retried (another one follows) or undeliverable.',
      type: 'counter',
      labels: ['endpoint', 'target', 'result'],
      samples: () =>
        sumAlike(
          [...counts.all()].map(({ endpoint, target, result, count }) => ({
            labels: { endpoint, target, result },
            value: count,
          })),
        ),
    },
  ]
}

/** One sample for the same labels: endpoints with one name may follow each other. */
function sumAlike(samples: readonly Sample[]): Iterable<Sample> {
  const sums = new Map<string, Sample>()
  for (const { labels, value } of samples) {
    const key = JSON.stringify(labels)
    sums.set(key, { labels, value: (sums.get(key)?.value ?? 0) + value })
  }
  return sums.values()
}
