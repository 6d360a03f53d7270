/**
 * The table of everything that can go wrong with a message or a management call. docs/failures.md is generated from
 * it. Code asks a row for a property and never compares codes, so that a new code needs its row only.
 */
import { type FailureKind, issueForRejection, issueForStatus } from './failure-kind.ts'
import { ADMISSION_FAILURES } from './failures/admission-failure-table.ts'
import { MANAGEMENT_FAILURES } from './failures/management-failure-table.ts'

/**
 * In groups: the request, the stages in their order, what any stage may meet, admission, management; INTERNAL is last.
 * docs/failures.md keeps the order.
 */
export const FAILURES = {
  ROUTE_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'No endpoint has a pattern that matches this path, or takes this type of message on this MLLP port.',
    noRoute: true,
    hl7Error: ['200', 'Unsupported message type'],
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    retry: false,
    issue: 'not-supported',
    means: 'The path is known, with another method; the Allow header lists them.',
  },
  REQUEST_MALFORMED: {
    status: 400,
    retry: false,
    issue: 'structure',
    means: 'The request is not HTTP, or breaks its rules.',
  },
  REQUEST_TIMED_OUT: { status: 408, retry: true, issue: 'timeout', means: 'The request did not arrive in time.' },
  EXPECTATION_REFUSED: {
    status: 417,
    retry: false,
    issue: 'not-supported',
    means: '`Expect` asks for something other than `100-continue`.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    retry: false,
    issue: 'too-long',
    means: 'The headers of the request are larger than 16 KiB.',
  },
  URL_MALFORMED: {
    status: 400,
    retry: false,
    issue: 'structure',
    means: 'The URL of the request holds a broken percent-encoding.',
  },
  BODY_UNREADABLE: {
    status: 400,
    retry: false,
    issue: 'structure',
    means: 'The body is not well-formed in the input format.',
  },
  BODY_TOO_DEEP: { status: 400, retry: false, issue: 'structure', means: 'The body is nested deeper than 64 levels.' },
  BODY_TOO_LARGE: {
    status: 413,
    retry: false,
    issue: 'too-long',
    means:
      'The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`.',
  },
  BODY_CUT_SHORT: {
    status: 400,
    retry: false,
    issue: 'structure',
    means: 'The request ended before its body was complete.',
  },
  MEDIA_TYPE_WRONG: {
    status: 415,
    retry: false,
    issue: 'not-supported',
    means: 'The media type, charset or content coding of the body is not what the endpoint takes.',
  },
  PARAMETER_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means:
      'A URL or query parameter of a request found nothing (URL) or a value that is not allowed in a URL; 502 where a lookup finds nothing for its URL in the answer of another lookup.',
  },
  FOREACH_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means:
      '`forEach.items` found no array, or one with more items than `FOREACH_MAX_ITEMS`; answered with 502 where a lookup goes over the data of another.',
  },
  VALIDATION_FAILED: {
    status: 400,
    retry: false,
    issue: 'invariant',
    means: 'The message does not satisfy `inputValidation`; where only the data of lookups does not, `LOOKUP_INVALID`.',
    hl7Error: ['102', 'Data type error'],
  },
  LOOKUP_INVALID: {
    status: 502,
    retry: true,
    issue: 'transient',
    means:
      'The data of a lookup does not satisfy its `validation`, or only the data of lookups does not satisfy `inputValidation`.',
    lookup: 'unusable',
  },
  LOOKUP_REFUSED: {
    status: 502,
    retry: false,
    issue: issueForStatus,
    means:
      'A lookup answered with a status outside its `allowedStatuses`; answered with that status where it is a 4xx or 5xx.',
    lookup: 'unusable',
    reprocess: true,
  },
  LOOKUP_UNREACHABLE: {
    status: 502,
    retry: true,
    issue: 'transient',
    means: 'A lookup could not be reached.',
    lookup: 'unanswered',
  },
  LOOKUP_TIMED_OUT: {
    status: 504,
    retry: true,
    issue: 'timeout',
    means: 'A lookup did not answer in time.',
    lookup: 'unanswered',
  },
  LOOKUP_UNREADABLE: {
    status: 502,
    retry: false,
    issue: 'processing',
    means: 'The answer of a lookup is not well-formed in the type that it declares, or is too large or too deep.',
    lookup: 'unusable',
  },
  LOOKUP_PAGING_FAILED: {
    status: 502,
    retry: false,
    issue: 'processing',
    means:
      'The pages of a lookup are more than its `page.max`, lead back to one of them or to another origin, or name no URL of the next.',
    lookup: 'unusable',
  },
  LOOKUP_NOT_RECORDED: {
    status: 500,
    retry: false,
    issue: 'not-found',
    means:
      'A replay with recorded answers needs the answer of a lookup that was not made before, as the document has changed.',
  },
  LOOKUP_CIRCUIT_OPEN: {
    status: 502,
    retry: true,
    issue: 'transient',
    means:
      'A lookup was not sent, as its target failed too often in a row; answered with the status of the last call (502, 503 or 504) and `Retry-After`.',
    lookup: 'unanswered',
  },
  TRANSFORM_FAILED: {
    status: 500,
    retry: false,
    issue: 'processing',
    means: 'An expression of the document failed.',
  },
  REJECTED: {
    status: 422,
    retry: false,
    retryAt: [408, 429],
    issue: issueForRejection,
    means:
      'An expression of the document ended the message with `$fail`; answered with the status and the sentence that it gave.',
  },
  MAPPING_FAILED: {
    status: 500,
    retry: false,
    issue: 'processing',
    means:
      'An entry of a mapping could not convert its value, or would have replaced what another entry wrote in another shape.',
  },
  CODE_UNMAPPED: {
    status: 422,
    retry: false,
    issue: 'code-invalid',
    means: 'A table has no row, or no text, for a code of the message, and nothing says what to write in its place.',
  },
  TABLE_MISSING: {
    status: 500,
    retry: false,
    issue: 'not-found',
    means:
      'An expression names a table or column that is not there; one that a document names itself is lost only where a store is copied or changed by hand.',
  },
  MESSAGE_TOO_COSTLY: {
    status: 413,
    retry: false,
    issue: 'too-costly',
    means:
      'The requests, answers, state and output of this message would take more than `MESSAGE_MAX_BYTES` together; `path` says where the limit was passed.',
  },
  BUDGET_EXHAUSTED: {
    status: 503,
    retry: true,
    issue: 'throttled',
    means: 'The messages in flight need more than `IN_FLIGHT_MAX_BYTES` together, and this one needed more.',
  },
  OUTPUT_TOO_LARGE: {
    status: 413,
    retry: false,
    issue: 'too-long',
    means: 'An entry of a mapping would make this message grow by more than 64 MiB.',
  },
  SERIALISE_FAILED: {
    status: 500,
    retry: false,
    issue: 'processing',
    means: 'The output, or the body of a request, cannot be written in its type.',
  },
  RESPONSE_UNREACHABLE: {
    status: 502,
    retry: true,
    issue: 'transient',
    means: 'A response request could not reach its target.',
  },
  RESPONSE_TIMED_OUT: {
    status: 504,
    retry: true,
    issue: 'timeout',
    means: 'The target of a response request did not answer in time.',
  },
  RESPONSE_CIRCUIT_OPEN: {
    status: 502,
    retry: true,
    issue: 'transient',
    means:
      'A response request was not sent, as its target failed too often in a row; answered as `LOOKUP_CIRCUIT_OPEN` is.',
  },
  RESPONSE_UNREADABLE: {
    status: 502,
    retry: false,
    issue: 'processing',
    means:
      'The answer of a response request is larger than `ANSWER_LIMIT`, or none of its interim answers was followed by one that is final; its target may have taken the request.',
  },
  RESPONSE_REFUSED: {
    status: 502,
    retry: false,
    issue: issueForStatus,
    means:
      'The broker refused the output, or a response request of a consumed record was answered outside its `allowedStatuses`.',
  },
  ANSWER_INVALID: {
    status: 500,
    retry: false,
    issue: 'processing',
    means:
      'A value of `answer` gave a status or a header that no answer can have; the message itself was processed, and its requests were sent.',
  },
  NOT_ROUTED: {
    status: 422,
    retry: false,
    issue: 'business-rule',
    means: 'All response requests have `when`, none of which gave true, and `unrouted` is not `answer`.',
  },
  EGRESS_DENIED: {
    status: 502,
    retry: false,
    issue: 'security',
    means:
      'The settings `EGRESS_…` deny the target of a request of the document, or it is the admin port of this service; nothing was sent.',
    lookup: 'unusable',
  },
  SECRET_UNAVAILABLE: {
    status: 503,
    retry: true,
    issue: 'transient',
    means: 'A secret that the document refers to is missing, or `SECRETS_ALLOW` does not name it.',
  },
  AUTH_UNAVAILABLE: {
    status: 502,
    retry: true,
    issue: 'transient',
    means:
      'The token endpoint in the `auth` of a request gave no token that can be used, or the certificates there cannot be used; nothing was sent to the target.',
    lookup: 'unusable',
  },
  DEADLINE_EXCEEDED: {
    status: 504,
    retry: true,
    issue: 'timeout',
    means: 'The message took longer than `MESSAGE_TIMEOUT_MS`.',
    lookup: 'unusable',
  },
  STATE_TOO_LARGE: {
    status: 413,
    retry: false,
    issue: 'too-long',
    means:
      'The values of `state.extract` have more than `STATE_LIMIT` bytes as JSON; nothing was sent to response requests.',
  },
  STATE_UNAVAILABLE: {
    status: 503,
    retry: true,
    issue: 'no-store',
    means: 'The store that holds the state of endpoints did not answer.',
    store: 'state',
  },
  DELIVERIES_FULL: {
    status: 503,
    retry: true,
    issue: 'throttled',
    means:
      'The deliveries that wait or are undeliverable have `DELIVERY_MAX_BYTES` already; nothing of the message was stored or sent by its durable requests.',
    store: 'delivery',
  },
  DELIVERY_UNAVAILABLE: {
    status: 503,
    retry: true,
    issue: 'no-store',
    means: 'The store of deliveries did not answer, so that the durable requests of the message were not accepted.',
    store: 'delivery',
  },
  SCHEDULE_LEASE_LOST: {
    status: 503,
    retry: true,
    issue: 'lock-error',
    means:
      'The instance that ran a schedule could not renew its lease on it, so its run ended before another instance may start the next one; what it had sent has arrived.',
  },
  ...ADMISSION_FAILURES,
  ...MANAGEMENT_FAILURES,
  INTERNAL: {
    status: 500,
    retry: true,
    issue: 'exception',
    means: 'A fault of the service; the cause is in its log.',
    bug: true,
  },
} as const satisfies Record<string, FailureKind>

export type FailureCode = keyof typeof FAILURES

/** The row of a code. A code that only another version of the service knows has the row of INTERNAL. */
export const kindForCode = (code: string): FailureKind => FAILURES[isFailureCode(code) ? code : 'INTERNAL']

export const isFailureCode = (code: string): code is FailureCode => Object.hasOwn(FAILURES, code)
