/** The settings of lookup and response requests. */
import { milliseconds, size, wholeNumber } from './settings-kinds.ts'
import type { Setting } from './settings-table.ts'

export const requests = {
  requestConnectTimeoutMs: {
    name: 'REQUEST_CONNECT_TIMEOUT_MS',
    kind: milliseconds,
    default: '2000',
    means: 'How long connecting to the target of a lookup or response request may take.',
  },
  requestTimeoutMs: {
    name: 'REQUEST_TIMEOUT_MS',
    kind: milliseconds,
    default: '10000',
    means: 'How long a whole lookup or response request may take, retries included, where it has no `timeoutMs`.',
  },
  requestRetries: {
    name: 'REQUEST_RETRIES',
    kind: wholeNumber(0, 10),
    default: '0',
    means:
      'Further attempts of a request that has no `retries`; only for idempotent methods, or where it declares `idempotent: true`.',
  },
  answerLimitBytes: {
    name: 'ANSWER_LIMIT',
    kind: size(100),
    default: '10mb',
    means: 'The largest body of an answer to a lookup or response request.',
  },
  forEachMaxItems: {
    name: 'FOREACH_MAX_ITEMS',
    kind: wholeNumber(1, 1_000_000),
    default: '1000',
    means: 'The most items of one `forEach`; a message with more is answered with 400.',
  },
} as const satisfies Record<string, Setting<unknown>>
