/**
 * Undeliverable deliveries that are alike. The failure groups of the message log have messages that did not end done, by stage,
 * code and path; the message of a delivery did end done, so these are groups of their own.
 */
import type { Delivery } from '../core/deliveries/delivery.ts'

export type DeliveryGroup = Readonly<{
  endpointId: string
  endpoint: string
  request: string
  target: string
  /** Of the last attempt: the status of its answer, or the fault without one. */
  status?: number
  fault?: string
  count: number
  /** ISO 8601: when the first and the last of them were accepted. */
  firstAt: string
  lastAt: string
  /** The newest one. */
  sampleId: string
}>

/** Out: the groups of these deliveries, the largest first. In: the newest delivery first. */
export async function groupUndeliverable(
  deliveries: AsyncIterable<Delivery>,
): Promise<Readonly<{ groups: readonly DeliveryGroup[]; count: number }>> {
  const groups = new Map<string, DeliveryGroup>()
  let count = 0
  for await (const { id, endpointId, endpoint, requestId, target, lastAttempts, acceptedAt } of deliveries) {
    const { status, fault } = lastAttempts.at(-1) ?? {}
    const key = JSON.stringify([endpointId, requestId, target, status, status === undefined ? fault : undefined])
    const known = groups.get(key)
    groups.set(key, {
      endpointId,
      endpoint,
      request: requestId,
      target,
      ...(status === undefined ? {} : { status }),
      ...(status !== undefined || fault === undefined ? {} : { fault }),
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
