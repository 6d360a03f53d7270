/**
 * Undeliverable deliveries that are alike. The failure groups of the message log have messages that did not end done, by stage,
 * code and path; the message of a delivery did end done, so these are groups of their own.
 */
import type { Delivery } from '../core/deliveries/delivery.ts'
import { omitUndefined } from '../core/json.ts'
import type { DeliveryGroup } from './delivery-schemas.ts'

/** Out: the groups of these deliveries, the largest first. In: the newest delivery first. */
export async function groupUndeliverable(
  deliveries: AsyncIterable<Delivery>,
): Promise<Readonly<{ groups: DeliveryGroup[]; count: number }>> {
  const groups = new Map<string, DeliveryGroup>()
  let count = 0
  for await (const { id, endpointId, endpoint, requestId, target, lastAttempts, acceptedAt } of deliveries) {
    const { status, fault: reason } = lastAttempts.at(-1) ?? {}
    const fault = status === undefined ? reason : undefined
    const key = JSON.stringify([endpointId, requestId, target, status, fault])
    const known = groups.get(key)
    groups.set(key, {
      ...omitUndefined({ endpointId, endpoint, request: requestId, target, status, fault }),
      lastAt: acceptedAt,
      sampleId: id,
      ...known,
      firstAt: acceptedAt,
      count: (known?.count ?? 0) + 1,
    })
    count += 1
  }
  return { groups: [...groups.values()].sort((one, other) => other.count - one.count), count }
}
