/** The failures of an endpoint as responses of its operation, by status. */

import { createHash } from 'node:crypto'
import { FAILURES, type FailureCode, kindForCode } from '../../core/failure-table.ts'
import type { MANAGEMENT_FAILURES } from '../../core/failures/management-failure-table.ts'
import { takesBody } from '../../core/http.ts'
import type { JsonObject } from '../../core/json.ts'
import { referencesIn } from '../../core/secrets/secrets.ts'
import { listMappings } from '../../document/reads/document-mappings.ts'
import { listReferences } from '../../document/reads/document-reads.ts'
import { lookupOrder } from '../../document/reads/lookup-order.ts'
import { listTableUses, mayReadTables } from '../../document/reads/table-uses.ts'
import { type Endpoint, isDurable, mayBeUnrouted, possibleSoles } from '../../document/schema/schema.ts'
import { codecForFormat, MEDIA_TYPES } from '../../formats/codecs.ts'
import { OUTCOME_MEDIA_TYPE } from '../../formats/operation-outcome.ts'
import { splitPattern, variableName } from '../../language/route-pattern.ts'
import { targetOf } from '../../outbound/targets.ts'
import { answersInFhir } from '../../pipeline/reply.ts'
import { usesState } from '../../pipeline/stages/state.ts'
import { namesParts } from '../../pipeline/stages/validate.ts'

type FailureResponses = Readonly<{
  /** By status: references to the components. */
  responses: JsonObject
  /** For `components.responses`. */
  components: JsonObject
}>

/** Statuses of codes that have others than that of their row. */
const STATUSES: Readonly<Partial<Record<MessageFailureCode, readonly string[]>>> = {
  LOOKUP_REFUSED: ['4XX', '5XX', '502'],
  REJECTED: ['4XX', '5XX'],
  LOOKUP_CIRCUIT_OPEN: ['502', '503', '504'],
  RESPONSE_CIRCUIT_OPEN: ['502', '503', '504'],
}

/** The same where lookups read others. */
const STATUSES_IN_ORDER: typeof STATUSES = { PARAMETER_INVALID: ['400', '502'] }

/** Responses that were described already, by all that they depend on: of thousands of endpoints, most have the same. */
export type KnownFailures = Map<string, FailureResponses>

/** Describes each failure that the configuration can give. */
export function describeFailures(endpoint: Endpoint, known: KnownFailures = new Map()): FailureResponses {
  const codes = possibleFailures(endpoint)
  const form = chooseShape(endpoint)
  const key = JSON.stringify([form, codes])
  const described = known.get(key) ?? describeCodes(codes, form)
  known.set(key, described)
  return described
}

/** What failures of an endpoint look like. `inFhir`: undefined for those of some lookups only. */
type FailureShape = Readonly<{
  output: Endpoint['transformation']['output']
  inFhir: boolean | undefined
  isPassedOn: boolean
  hasOrder: boolean
}>

function chooseShape(endpoint: Endpoint): FailureShape {
  const isOfSome = endpoint.requests.lookup.some((one) => one.fhirResponse)
  return {
    output: endpoint.transformation.output,
    inFhir: answersInFhir(endpoint) ?? (isOfSome ? undefined : false),
    isPassedOn: possibleSoles(endpoint).length > 0,
    hasOrder: lookupOrder(endpoint) !== undefined,
  }
}

function describeCodes(codes: readonly MessageFailureCode[], form: FailureShape): FailureResponses {
  const listStatuses = (code: MessageFailureCode): readonly string[] =>
    (form.hasOrder ? STATUSES_IN_ORDER[code] : undefined) ?? STATUSES[code] ?? [String(kindForCode(code).status)]
  const statuses = [...new Set(codes.flatMap(listStatuses))].sort()
  // The status of a lookup that refuses is passed on, whatever it is.
  const matchesStatus = (status: string, code: MessageFailureCode): boolean =>
    listStatuses(code).some((one) => one === status || (one.endsWith('XX') && one[0] === status[0]))
  const responses: Record<string, JsonObject> = {}
  const components: Record<string, JsonObject> = {}
  for (const status of statuses) {
    const own = codes.filter((code) => matchesStatus(status, code))
    const response = createResponse(form, status, own)
    const name = sharedName(`failure-${status}`, response)
    components[name] = response
    responses[status] = { $ref: `#/components/responses/${name}` }
  }
  return { responses, components }
}

const REPEATABLE = new Set(['429', '503'])

