/** The settings that bound how many messages are worked on at once. */

import type { Setting } from '../setting-kinds.ts'
import { milliseconds, optional, size, wholeNumber } from '../setting-kinds.ts'

export const limits = {
  maxMessagesInFlight: {
    name: 'MAX_MESSAGES_IN_FLIGHT',
    kind: wholeNumber(1, 1_000_000),
    default: '1000',
    means: 'How many messages are worked on at once by all `WORKERS`, not counting records of topics.',
  },
  maxMessagesWaiting: {
    name: 'MAX_MESSAGES_WAITING',
    kind: optional(wholeNumber(0, 10_000)),
    default: '',
    means:
      'How many more may wait until one of them has ended; one more is answered with 503 and `Retry-After`. Where it is not set, a quarter of `MAX_MESSAGES_IN_FLIGHT`.',
  },
  maxMessagesPerEndpoint: {
    name: 'MAX_MESSAGES_PER_ENDPOINT',
    kind: optional(wholeNumber(1, 1_000_000)),
    default: '',
    means:
      'How many of them may be of one endpoint, where its document has no `limits.concurrency`. Where it is not set, as many as there may be.',
  },
  messageWaitMs: {
    name: 'MESSAGE_WAIT_MS',
    kind: milliseconds,
    default: '250',
    means: 'How long a message may wait to be begun with; it is answered with 503 and `Retry-After` then.',
  },
  maxIncompleteBodiesBytes: {
    name: 'MAX_INCOMPLETE_BODIES',
    kind: size(1_000),
    default: '128mb',
    means:
      'What the bodies of messages may take that have not come whole, in all `WORKERS`; where it is more, the one of which nothing came for longest is answered with 503 and `Retry-After`. Each of the `WORKERS` has room for two of the largest at least.',
  },
} as const satisfies Record<string, Setting<unknown>>
