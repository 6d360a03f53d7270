/** Turns a Failure into an answer; no other file does. */

import { asFailure, type Failure, type FailureDetail } from '../core/failure.ts'
import type { JsonObject } from '../core/json.ts'
import type { Answer } from '../core/message.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import { DEFAULT_FORMAT, type Format, type FormatOptions, holdsFhir, outputFormat } from '../formats/codecs.ts'
import { OUTCOME_MEDIA_TYPE, toOperationOutcome } from '../formats/operation-outcome.ts'
import type { Outcome } from './outcome.ts'

/** What an endpoint says of its failures. */
type FailureForm = Pick<Endpoint, 'failures' | 'transformation'> & FormatOptions

/** True if all failures are answered as an OperationOutcome; undefined: those of lookups that ask for it. */
export function answersInFhir({ failures, transformation: { output } }: FailureForm): boolean | undefined {
  if (failures !== undefined) return failures === 'fhir'
  return holdsFhir(output) ? true : undefined
}

/**
 * Answers a failure in a format, with the fields of the service.
 *
 * `messageId`: undefined for management calls. `documented`: the document of the endpoint. The answer never has the cause.
 */
export function answerFailure(
  failure: Failure,
  format: Format = DEFAULT_FORMAT,
  messageId?: string,
  documented?: FormatOptions,
): Answer {
  const { codec, mediaType } = outputFormat(format, documented)
  const body = codec.buildFailure(describe(failure, messageId, codec.hasTypes), failure.retry)
  return { status: failure.status, headers: { ...failureHeaders(failure), 'content-type': mediaType }, body }
}

/** Answers a failure as a FHIR R4 OperationOutcome. */
function answerOutcome(failure: Failure, messageId: string): Answer {
  const headers = { ...failureHeaders(failure), 'x-crosswalk-code': failure.code, 'content-type': OUTCOME_MEDIA_TYPE }
  return { status: failure.status, headers, body: JSON.stringify(toOperationOutcome(failure, messageId)) }
}

/** The outcome of a message that `thrown` ended. `endpoint`: undefined if none is known, which is answered as JSON. */
export function failedOutcome(thrown: unknown, endpoint: FailureForm | undefined, messageId: string): Outcome {
  const failure = asFailure(thrown)
  const inFhir = endpoint !== undefined && (answersInFhir(endpoint) ?? failure.options.fhir === true)
  const answer = inFhir
    ? answerOutcome(failure, messageId)
    : answerFailure(failure, endpoint?.transformation.output, messageId, endpoint)
  return { answer, failure }
}

function failureHeaders({ kind, status, options }: Failure): Record<string, string> {
  const headers: Record<string, string> = { ...options.headers }
  const retryAfterSeconds = kind.retryAfterSeconds ?? (status === 503 ? 1 : undefined)
  if (retryAfterSeconds !== undefined) headers['retry-after'] ??= String(retryAfterSeconds)
  return headers
}

/** `holdsJson`: whether the format takes any names and types; others get the JSON text of details of the document. */
function describe(failure: Failure, messageId: string | undefined, holdsJson: boolean): JsonObject {
  const { path, details, ownDetails } = failure.options
  const shown = holdsJson ? ownDetails : failure.ownDetailsText
  return {
    error: failure.message,
    code: failure.code,
    ...(failure.stage === undefined ? {} : { stage: failure.stage }),
    ...(path === undefined ? {} : { path }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(details === undefined ? {} : { details: details.map(shownDetail) }),
    ...(shown === undefined ? {} : { details: shown }),
  }
}

/** A detail without what only an OperationOutcome shows. */
function shownDetail({ operation, code, path, message }: FailureDetail): JsonObject {
  return { ...(operation === undefined ? {} : { operation }), ...(code === undefined ? {} : { code }), path, message }
}
