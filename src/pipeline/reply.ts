/** Turns a Failure into the answer of section 11 of the contract; the only place that does. */
import { asFailure, type Failure } from '../domain/failure.ts'
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import type { Answer } from '../domain/message.ts'
import { type Format, MEDIA_TYPES, syntaxOfFormat } from '../formats/media-type.ts'
import { buildXml } from '../formats/xml-build.ts'
import { withoutForbidden } from '../formats/xml-characters.ts'
import type { Outcome } from './outcome.ts'

/**
 * Answers a failure in the output type of the endpoint, or as a FHIR R4 OperationOutcome where the request at fault asks for one.
 *
 * `messageId` is left out for management calls. A cause is never part of the answer.
 */
export function answerFailure(failure: Failure, format: Format, messageId?: string): Answer {
  const fhir = failure.options.fhir === true
  const xml = syntaxOfFormat(format) === 'xml'
  const headers: Record<string, string> = { ...failure.options.headers }
  const retryAfterSeconds = failure.kind.retryAfterSeconds ?? (failure.status === 503 ? 1 : undefined)
  if (retryAfterSeconds !== undefined) headers['retry-after'] ??= String(retryAfterSeconds)
  headers['content-type'] = fhir ? (xml ? 'application/fhir+xml' : 'application/fhir+json') : MEDIA_TYPES[format]
  if (xml) {
    const body = fhir ? { OperationOutcome: outcomeAsXml(failure) } : { root: describe(failure, messageId) }
    return { status: failure.status, headers, body: buildXml(withoutControls(body)) }
  }
  const body = fhir ? { resourceType: 'OperationOutcome', issue: [issueOf(failure)] } : describe(failure, messageId)
  return { status: failure.status, headers, body: JSON.stringify(body) }
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

/** Issue types of http://hl7.org/fhir/R4/valueset-issue-type.html that a status comes nearest to. */
function issueOf(failure: Failure): JsonObject & Readonly<{ severity: string; code: string; diagnostics: string }> {
  return { severity: 'error', code: issueType(failure.status), diagnostics: failure.message }
}

function issueType(status: number): string {
  if (status === 401 || status === 403) return 'security'
  if (status === 404 || status === 410) return 'not-found'
  if (status === 409 || status === 412) return 'conflict'
  if (status === 429) return 'throttled'
  if (status === 504) return 'timeout'
  return status >= 500 ? 'transient' : 'invalid'
}

/** FHIR's XML holds values in attributes (http://hl7.org/fhir/R4/xml.html). */
function outcomeAsXml(failure: Failure): JsonObject {
  const issue = issueOf(failure)
  return {
    $: { xmlns: 'http://hl7.org/fhir' },
    issue: {
      severity: { $: { value: issue.severity } },
      code: { $: { value: issue.code } },
      diagnostics: { $: { value: issue.diagnostics } },
    },
  }
}

/** A failure quotes what came from outside, and must be answered even where that holds characters which XML cannot. */
function withoutControls(body: Json): Json {
  if (typeof body === 'string') return withoutForbidden(body)
  if (Array.isArray(body)) return body.map(withoutControls)
  if (!isObject(body)) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, withoutControls(value)]))
}
