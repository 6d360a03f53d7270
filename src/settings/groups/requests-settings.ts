/** The settings of lookup and response requests: their times, and what is done where their targets fail. */

import type { Setting } from '../setting-kinds.ts'
import { milliseconds, size, wholeNumber } from '../setting-kinds.ts'

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
  requestRetryBudgetPercent: {
    name: 'REQUEST_RETRY_BUDGET_PERCENT',
    kind: wholeNumber(0, 100),
    default: '20',
    means:
      'How many retries each origin gets, in percent of the calls to it that may be retried; beside these, 10 at first and one a second up to 10.',
  },
  circuitBreakerFailures: {
    name: 'CIRCUIT_BREAKER_FAILURES',
    kind: wholeNumber(0, 1000),
    default: '5',
    means:
      'After so many failures in a row (no answer, 502, 503, 504) an origin is left alone for a while, and calls to it fail at once; `0` switches this off.',
  },
  circuitBreakerPauseMs: {
    name: 'CIRCUIT_BREAKER_PAUSE_MS',
    kind: milliseconds,
    default: '500',
    means: 'For how long an origin is left alone at first; twice as long after each probe that fails.',
  },
  circuitBreakerMaxPauseMs: {
    name: 'CIRCUIT_BREAKER_MAX_PAUSE_MS',
    kind: milliseconds,
    default: '5000',
    means: 'For how long an origin is left alone at most, unless its own `Retry-After` asks for more, up to a minute.',
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
