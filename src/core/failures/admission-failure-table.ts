/**
 * The rows of FAILURES (failure-table.ts) for messages that are refused admission: rate, idempotency, load, and callers. A
 * management call may fail with those of callers too.
 */
import type { FailureKind } from '../failure-kind.ts'

export const ADMISSION_FAILURES = {
  RATE_LIMITED: {
    status: 429,
    retry: true,
    issue: 'throttled',
    means: 'More messages than the `rateLimit` of the endpoint; try again after `Retry-After` seconds.',
    shed: 'load',
  },
  ENDPOINT_PAUSED: {
    status: 503,
    retry: true,
    issue: 'transient',
    means: 'The endpoint is `paused`; nothing of the message was processed. Try again after `Retry-After` seconds.',
    retryAfterSeconds: 60,
  },
  IDEMPOTENCY_KEY_MISSING: {
    status: 400,
    retry: false,
    issue: 'value',
    means: 'The endpoint takes messages with an `Idempotency-Key` only.',
  },
  IDEMPOTENCY_KEY_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means: '`Idempotency-Key` is not one text in double quotes, is empty, or has more than 255 characters.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    retry: false,
    issue: 'conflict',
    means: 'A message that differs in path, query, body or media type was already sent with this `Idempotency-Key`.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    retry: true,
    issue: 'lock-error',
    means: 'The message with this `Idempotency-Key` was still in progress after `MESSAGE_TIMEOUT_MS`.',
    retryAfterSeconds: 1,
  },
  IDEMPOTENCY_ANSWER_NOT_KEPT: {
    status: 409,
    retry: false,
    issue: 'duplicate',
    means:
      'The message with this `Idempotency-Key` was already processed; its response cannot be replayed, as it was larger than `IDEMPOTENCY_ANSWER_LIMIT`.',
  },
  IDEMPOTENCY_UNAVAILABLE: {
    status: 503,
    retry: true,
    issue: 'no-store',
    means:
      'The idempotency store did not answer, or is full (`IDEMPOTENCY_MAX_MB`); `error` says whether the message was processed.',
  },
  OVERLOADED: {
    status: 503,
    retry: true,
    issue: 'throttled',
    means: 'Too many messages at once; try again after `Retry-After` seconds.',
    shed: 'load',
  },
  SHUTTING_DOWN: {
    status: 503,
    retry: true,
    issue: 'transient',
    means: 'The service is stopping; try again after `Retry-After` seconds.',
    shed: 'stop',
  },
  CREDENTIALS_REFUSED: {
    status: 401,
    retry: false,
    issue: 'login',
    means:
      'Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for.',
  },
  ACCESS_DENIED: {
    status: 403,
    retry: false,
    issue: 'forbidden',
    means: 'The credentials are good, but do not allow this.',
  },
  IDENTITY_UNAVAILABLE: {
    status: 503,
    retry: true,
    issue: 'transient',
    means: 'The keys that tokens are verified with could not be fetched from their issuer.',
  },
} as const satisfies Record<string, FailureKind>
