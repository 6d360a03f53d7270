/** The settings of durable deliveries. */
import { duration, largeSize, type Setting, wholeNumber } from '../setting-kinds.ts'

export const delivery = {
  deliveryMaxBytes: {
    name: 'DELIVERY_MAX_BYTES',
    kind: largeSize(1_000),
    default: '1gb',
    means:
      'The most bytes that deliveries of all endpoints take in the database, those that ended too. When they are full, delivered and cancelled ones are removed before `DELIVERY_KEEP` is over, the oldest first; if that is not enough, a message with `delivery` is answered with 503, and nothing of it is stored.',
  },
  deliveryConcurrency: {
    name: 'DELIVERY_CONCURRENCY',
    kind: wholeNumber(1, 1_000),
    default: '32',
    means:
      'The most deliveries that one process sends to one target at the same time. It starts with four, adds one with each success and halves with each failure.',
  },
  deliveryKeepMs: {
    name: 'DELIVERY_KEEP',
    kind: duration(3_650),
    default: '1d',
    means:
      'How long delivered and cancelled deliveries are kept, while `DELIVERY_MAX_BYTES` has room for them. Undeliverable ones are kept until somebody retries or cancels them.',
  },
} as const satisfies Record<string, Setting<unknown>>
