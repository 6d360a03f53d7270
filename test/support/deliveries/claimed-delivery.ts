/** A delivery that is claimed, of which a test gives what it is about. */
import type {
  ClaimedDelivery,
  Delivery,
  DeliveryRequest,
  DeliveryRules,
} from '../../../src/core/deliveries/delivery.ts'

export const RULES: DeliveryRules = { scheduleMs: [0, 5_000, 300_000], giveUpAfterMs: 270_000_000 }

export const deliveryRequest = (request: Partial<DeliveryRequest> = {}): DeliveryRequest => ({
  to: { target: 'http', address: '', options: { retries: 0 } },
  method: 'POST',
  url: 'http://target.example/in',
  headers: {},
  values: {},
  key: null,
  contentType: 'application/json',
  allowed: { any: false, ranges: [[200, 299]] },
  timeoutMs: 1_000,
  rules: RULES,
  ...request,
})

export const claimedDelivery = ({
  delivery = {},
  request = {},
  rules = RULES,
  ageMs = 0,
  body = Buffer.from('{}'),
}: Readonly<{
  delivery?: Partial<Delivery>
  request?: Partial<DeliveryRequest>
  rules?: DeliveryRules
  ageMs?: number
  body?: Uint8Array | undefined
}> = {}): ClaimedDelivery => ({
  delivery: {
    id: 'd'.repeat(24),
    messageId: 'm'.repeat(24),
    endpointId: 'e'.repeat(24),
    endpoint: 'test',
    requestId: 'send',
    target: 'http://target.example',
    state: 'pending',
    position: 1,
    acceptedAt: '2026-01-01T00:00:00.000Z',
    since: '2026-01-01T00:00:00.000Z',
    attempts: 0,
    lastAttempts: [],
    bytes: 2,
    ...delivery,
  },
  request: deliveryRequest({ rules, ...request }),
  lease: 'one 1',
  ageMs,
  body,
})
