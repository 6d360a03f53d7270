/** The rows of FAILURES (failure-table.ts) that only a management call or a dry run fails with. */
import type { FailureKind } from '../failure-kind.ts'

export const MANAGEMENT_FAILURES = {
  CONFIGURATION_INVALID: {
    status: 400,
    retry: false,
    issue: 'invalid',
    means: 'The endpoint document has faults; `details` lists all of them, each with its path.',
  },
  DOCUMENT_TOO_LARGE: {
    status: 413,
    retry: false,
    issue: 'too-long',
    means: 'The endpoint document is larger than `DOCUMENT_LIMIT`; nothing else of it was checked.',
  },
  ENDPOINTS_TOO_MANY: {
    status: 409,
    retry: false,
    issue: 'business-rule',
    means: 'There are as many endpoints as `MAX_ENDPOINTS` allows; delete one that is not needed.',
  },
  CONFIGURATION_CLASH: {
    status: 409,
    retry: false,
    issue: 'conflict',
    means: 'Another endpoint has the same name, or a pattern that matches the same paths for the same method.',
  },
  BATCH_INVALID: {
    status: 400,
    retry: false,
    issue: 'invalid',
    means:
      'The request of a batch is wrong; `details` lists every fault. Faults of its documents have the codes of single changes.',
  },
  ENDPOINT_UNKNOWN: { status: 404, retry: false, issue: 'not-found', means: 'No endpoint has this id.' },
  DRY_RUN_INVALID: {
    status: 400,
    retry: false,
    issue: 'invalid',
    means:
      'The request of a dry run is wrong; `details` lists every fault. Faults of the document do not fail the dry run.',
  },
  DRY_RUN_ANSWER_MISSING: {
    status: 400,
    retry: false,
    issue: 'processing',
    means: 'Within a dry run: a lookup has no canned answer, and is not live.',
    dryRun: true,
  },
  TESTS_INVALID: {
    status: 400,
    retry: false,
    issue: 'invalid',
    means: 'The tests of a document are wrong; `details` lists every fault.',
  },
  TESTS_FAILED: {
    status: 409,
    retry: false,
    issue: 'business-rule',
    means:
      'Stored tests of the endpoint fail with the new document (`TESTS_ON_CHANGE=require`); `details` has each. An admin may override this with a reason.',
  },
  SUGGESTION_INVALID: {
    status: 400,
    retry: false,
    issue: 'invalid',
    means: 'The request for suggestions is wrong; `details` lists every fault.',
  },
  EVENT_STREAMS_TOO_MANY: {
    status: 503,
    retry: true,
    issue: 'throttled',
    means:
      'As many event streams as the service allows are read already, and no caller has more of them than this one.',
    retryAfterSeconds: 15,
  },
  SHAPE_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'FHIR R4 has no type of this name, or the installation has no shapes.',
  },
  TABLE_UNKNOWN: { status: 404, retry: false, issue: 'not-found', means: 'No table has this name.' },
  CODE_UNKNOWN: { status: 404, retry: false, issue: 'not-found', means: 'The table has no row with this code.' },
  TABLE_INVALID: {
    status: 400,
    retry: false,
    issue: 'invalid',
    means: 'The rows of a table have faults; `details` has each, with its line. Nothing was stored.',
  },
  TABLE_IN_USE: {
    status: 409,
    retry: false,
    issue: 'business-rule',
    means: 'An endpoint reads the table, or a column, that would no longer be there.',
  },
  TABLES_FULL: {
    status: 409,
    retry: false,
    issue: 'business-rule',
    means:
      'All tables together would take more memory than `TABLES_MAX_BYTES`, or reading one takes more than the process has.',
  },
  VERSION_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'The endpoint has no version of this number, or no longer, or the version is a deletion.',
  },
  ID_MALFORMED: { status: 400, retry: false, issue: 'value', means: 'The id is not 24 lower-case hexadecimal digits.' },
  FILTER_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means: 'A query filter is not known, or has a value that it cannot have.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    retry: false,
    issue: 'conflict',
    means: '`If-Match` names another version of the document than the stored one, or `If-None-Match: *` finds a table.',
    stale: true,
  },
  MANAGEMENT_REFUSED: {
    status: 403,
    retry: false,
    issue: 'forbidden',
    means:
      'The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.',
  },
  KEY_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means: 'An API key cannot be made with this name or these roles.',
  },
  KEY_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'No API key has this id, or it is revoked already.',
  },
  MESSAGE_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'The message log has no message with this id, or no longer.',
  },
  MESSAGE_BODY_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'This body of the message was not recorded.',
  },
  FAILURE_GROUP_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'There is no such group of failures, or the message log has no message of it any more.',
  },
  FAILURE_GROUP_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means: 'The mark of a group of failures is not a state with an optional note.',
  },
  CAPTURE_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means: 'A capture cannot have this number of messages, or end at this time.',
  },
  CAPTURE_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'The endpoint has no capture.',
  },
  SCHEDULE_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'The endpoint has no schedule, or is not active.',
  },
  SCHEDULE_BUSY: {
    status: 409,
    retry: true,
    issue: 'lock-error',
    means: 'A run of the schedule is under way; the next one can start when it has ended.',
  },
  MESSAGE_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means: 'A message cannot be sent to the endpoint with the parts that the call gives.',
  },
  REPLAY_REFUSED: {
    status: 409,
    retry: false,
    issue: 'conflict',
    means: 'The message cannot be replayed: it was not recorded whole, or its endpoint no longer accepts it.',
  },
  REPLAY_OPTION_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means: 'A limit of a replay is not known, or has a value that it cannot have.',
  },
  REPLAY_PLAN_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'There is no such plan of a replay, or no longer.',
  },
  REPLAY_PLAN_BUSY: {
    status: 409,
    retry: false,
    issue: 'conflict',
    means: 'The plan of a replay is running, or has ended; or too many plans are running.',
  },
  DELIVERY_UNKNOWN: {
    status: 404,
    retry: false,
    issue: 'not-found',
    means: 'There is no delivery with this id, or no longer.',
  },
  DELIVERY_ENDED: {
    status: 409,
    retry: false,
    issue: 'conflict',
    means: 'The delivery has arrived, or was cancelled: it cannot be changed in this way.',
  },
  DELIVERY_BUSY: {
    status: 409,
    retry: true,
    issue: 'lock-error',
    means: 'The delivery is being sent; it can get another body when the attempt has ended.',
  },
  DELIVERY_RETRY_INVALID: {
    status: 400,
    retry: false,
    issue: 'value',
    means: 'The retry of a delivery has a field that is not known, or a body that the delivery cannot have.',
  },
  STORE_UNAVAILABLE: {
    status: 503,
    retry: true,
    issue: 'no-store',
    means: 'The store that holds endpoints and the message log did not answer.',
    store: 'management',
  },
} as const satisfies Record<string, FailureKind>