function createResponse(
  { output, inFhir, isPassedOn }: FailureShape,
  status: string,
  codes: readonly MessageFailureCode[],
): JsonObject {
  const passedOn = isPassedOn ? [{ description: 'The answer of the response request, passed on.' }] : []
  const either = (schema: JsonObject): JsonObject => (isPassedOn ? { anyOf: [schema, ...passedOn] } : schema)
  return {
    description: codes.map((code) => `${code}: ${kindForCode(code).means}`).join('\n\n'),
    headers: {
      'X-Crosswalk-Message-Id': { $ref: '#/components/headers/MessageId' },
      ...(inFhir === false ? {} : { 'X-Crosswalk-Code': { $ref: '#/components/headers/Code' } }),
      ...(REPEATABLE.has(status) ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
      ...(status === '401' ? { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } } : {}),
    },
    content: {
      ...(inFhir === true ? {} : { [MEDIA_TYPES[output]]: { schema: either(plainSchema(codes, output)) } }),
      ...(inFhir === false ? {} : { [OUTCOME_MEDIA_TYPE]: { schema: either(ref('OperationOutcome')) } }),
    },
    'x-crosswalk-codes': [...codes],
  }
}

const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })

function plainSchema(codes: readonly MessageFailureCode[], output: Endpoint['transformation']['output']): JsonObject {
  return {
    allOf: [ref('Failure')],
    properties: { code: { enum: [...codes] } },
    'x-crosswalk-source': 'failures',
    ...codecForFormat(output).failureKeywords,
  }
}

const text = { type: 'string' }

/** The schemas and headers that failures of all endpoints share. The names of the schemas of endpoints hold a dot. */
export const FAILURE_COMPONENTS: Readonly<Record<'schemas' | 'headers', JsonObject>> = {
  schemas: {
    Failure: {
      type: 'object',
      required: ['error', 'code'],
      properties: {
        error: { ...text, description: 'A sentence that says what to do.' },
        code: text,
        stage: { ...text, description: 'The stage of the message that failed.' },
        path: { ...text, description: 'The path in the configuration.' },
        messageId: text,
        // A list of one detail in XML isn't a list.
        details: { description: 'The faults one by one, each with `path` and `message`.' },
      },
      'x-crosswalk-source': 'failures',
    },
    OperationOutcome: {
      type: 'object',
      description: 'https://hl7.org/fhir/R4/operationoutcome.html',
      required: ['resourceType', 'issue'],
      properties: {
        resourceType: { const: 'OperationOutcome' },
        issue: { type: 'array', minItems: 1, items: { type: 'object', required: ['severity', 'code'] } },
      },
      'x-crosswalk-source': 'failures',
    },
  },
  headers: {
    MessageId: { description: 'The id of the message.', schema: text },
    Code: { description: 'The code of the failure.', schema: text },
    RetryAfter: { description: 'Seconds after which the message can be sent again.', schema: { type: 'integer' } },
    Challenge: { description: 'The credentials that the endpoint asks for.', schema: text },
    Status: { description: '`partial` if a response request failed.', schema: { enum: ['partial'] } },
  },
}

// The failures that the messages of an endpoint can end with, as its configuration allows.

type MessageFailureCode = Exclude<FailureCode, keyof typeof MANAGEMENT_FAILURES>

/** What the configuration has, as far as failures depend on it. */
type Parts = Readonly<{
  endpoint: Endpoint
  takesBody: boolean
  /** A lookup whose failure fails the message. */
  hasLookup: boolean
  /** A response request to a URL or a topic whose failure fails the message. */
  hasPassedOn: boolean
  hasPromised: boolean
  /** One whose target may refuse it without an answer, which HTTP does not know. */
  hasRefusable: boolean
  hasRequests: boolean
  hasParameters: boolean
  hasForEach: boolean
}>

