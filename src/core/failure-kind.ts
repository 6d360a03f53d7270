/** The properties of a row of FAILURES (failure-table.ts). */
export type FailureKind = Readonly<{
  /** HTTP status of the answer. */
  status: number
  /** The same message may succeed later with nothing changed: decides over retry or dead letter. */
  retry: boolean
  /** Statuses below 500 that the failure may have and with which it may succeed later. Absent: none. */
  retryAt?: readonly number[]
  /**
   * The issue type of FHIR R4 for an OperationOutcome; by the status that is passed on, undefined if there is none, where
   * that decides.
   */
  issue: IssueType | ((passedOn: number | undefined) => IssueType)
  /** One sentence for the user's guide. */
  means: string
  /**
   * A fault of the service: the log gets its cause, and an OperationOutcome calls it fatal. Absent: a fault of the sender, the
   * document or another system.
   */
  bug?: true
  /**
   * The message is rejected unread, because of the load or because the service stops. Logs and records of it may be
   * dropped, and its body may be left unread. Absent: the failure is about the message.
   */
  shed?: 'load' | 'stop'
  /**
   * A lookup failed with it: without an answer, or with one that cannot be used. An optional lookup then gives its
   * default. Absent: an optional lookup does not excuse the failure.
   */
  lookup?: 'unanswered' | 'unusable'
  /** A repetition with the same `Idempotency-Key` is processed again although `retry` is false. Absent: `retry` decides. */
  reprocess?: true
  /** Seconds of `Retry-After` if the failure names none. Absent: 1 for a status of 503, else the answer has no such header. */
  retryAfterSeconds?: number
  /** A store did not answer or is full: which one. Absent: the failure is not about a store. */
  store?: 'management' | 'state' | 'delivery'
  /** The endpoint changed since the caller read it. Absent: no conflict of versions. */
  stale?: true
  /** Nothing is at the path, so that a caller may have the wrong port. Absent: the failure is about what is there. */
  noRoute?: true
  /** Code and text of ERR-3 in acknowledgements of HL7 v2 (table HL7 0357). Absent: an internal error of the application. */
  hl7Error?: readonly [code: string, text: string]
  /** The dry run itself lacks something: its report does not blame the call. Absent: the report shows the fault. */
  dryRun?: true
}>

/** The issue types of FHIR R4: https://hl7.org/fhir/R4/valueset-issue-type.html. */
export const ISSUE_TYPES = [
  'invalid',
  'structure',
  'required',
  'value',
  'invariant',
  'security',
  'login',
  'unknown',
  'expired',
  'forbidden',
  'suppressed',
  'processing',
  'not-supported',
  'duplicate',
  'multiple-matches',
  'not-found',
  'deleted',
  'too-long',
  'code-invalid',
  'extension',
  'too-costly',
  'business-rule',
  'conflict',
  'transient',
  'lock-error',
  'no-store',
  'exception',
  'timeout',
  'incomplete',
  'throttled',
  'informational',
] as const

export type IssueType = (typeof ISSUE_TYPES)[number]

const BY_STATUS: Readonly<Record<number, IssueType>> = {
  401: 'security',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  410: 'deleted',
  412: 'conflict',
  429: 'throttled',
  504: 'timeout',
}

/** The issue type for the status that another system answered with; undefined if it refused without one. */
export function issueForStatus(status: number | undefined): IssueType {
  if (status === undefined) return 'processing'
  return BY_STATUS[status] ?? (status >= 500 ? 'transient' : 'processing')
}

const OF_REJECTIONS: Readonly<Record<number, IssueType>> = {
  400: 'business-rule',
  408: 'timeout',
  422: 'business-rule',
}

/** The same for a status that the author of a document chose. */
export const issueForRejection = (status = 422): IssueType => OF_REJECTIONS[status] ?? issueForStatus(status)
