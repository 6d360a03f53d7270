/**
 * Everything that can go wrong with a message or a management call. docs/failures.md is generated from this
 * catalogue, so a failure that is not here cannot be answered.
 */
export type FailureKind = Readonly<{
  /** HTTP status of the answer. */
  status: number
  /** Whether the same message may succeed later with nothing changed: decides over retry or dead letter. */
  retry: boolean
  /** One sentence for the user's guide. */
  means: string
}>

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
  BODY_TOO_LARGE: { status: 413, retry: false, means: 'The body is larger than `PARSER_LIMIT`.' },
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
  },
  LOOKUP_UNREACHABLE: { status: 502, retry: true, means: 'A lookup could not be reached.' },
  LOOKUP_TIMED_OUT: { status: 504, retry: true, means: 'A lookup did not answer in time.' },
  LOOKUP_UNREADABLE: {
    status: 502,
    retry: false,
    means: 'The answer of a lookup is not well-formed in the type that it declares, or is too large or too deep.',
  },
  LOOKUP_CIRCUIT_OPEN: {
    status: 502,
    retry: true,
    means:
      'A lookup was not sent, as its target failed too often in a row; answered with the status that the last call came to (502, 503 or 504) and `Retry-After`.',
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
    means: 'A request of the document leads to where `EGRESS_…` lets nothing go; nothing was sent.',
  },
  SECRET_UNAVAILABLE: {
    status: 503,
    retry: true,
    means: 'A secret that the document refers to is not there, or `SECRETS_ALLOW` does not name it.',
  },
  DEADLINE_EXCEEDED: { status: 504, retry: true, means: 'The message took longer than `MESSAGE_TIMEOUT_MS`.' },
  STATE_UNAVAILABLE: { status: 503, retry: true, means: 'The store that holds the state of endpoints did not answer.' },
  RATE_LIMITED: {
    status: 429,
    retry: true,
    means: 'More messages than the `rateLimit` of the endpoint; try again after `Retry-After` seconds.',
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
    means: 'Another message (path, query, body or media type) was sent with this `Idempotency-Key` already.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    retry: true,
    means: 'The message with this `Idempotency-Key` was still under way after `MESSAGE_TIMEOUT_MS`.',
  },
  IDEMPOTENCY_ANSWER_NOT_KEPT: {
    status: 409,
    retry: false,
    means: 'The message with this `Idempotency-Key` was done; its answer was larger than `IDEMPOTENCY_ANSWER_LIMIT`.',
  },
  IDEMPOTENCY_UNAVAILABLE: {
    status: 503,
    retry: true,
    means:
      'The store of kept answers did not answer, or is full (`IDEMPOTENCY_MAX_MB`); the sentence says what was done.',
  },
  OVERLOADED: { status: 503, retry: true, means: 'Too many messages at once; try again after `Retry-After` seconds.' },
  SHUTTING_DOWN: { status: 503, retry: true, means: 'The service is stopping; try again after `Retry-After` seconds.' },
  CONFIGURATION_INVALID: {
    status: 400,
    retry: false,
    means: 'The endpoint document has faults; `details` lists all of them, each with its place.',
  },
  DOCUMENT_TOO_LARGE: {
    status: 413,
    retry: false,
    means: 'The endpoint document is larger than `DOCUMENT_LIMIT`; nothing else of it was checked.',
  },
  ENDPOINTS_TOO_MANY: {
    status: 409,
    retry: false,
    means: 'There are as many endpoints as `MAX_ENDPOINTS` lets be; delete one that is not needed.',
  },
  CONFIGURATION_CLASH: {
    status: 409,
    retry: false,
    means: 'Another endpoint has the same name, or a pattern that matches the same paths for the same method.',
  },
  ENDPOINT_UNKNOWN: { status: 404, retry: false, means: 'No endpoint has this id.' },
  DRY_RUN_INVALID: {
    status: 400,
    retry: false,
    means:
      'The request of a dry run is wrong; `details` lists every fault. Faults of the document are no failure of it.',
  },
  DRY_RUN_ANSWER_MISSING: {
    status: 400,
    retry: false,
    means: 'Within a dry run: a lookup for which no answer was given, and which is not to be live.',
  },
  VERSION_UNKNOWN: {
    status: 404,
    retry: false,
    means: 'The endpoint has no version of this number any more, or the version is a deletion.',
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
    means: 'The message log has no message with this id, or not any more.',
  },
  MESSAGE_BODY_UNKNOWN: { status: 404, retry: false, means: 'This body of the message was not kept.' },
  REPLAY_REFUSED: {
    status: 409,
    retry: false,
    means: 'The message cannot be replayed: what came was not kept whole, or its endpoint does not take it any more.',
  },
  REPLAY_OPTION_INVALID: {
    status: 400,
    retry: false,
    means: 'A limit of a replay is not known, or has a value that it cannot have.',
  },
  REPLAY_PLAN_UNKNOWN: { status: 404, retry: false, means: 'There is no such plan of a replay, or not any more.' },
  REPLAY_PLAN_BUSY: {
    status: 409,
    retry: false,
    means: 'The plan of a replay is being run, or has ended; or too many plans are being run.',
  },
  STORE_UNAVAILABLE: {
    status: 503,
    retry: true,
    means: 'The store that holds endpoints and the message log did not answer.',
  },
  INTERNAL: { status: 500, retry: true, means: 'A fault of the service; the cause is in its log.' },
} as const satisfies Record<string, FailureKind>

export type FailureCode = keyof typeof FAILURES

export type FailureDetail = Readonly<{ path: string; message: string }>

export type FailureOptions = Readonly<{
  /** Place in the configuration, for example `requests.lookup[0].config.url`. */
  path?: string
  details?: readonly FailureDetail[]
  /** Instead of the catalogue's status: where an upstream's own status is passed on. */
  status?: number
  /** Further headers of the answer, for example `allow`. */
  headers?: Readonly<Record<string, string>>
  /** Answer as a FHIR R4 OperationOutcome. */
  fhir?: boolean
  /** For the log, where the sentence quotes what another system or the message said: it may be about a person. */
  unquoted?: string
  cause?: unknown
}>

/** A fault of one message: thrown by a stage, answered by pipeline/reply.ts. Its text is safe to send. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly status: number
  readonly options: FailureOptions
  /** Set once by the chain, which knows the stage that threw. */
  stage: string | undefined

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.status = options.status ?? FAILURES[code].status
    this.options = options
  }

  /** What is wrong, for the log. */
  get unquoted(): string {
    return this.options.unquoted ?? this.message
  }

  /** Whether the same message may succeed later; an upstream's own status decides where it is passed on. */
  get retry(): boolean {
    return this.options.status === undefined ? FAILURES[this.code].retry : this.options.status >= 500
  }
}

/** Any thrown value as a Failure: what is not one already is a bug of the service, whose text is never sent. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  return new Failure('INTERNAL', 'The service failed to process this message; its log has the cause.', {
    cause: thrown,
  })
}
