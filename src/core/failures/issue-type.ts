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
export function issueOfStatus(status: number | undefined): IssueType {
  if (status === undefined) return 'processing'
  return BY_STATUS[status] ?? (status >= 500 ? 'transient' : 'processing')
}
