/** Deliveries to store. */
import type { NewDelivery } from '../../../src/core/deliveries/delivery.ts'
import { createIds } from '../../../src/core/id.ts'
import { idOf } from './records.ts'

export const TARGET = 'https://a.example'

const nextId = createIds(Date.now, 7)

/** One with an id of its own. */
export const newDelivery = (change: Partial<NewDelivery> = {}): NewDelivery => ({
  id: nextId(),
  messageId: idOf(9),
  endpointId: idOf(1),
  endpoint: 'One',
  requestId: 'send',
  target: TARGET,
  request: {
    to: { target: 'http', address: '', options: { retries: 0, redirects: 0, idempotent: true } },
    method: 'POST',
    url: 'https://a.example/x',
    headers: {},
    values: {},
    key: null,
    contentType: 'text/plain',
    allowed: { any: true, ranges: [] },
    timeoutMs: 1_000,
    rules: { scheduleMs: [1], giveUpAfterMs: 1 },
  },
  body: 'body',
  ...change,
})
