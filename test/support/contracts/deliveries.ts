/** Deliveries to store, and how attempts of claimed ones end. */
import type { AttemptEnd, ClaimedDelivery, NewDelivery } from '../../../src/core/deliveries/delivery.ts'
import { idOf } from './records.ts'

export const TARGET = 'http://sink.example'

/** Each number has its own. */
export const deliveryOf = (number: number, changes: Partial<NewDelivery> = {}): NewDelivery => ({
  id: idOf(number),
  messageId: idOf(9_000 + number),
  endpointId: idOf(1),
  endpoint: 'Lab',
  requestId: 'sink',
  target: TARGET,
  request: {
    to: { target: 'http', address: '', options: { retries: 0 } },
    method: 'POST',
    url: `http://sink.example/${number}`,
    headers: { authorization: '${secret:TOKEN}' },
    values: { 'x-value': '${secret:TOKEN}' },
    key: null,
    contentType: 'application/json',
    allowed: { any: false, ranges: [[200, 299]] },
    timeoutMs: 1_000,
    rules: { scheduleMs: [0, 5_000], giveUpAfterMs: 60_000 },
  },
  body: `{"number":${number}}`,
  ...changes,
})

export const attemptWith = (status: number) => ({ at: '2027-01-01T00:00:00.000Z', ms: 3, status })

export const endOf = (
  { delivery: { id }, lease }: ClaimedDelivery,
  state: AttemptEnd['state'],
  dueInMs?: number,
): AttemptEnd => ({
  id,
  lease,
  attempt: attemptWith(state === 'delivered' ? 200 : 500),
  state,
  ...(dueInMs === undefined ? {} : { dueInMs }),
})
