import { largeSize } from '../setting-kinds.ts'

/** Durable deliveries. */
export const delivery = {
  deliveryMaxBytes: {
    name: 'DELIVERY_MAX_BYTES',
    kind: largeSize(1_000),
    default: '1gb',
    means:
      'The most bytes of requests and their bodies that wait for delivery or are kept after it, of all endpoints. When they are full, a message with `delivery` is answered with 503, and nothing of it is stored.',
  },
} as const
