/** Turns a Failure into an answer; no other file does. */
import { asFailure, type Failure } from '../domain/failure.ts'
import type { JsonObject } from '../domain/json.ts'
import type { Answer } from '../domain/message.ts'
import { codecOfFormat, type Format, MEDIA_TYPES } from '../formats/codecs.ts'
import type { Outcome } from './outcome.ts'

/**
 * Answers a failure in the output type of the endpoint, or as a FHIR R4 OperationOutcome if the request at fault asks for one.
 *
 * `messageId`: undefined for management calls. The answer never has the cause.
 */
export function answerFailure(failure: Failure, format: Format, messageId?: string): Answer {
  const codec = codecOfFormat(format)
  const isFhir = failure.options.fhir === true
  const headers: Record<string, string> = { ...failure.options.headers }
  const retryAfterSeconds = failure.kind.retryAfterSeconds ?? (failure.status === 503 ? 1 : undefined)
  if (retryAfterSeconds !== undefined) headers['retry-after'] ??= String(retryAfterSeconds)
  headers['content-type'] = isFhir ? codec.fhir.mediaType : MEDIA_TYPES[format]
  const body = isFhir ? codec.fhir.build(outcomeOf(failure)) : codec.buildFailure(describe(failure, messageId))
  return { status: failure.status, headers, body }
}

/** The outcome of a message that `thrown` ended. */
export function failedOutcome(thrown: unknown, format: Format, messageId: string): Outcome {
  const failure = asFailure(thrown)
  return { answer: answerFailure(failure, format, messageId), failure }
}

function describe(failure: Failure, messageId: string | undefined): JsonObject {
  const { path, details } = failure.options
  return {
    error: failure.message,
    code: failure.code,
    ...(failure.stage === undefined ? {} : { stage: failure.stage }),
    ...(path === undefined ? {} : { path }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(details === undefined ? {} : { details }),
  }
}

function outcomeOf({ status, message }: Failure): JsonObject {
  const issue = { severity: 'error', code: issueType(status), diagnostics: message }
  return { resourceType: 'OperationOutcome', issue: [issue] }
}

/** The nearest issue type of http://hl7.org/fhir/R4/valueset-issue-type.html. */
function issueType(status: number): string {
  if (status === 401 || status === 403) return 'security'
  if (status === 404 || status === 410) return 'not-found'
  if (status === 409 || status === 412) return 'conflict'
  if (status === 429) return 'throttled'
  if (status === 504) return 'timeout'
  return status >= 500 ? 'transient' : 'invalid'
}
