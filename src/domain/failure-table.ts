/**
 * The table of everything that can go wrong with a message or a management call. docs/failures.md is generated from
 * it. Code asks a row for a property and never compares codes, so that a new code needs its row only.
 */
import type { FailureKind } from './failure-kind.ts'

/**
 * In groups: the request, the stages in their order, what any stage may meet, rate, idempotency and load, management; INTERNAL
 * is last. docs/failures.md keeps the order.
 */
export const FAILURES = {
  ROUTE_UNKNOWN: { status: 404, retry: false, means: 'No endpoint has a pattern that matches this path.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    retry: false,
    means: 'The path is known, with another method; the Allow header lists them.',
  },
  REQUEST_MALFORMED: { status: 400, retry: false, means: 'The request is not HTTP, or breaks its rules.' },
  REQUEST_TIMED_OUT: { status: 408, retry: true, means: 'The request did not arrive in time.' },
  EXPECTATION_REFUSED: { status: 417, retry: false, means: '`Expect` asks for something other than `100-continue`.' },
  HEADERS_TOO_LARGE: { status: 431, retry: false, means: 'The headers of the request are larger than 16 KiB.' },
  URL_MALFORMED: { status: 400, retry: false, means: 'The URL of the request holds a broken percent-encoding.' },
  BODY_UNREADABLE: { status: 400, retry: false, means: 'The body is not well-formed in the input format.' },
  BODY_TOO_DEEP: { status: 400, retry: false, means: 'The body is nested deeper than 64 levels.' },
  BODY_TOO_LARGE: {
    status: 413,
    retry: false,
    means: 'The body is larger than `PARSER_LIMIT`; that of a batch than `BATCH_LIMIT`.',
  },
  BODY_CUT_SHORT: { status: 400, retry: false, means: 'The request ended before its body was complete.' },
  MEDIA_TYPE_WRONG: {
    status: 415,
    retry: false,
    means: 'The media type, charset or content coding of the body is not what the endpoint takes.',
  },
  PARAMETER_INVALID: {
    status: 400,
    retry: false,
    means: 'A URL or query parameter of a request found nothing (URL) or a value that cannot stand in a URL.',
  },
  FOREACH_INVALID: {
    status: 400,
    retry: false,
    means: '`forEach.items` found no array, or one with more items than `FOREACH_MAX_ITEMS`.',
  },
  VALIDATION_FAILED: { status: 400, retry: false, means: 'The message does not satisfy `inputValidation`.' },
  LOOKUP_REFUSED: {
    status: 502,
    retry: false,
    means:
      'A lookup answered with a status outside its `allowedStatuses`; answered with that status where it is a 4xx or 5xx.',
    lookup: 'unusable',
    reprocess: true,
  },
  LOOKUP_UNREACHABLE: { status: 502, retry: true, means: 'A lookup could not be reached.', lookup: 'unanswered' },
  LOOKUP_TIMED_OUT: { status: 504, retry: true, means: 'A lookup did not answer in time.', lookup: 'unanswered' },
  LOOKUP_UNREADABLE: {
    status: 502,
    retry: false,
    means: 'The answer of a lookup is not well-formed in the type that it declares, or is too large or too deep.',
    lookup: 'unusable',
  },
  LOOKUP_CIRCUIT_OPEN: {
    status: 502,
    retry: true,
    means:
      'A lookup was not sent, as its target failed too often in a row; answered with the status of the last call (502, 503 or 504) and `Retry-After`.',
    lookup: 'unanswered',
  },
  TRANSFORM_FAILED: { status: 500, retry: false, means: 'An expression of `inputTransforms` failed.' },
  OUTPUT_TOO_LARGE: {
    status: 413,
    retry: false,
    means: 'An entry of `inputMapping` would make this message grow by more than 64 MiB.',
  },
  SERIALISE_FAILED: { status: 500, retry: false, means: 'The output cannot be written in its type.' },
  RESPONSE_UNREACHABLE: { status: 502, retry: true, means: 'A response request could not reach its target.' },
  RESPONSE_TIMED_OUT: { status: 504, retry: true, means: 'The target of a response request did not answer in time.' },
  RESPONSE_CIRCUIT_OPEN: {
    status: 502,
    retry: true,
    means:
      'A response request was not sent, as its target failed too often in a row; answered as `LOOKUP_CIRCUIT_OPEN` is.',
  },
  RESPONSE_UNREADABLE: {
    status: 502,
    retry: false,
    means:
      'The answer of a response request is larger than `ANSWER_LIMIT`, or none of its interim answers was followed by one that is final; its target may have taken the request.',
  },
  RESPONSE_REFUSED: {
    status: 502,
    retry: false,
    means:
      'The broker refused the output, or a response request of a consumed record was answered outside its `allowedStatuses`.',
  },
  EGRESS_DENIED: {
    status: 502,
    retry: false,
    means: 'The settings `EGRESS_…` deny the target of a request of the document; nothing was sent.',
    lookup: 'unusable',
  },
  SECRET_UNAVAILABLE: {
    status: 503,
    retry: true,
    means: 'A secret that the document refers to is missing, or `SECRETS_ALLOW` does not name it.',
  },
  DEADLINE_EXCEEDED: {
    status: 504,
    retry: true,
    means: 'The message took longer than `MESSAGE_TIMEOUT_MS`.',
    lookup: 'unusable',
  },
  STATE_UNAVAILABLE: {
    status: 503,
    retry: true,
    means: 'The store that holds the state of endpoints did not answer.',
    store: 'state',
  },
  RATE_LIMITED: {
    status: 429,
    retry: true,
    means: 'More messages than the `rateLimit` of the endpoint; try again after `Retry-After` seconds.',
    shed: 'load',
  },
  IDEMPOTENCY_KEY_MISSING: {
    status: 400,
    retry: false,
    means: 'The endpoint takes messages with an `Idempotency-Key` only.',
  },
  IDEMPOTENCY_KEY_INVALID: {
    status: 400,
    retry: false,
    means: '`Idempotency-Key` is not one text in double quotes, is empty, or has more than 255 characters.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    retry: false,
    means: 'A message that differs in path, query, body or media type was already sent with this `Idempotency-Key`.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    retry: true,
    means: 'The message with this `Idempotency-Key` was still in progress after `MESSAGE_TIMEOUT_MS`.',
    retryAfterSeconds: 1,
  },
  IDEMPOTENCY_ANSWER_NOT_KEPT: {
    status: 409,
    retry: false,
    means:
      'The message with this `Idempotency-Key` was already processed; its response cannot be replayed, as it was larger than `IDEMPOTENCY_ANSWER_LIMIT`.',
  },
  IDEMPOTENCY_UNAVAILABLE: {
    status: 503,
    retry: true,
    means:
      'The idempotency store did not answer, or is full (`IDEMPOTENCY_MAX_MB`); `error` says whether the message was processed.',
  },
  OVERLOADED: {
    status: 503,
    retry: true,
    means: 'Too many messages at once; try again after `Retry-After` seconds.',
    shed: 'load',
  },
  SHUTTING_DOWN: {
    status: 503,
    retry: true,
    means: 'The service is stopping; try again after `Retry-After` seconds.',
    shed: 'stop',
  },
  CONFIGURATION_INVALID: {
    status: 400,
    retry: false,
    means: 'The endpoint document has faults; `details` lists all of them, each with its path.',
  },
  DOCUMENT_TOO_LARGE: {
    status: 413,
    retry: false,
    means: 'The endpoint document is larger than `DOCUMENT_LIMIT`; nothing else of it was checked.',
  },
  ENDPOINTS_TOO_MANY: {
    status: 409,
    retry: false,
    means: 'There are as many endpoints as `MAX_ENDPOINTS` allows; delete one that is not needed.',
  },
  CONFIGURATION_CLASH: {
    status: 409,
    retry: false,
    means: 'Another endpoint has the same name, or a pattern that matches the same paths for the same method.',
  },
  BATCH_INVALID: {
    status: 400,
    retry: false,
    means:
      'The request of a batch is wrong; `details` lists every fault. Faults of its documents have the codes of single changes.',
  },
  ENDPOINT_UNKNOWN: { status: 404, retry: false, means: 'No endpoint has this id.' },
  DRY_RUN_INVALID: {
    status: 400,
    retry: false,
    means:
      'The request of a dry run is wrong; `details` lists every fault. Faults of the document do not fail the dry run.',
  },
  DRY_RUN_ANSWER_MISSING: {
    status: 400,
    retry: false,
    means: 'Within a dry run: a lookup has no canned answer, and is not live.',
    dryRun: true,
  },
  VERSION_UNKNOWN: {
    status: 404,
    retry: false,
    means: 'The endpoint has no version of this number, or no longer, or the version is a deletion.',
  },
  ID_MALFORMED: { status: 400, retry: false, means: 'The id is not 24 lower-case hexadecimal digits.' },
  FILTER_INVALID: {
    status: 400,
    retry: false,
    means: 'A query filter is not known, or has a value that it cannot have.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    retry: false,
    means: '`If-Match` names another version of the document than the stored one.',
    stale: true,
  },
  MANAGEMENT_REFUSED: {
    status: 403,
    retry: false,
    means: 'The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set.',
  },
  CREDENTIALS_REFUSED: {
    status: 401,
    retry: false,
    means:
      'Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for.',
  },
  ACCESS_DENIED: { status: 403, retry: false, means: 'The credentials are good, but do not allow this.' },
  IDENTITY_UNAVAILABLE: {
    status: 503,
    retry: true,
    means: 'The keys that tokens are verified with could not be fetched from their issuer.',
  },
  KEY_INVALID: { status: 400, retry: false, means: 'An API key cannot be made with this name or these roles.' },
  KEY_UNKNOWN: { status: 404, retry: false, means: 'No API key has this id, or it is revoked already.' },
  MESSAGE_UNKNOWN: {
    status: 404,
    retry: false,
    means: 'The message log has no message with this id, or no longer.',
  },
  MESSAGE_BODY_UNKNOWN: { status: 404, retry: false, means: 'This body of the message was not recorded.' },
  REPLAY_REFUSED: {
    status: 409,
    retry: false,
    means: 'The message cannot be replayed: it was not recorded whole, or its endpoint no longer accepts it.',
  },
  REPLAY_OPTION_INVALID: {
    status: 400,
    retry: false,
    means: 'A limit of a replay is not known, or has a value that it cannot have.',
  },
  REPLAY_PLAN_UNKNOWN: { status: 404, retry: false, means: 'There is no such plan of a replay, or no longer.' },
  REPLAY_PLAN_BUSY: {
    status: 409,
    retry: false,
    means: 'The plan of a replay is running, or has ended; or too many plans are running.',
  },
  STORE_UNAVAILABLE: {
    status: 503,
    retry: true,
    means: 'The store that holds endpoints and the message log did not answer.',
    store: 'management',
  },
  INTERNAL: { status: 500, retry: true, means: 'A fault of the service; the cause is in its log.', bug: true },
} as const satisfies Record<string, FailureKind>

export type FailureCode = keyof typeof FAILURES

/** The row of a code. A code that only another version of the service knows has the row of INTERNAL. */
export const kindOf = (code: string): FailureKind => FAILURES[isFailureCode(code) ? code : 'INTERNAL']

export const isFailureCode = (code: string): code is FailureCode => Object.hasOwn(FAILURES, code)