const always = (): boolean => true
const never = (): boolean => false
const ofLookups = ({ hasLookup }: Parts): boolean => hasLookup
const ofPassedOn = ({ hasPassedOn }: Parts): boolean => hasPassedOn
const ofResponses = ({ hasPassedOn, hasPromised }: Parts): boolean => hasPassedOn || hasPromised
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
    requests.lookup.some(({ validation }) => validation !== undefined) ||
    (requests.lookup.length > 0 && inputValidation !== undefined && namesParts(inputValidation, inputValidation)),
  LOOKUP_REFUSED: ofLookups,
  LOOKUP_UNREACHABLE: ofLookups,
  LOOKUP_TIMED_OUT: ofLookups,
  LOOKUP_UNREADABLE: ofLookups,
  LOOKUP_PAGING_FAILED: ({ endpoint }) => endpoint.requests.lookup.some(({ page }) => page !== undefined),
  LOOKUP_NOT_RECORDED: never,
  LOOKUP_CIRCUIT_OPEN: ofLookups,
  TRANSFORM_FAILED: ({ endpoint }) => listReferences(endpoint).some(({ kind }) => kind === 'expression'),
  REJECTED: ({ endpoint }) =>
    listReferences(endpoint).some(({ kind, text }) => kind === 'expression' && /\$(?:fail|eval)\b/.test(text)),
  MESSAGE_TOO_COSTLY: always,
  BUDGET_EXHAUSTED: always,
  CODE_UNMAPPED: ({ endpoint }) => listTableUses(endpoint).length > 0 || callsTable(endpoint),
  TABLE_MISSING: ({ endpoint }) => callsTable(endpoint),
  MAPPING_FAILED: ({ endpoint }) => listMappings(endpoint).length > 0,
  OUTPUT_TOO_LARGE: ({ endpoint }) => listMappings(endpoint).length > 0,
  SERIALISE_FAILED: always,
  RESPONSE_UNREACHABLE: ofResponses,
  RESPONSE_TIMED_OUT: ofResponses,
  RESPONSE_CIRCUIT_OPEN: ofPassedOn,
  RESPONSE_UNREADABLE: ofPassedOn,
  RESPONSE_REFUSED: ({ hasRefusable }) => hasRefusable,
  ANSWER_INVALID: ({ endpoint: { answer } }) =>
    [answer?.status, ...Object.values(answer?.headers ?? {})].some((value) => typeof value === 'object'),
  NOT_ROUTED: ({ endpoint }) => mayBeUnrouted(endpoint) && endpoint.unrouted !== 'answer',
  EGRESS_DENIED: ({ hasLookup, hasPassedOn }) => hasLookup || hasPassedOn,
  SECRET_UNAVAILABLE: ({ endpoint: { auth = {}, constants, requests } }) =>
    referencesIn(JSON.stringify([auth, constants, requests])).length > 0,
  AUTH_UNAVAILABLE: ({ endpoint: { requests }, hasLookup, hasPassedOn }) =>
    (hasLookup || hasPassedOn) &&
    [...requests.lookup, ...requests.response].some(
      ({ config }) => (config?.auth?.oauth2 ?? config?.auth?.tls) !== undefined,
    ),
  // Expressions and schemas may run in another process, which has to take them in time.
  DEADLINE_EXCEEDED: ({ endpoint, hasRequests }) =>
    hasRequests || endpoint.inputTransforms !== undefined || endpoint.inputValidation !== undefined,
  STATE_TOO_LARGE: ({ endpoint }) => endpoint.state.extract !== undefined,
  STATE_UNAVAILABLE: ({ endpoint }) => usesState(endpoint),
  DELIVERIES_FULL: ({ endpoint }) => endpoint.requests.response.some(isDurable),
  DELIVERY_UNAVAILABLE: ({ endpoint }) => endpoint.requests.response.some(isDurable),
  SCHEDULE_LEASE_LOST: never,
  RATE_LIMITED: ({ endpoint }) => endpoint.rateLimit !== undefined,
  ENDPOINT_PAUSED: ({ endpoint }) => endpoint.paused === true,
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

const callsTable = (endpoint: Endpoint): boolean =>
  listReferences(endpoint).some(({ kind, text }) => kind === 'expression' && mayReadTables(text))

/** In the order of the table. */
function possibleFailures(endpoint: Endpoint): readonly MessageFailureCode[] {
  const parts = listParts(endpoint)
  return Object.keys(FAILURES).filter((code): code is MessageFailureCode =>
    CAN_FAIL[code as MessageFailureCode]?.(parts),
  )
}

function listParts(endpoint: Endpoint): Parts {
  const { lookup, response } = endpoint.requests
  const requests = [...lookup, ...response]
  const { method } = endpoint.endpoint
  const passedOn = possibleSoles(endpoint).filter(
    (request) => request.optional !== true && targetOf(request).promise === undefined,
  )
  const hasPromised = response.some(
    (request) => !isDurable(request) && targetOf(request).promise !== undefined && request.optional !== true,
  )
  return {
    endpoint,
    takesBody: takesBody(method),
    hasLookup: lookup.some(({ optional }) => optional !== true),
    hasPassedOn: passedOn.length > 0,
    hasPromised,
    hasRefusable: hasPromised || passedOn.some((request) => !targetOf(request).isHttp),
    hasRequests: requests.length > 0,
    hasParameters: requests.some(
      ({ config }) => Object.keys({ ...config?.params?.query, ...config?.params?.url }).length > 0,
    ),
    hasForEach: requests.some(({ forEach }) => forEach !== undefined),
  }
}

const hasUrlParameters = ({ endpoint: { pattern = '/' } }: Endpoint): boolean =>
  splitPattern(pattern).some((segment) => variableName(segment) !== undefined)

// The names of what an endpoint adds to an OpenAPI document. They depend on the endpoint alone, so that parts can be kept.

const MAX_CHARACTERS = 60
/** Twelve digits at the end mark a name that was changed. */
const CHANGED = /-[0-9a-f]{12}$/

/**
 * In: the unique name of an endpoint. Out: a text of letters, digits, `_` and `-` that no other name gives; the name itself
 * where it is one.
 */
export function componentName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, MAX_CHARACTERS)
  return plain === name && !CHANGED.test(name) ? name : `${plain}-${computeHash(name)}`
}

/** A name for a part that endpoints share: equal parts have one name. */
export const sharedName = (prefix: string, part: object): string => `${prefix}-${computeHash(JSON.stringify(part))}`

const computeHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)
