/** The settings of lookup and response requests: timeouts, retries, circuit breaker, limits. */
import { milliseconds, type Setting, size, wholeNumber } from '../setting-kinds.ts'

export const requests = {
  requestConnectTimeoutMs: {
    name: 'REQUEST_CONNECT_TIMEOUT_MS',
    kind: milliseconds,
    default: '2000',
    means: 'How long connecting to the target of a lookup or response request may take.',
  },
  requestConnectionsPerOrigin: {
    name: 'REQUEST_CONNECTIONS_PER_ORIGIN',
    kind: wholeNumber(1, 10_000),
    default: '256',
    means:
      'How many connections to one origin each worker may have for lookup and response requests; each carries one request at a time, and further requests wait.',
  },
  requestTimeoutMs: {
    name: 'REQUEST_TIMEOUT_MS',
    kind: milliseconds,
    default: '10000',
    means: 'How long a lookup or response request without `timeoutMs` may take, including retries.',
  },
  requestRetries: {
    name: 'REQUEST_RETRIES',
    kind: wholeNumber(0, 10),
    default: '0',
    means:
      'Further attempts of a request without `retries`; only for idempotent methods and requests with `idempotent: true`.',
  },
  requestRetryBudgetPercent: {
    name: 'REQUEST_RETRY_BUDGET_PERCENT',
    kind: wholeNumber(0, 100),
    default: '20',
    means:
      'How many retries each origin gets, in percent of the calls to it that may be retried. In addition, 10 at the start, refilled by one a second.',
  },
  circuitBreakerFailures: {
    name: 'CIRCUIT_BREAKER_FAILURES',
    kind: wholeNumber(0, 1000),
    default: '5',
    means:
      'After this many failures in a row (no answer, 502, 503, 504), the circuit of an origin opens: calls to it fail at once. `0` switches this off.',
  },
  circuitBreakerPauseMs: {
    name: 'CIRCUIT_BREAKER_PAUSE_MS',
    kind: milliseconds,
    default: '500',
    means: 'How long a circuit stays open at first; the time doubles with each failed probe.',
  },
  circuitBreakerMaxPauseMs: {
    name: 'CIRCUIT_BREAKER_MAX_PAUSE_MS',
    kind: milliseconds,
    default: '5000',
    means:
      'The longest time that a circuit stays open, unless `Retry-After` of the origin asks for more, up to a minute.',
  },
  answerLimitBytes: {
    name: 'ANSWER_LIMIT',
    kind: size(100),
    default: '10mb',
    means: 'The largest body of an answer to a lookup or response request.',
  },
  requestUrlLimitBytes: {
    name: 'REQUEST_URL_LIMIT',
    kind: size(1),
    default: '64kb',
    means:
      'The longest URL of a lookup or response request; a message that produces a longer one is answered with 400.',
  },
  forEachMaxItems: {
    name: 'FOREACH_MAX_ITEMS',
    kind: wholeNumber(1, 1_000_000),
    default: '1000',
    means: 'The most items of one `forEach`; a message with more items is answered with 400.',
  },
} as const satisfies Record<string, Setting<unknown>>
