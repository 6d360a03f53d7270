/** The failures that the messages of an endpoint can end with, as its configuration allows. */

import { FAILURES, type FailureCode } from '../../core/failure-table.ts'
import type { MANAGEMENT_FAILURES } from '../../core/failures/management-failure-table.ts'
import { referencesIn } from '../../core/secrets/references.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { isPrimary } from '../../document/schema/schema.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'
import { usesState } from '../../pipeline/stages/state.ts'
import { namesParts } from '../../pipeline/stages/validate.ts'

export type MessageFailureCode = Exclude<FailureCode, keyof typeof MANAGEMENT_FAILURES>

/** What the configuration has, as far as failures depend on it. */
type Parts = Readonly<{
  endpoint: Endpoint
  takesBody: boolean
  /** A lookup whose failure fails the message. */
  hasLookup: boolean
  /** A response request to a URL or a topic whose failure fails the message. */
  hasUrl: boolean
  hasTopic: boolean
  hasRequests: boolean
  hasParameters: boolean
  hasForEach: boolean
}>

const always = (): boolean => true
const never = (): boolean => false
const ofLookups = ({ hasLookup }: Parts): boolean => hasLookup
const ofUrls = ({ hasUrl }: Parts): boolean => hasUrl
const ofResponses = ({ hasUrl, hasTopic }: Parts): boolean => hasUrl || hasTopic
const ofBodies = ({ takesBody }: Parts): boolean => takesBody
const ofKeys = ({ endpoint }: Parts): boolean => endpoint.idempotency !== undefined

const CAN_FAIL: Readonly<Record<MessageFailureCode, (parts: Parts) => boolean>> = {
  // These say that another endpoint, or none, is meant.
  ROUTE_UNKNOWN: never,
  METHOD_NOT_ALLOWED: never,
  REQUEST_MALFORMED: always,
  REQUEST_TIMED_OUT: always,
  EXPECTATION_REFUSED: always,
  HEADERS_TOO_LARGE: always,
  URL_MALFORMED: ({ endpoint }) => hasUrlParameters(endpoint),
  BODY_UNREADABLE: ofBodies,
  BODY_TOO_DEEP: ofBodies,
  BODY_TOO_LARGE: always,
  BODY_CUT_SHORT: always,
  MEDIA_TYPE_WRONG: ofBodies,
  PARAMETER_INVALID: ({ hasParameters }) => hasParameters,
  FOREACH_INVALID: ({ hasForEach }) => hasForEach,
  VALIDATION_FAILED: ({ endpoint }) => endpoint.inputValidation !== undefined,
  LOOKUP_INVALID: ({ endpoint: { inputValidation, requests } }) =>
    requests.lookup.length > 0 && inputValidation !== undefined && namesParts(inputValidation, inputValidation),
  LOOKUP_REFUSED: ofLookups,
  LOOKUP_UNREACHABLE: ofLookups,
  LOOKUP_TIMED_OUT: ofLookups,
  LOOKUP_UNREADABLE: ofLookups,
  LOOKUP_CIRCUIT_OPEN: ofLookups,
  TRANSFORM_FAILED: ({ endpoint }) => Object.keys(endpoint.inputTransforms ?? {}).length > 0,
  MESSAGE_TOO_COSTLY: always,
  BUDGET_EXHAUSTED: always,
  MAPPING_FAILED: ({ endpoint }) => Object.keys(endpoint.inputMapping).length > 0,
  OUTPUT_TOO_LARGE: ({ endpoint }) => Object.keys(endpoint.inputMapping).length > 0,
  SERIALISE_FAILED: always,
  RESPONSE_UNREACHABLE: ofResponses,
  RESPONSE_TIMED_OUT: ofResponses,
  RESPONSE_CIRCUIT_OPEN: ofUrls,
  RESPONSE_UNREADABLE: ofUrls,
  RESPONSE_REFUSED: ({ hasTopic }) => hasTopic,
  EGRESS_DENIED: ({ hasLookup, hasUrl }) => hasLookup || hasUrl,
  SECRET_UNAVAILABLE: ({ endpoint: { auth = {}, constants, requests } }) =>
    referencesIn(JSON.stringify([auth, constants, requests])).length > 0,
  // Expressions and schemas may run in another process, which has to take them in time.
  DEADLINE_EXCEEDED: ({ endpoint, hasRequests }) =>
    hasRequests || endpoint.inputTransforms !== undefined || endpoint.inputValidation !== undefined,
  STATE_TOO_LARGE: ({ endpoint }) => endpoint.state.extract !== undefined,
  STATE_UNAVAILABLE: ({ endpoint }) => usesState(endpoint),
  RATE_LIMITED: ({ endpoint }) => endpoint.rateLimit !== undefined,
  IDEMPOTENCY_KEY_MISSING: ({ endpoint }) => endpoint.idempotency?.required === true,
  IDEMPOTENCY_KEY_INVALID: ofKeys,
  IDEMPOTENCY_KEY_REUSED: ofKeys,
  IDEMPOTENCY_KEY_IN_USE: ofKeys,
  IDEMPOTENCY_ANSWER_NOT_KEPT: ofKeys,
  IDEMPOTENCY_UNAVAILABLE: ofKeys,
  OVERLOADED: always,
  SHUTTING_DOWN: always,
  CREDENTIALS_REFUSED: ({ endpoint }) => endpoint.auth !== undefined,
  ACCESS_DENIED: ({ endpoint }) => (endpoint.auth?.jwt?.scopes?.length ?? 0) > 0,
  IDENTITY_UNAVAILABLE: ({ endpoint }) => endpoint.auth?.jwt?.jwksUrl !== undefined,
  INTERNAL: always,
}

/** In the order of the table. */
export function possibleFailures(endpoint: Endpoint): readonly MessageFailureCode[] {
  const parts = partsOf(endpoint)
  return Object.keys(FAILURES).filter((code): code is MessageFailureCode =>
    CAN_FAIL[code as MessageFailureCode]?.(parts),
  )
}

function partsOf(endpoint: Endpoint): Parts {
  const { lookup, response } = endpoint.requests
  const alone = aloneOf(endpoint)
  const requests = [...lookup, ...response]
  const { method } = endpoint.endpoint
  return {
    endpoint,
    takesBody: method === 'POST' || method === 'PUT',
    hasLookup: lookup.some(({ optional }) => optional !== true),
    hasUrl: alone !== undefined && alone.optional !== true && alone.kafkaProducerTopic === undefined,
    hasTopic: response.some(
      ({ kafkaProducerTopic, optional }) => kafkaProducerTopic !== undefined && optional !== true,
    ),
    hasRequests: requests.length > 0,
    hasParameters: requests.some(
      ({ config }) => Object.keys({ ...config?.params?.query, ...config?.params?.url }).length > 0,
    ),
    hasForEach: requests.some(({ forEach }) => forEach !== undefined),
  }
}

/** The response request whose answer is that of the message. */
export function aloneOf({ requests: { response } }: Endpoint): Endpoint['requests']['response'][number] | undefined {
  return response.find((request) => request.forEach === undefined && (response.length === 1 || isPrimary(request)))
}

function hasUrlParameters({ endpoint: { pattern } }: Endpoint): boolean {
  const parsed = parseRoutePattern(pattern)
  return parsed.ok && parsed.value.parameters.length > 0
}
