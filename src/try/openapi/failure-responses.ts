/** The failures of an endpoint as responses of its operation, by status. */

import { kindOf } from '../../core/failure-table.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { codecOfFormat, MEDIA_TYPES } from '../../formats/codecs.ts'
import { OUTCOME_MEDIA_TYPE } from '../../pipeline/operation-outcome.ts'
import { answersInFhir } from '../../pipeline/reply.ts'
import { sharedName } from './component-names.ts'
import { aloneOf, type MessageFailureCode, possibleFailures } from './possible-failures.ts'

export type FailureResponses = Readonly<{
  /** By status: references to the components. */
  responses: JsonObject
  /** For `components.responses`. */
  components: JsonObject
}>

/** Statuses of codes that have others than that of their row. */
const STATUSES: Readonly<Partial<Record<MessageFailureCode, readonly string[]>>> = {
  LOOKUP_REFUSED: ['4XX', '5XX', '502'],
  LOOKUP_CIRCUIT_OPEN: ['502', '503', '504'],
  RESPONSE_CIRCUIT_OPEN: ['502', '503', '504'],
}

/** Responses that were described already, by all that they depend on: of thousands of endpoints, most have the same. */
export type KnownFailures = Map<string, FailureResponses>

/** Describes each failure that the configuration can give. */
export function describeFailures(endpoint: Endpoint, known: KnownFailures = new Map()): FailureResponses {
  const codes = possibleFailures(endpoint)
  const form = formOf(endpoint)
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
}>

function formOf(endpoint: Endpoint): FailureShape {
  const isOfSome = endpoint.requests.lookup.some((one) => one.fhirResponse)
  return {
    output: endpoint.transformation.output,
    inFhir: answersInFhir(endpoint) ?? (isOfSome ? undefined : false),
    isPassedOn: aloneOf(endpoint) !== undefined,
  }
}

function describeCodes(codes: readonly MessageFailureCode[], form: FailureShape): FailureResponses {
  const statusesOf = (code: MessageFailureCode): readonly string[] => STATUSES[code] ?? [String(kindOf(code).status)]
  const statuses = [...new Set(codes.flatMap(statusesOf))].sort()
  // The status of a lookup that refuses is passed on, whatever it is.
  const isOf = (status: string, code: MessageFailureCode): boolean =>
    statusesOf(code).some((one) => one === status || (one.endsWith('XX') && one[0] === status[0]))
  const responses: Record<string, JsonObject> = {}
  const components: Record<string, JsonObject> = {}
  for (const status of statuses) {
    const own = codes.filter((code) => isOf(status, code))
    const response = responseOf(form, status, own)
    const name = sharedName(`failure-${status}`, response)
    components[name] = response
    responses[status] = { $ref: `#/components/responses/${name}` }
  }
  return { responses, components }
}

const REPEATABLE = new Set(['429', '503'])

function responseOf(
  { output, inFhir, isPassedOn }: FailureShape,
  status: string,
  codes: readonly MessageFailureCode[],
): JsonObject {
  const passedOn = isPassedOn ? [{ description: 'The answer of the response request, passed on.' }] : []
  const either = (schema: JsonObject): JsonObject => (isPassedOn ? { anyOf: [schema, ...passedOn] } : schema)
  return {
    description: codes.map((code) => `${code}: ${kindOf(code).means}`).join('\n\n'),
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
  const schema = {
    allOf: [ref('Failure')],
    properties: { code: { enum: [...codes] } },
    'x-crosswalk-source': 'failures',
  }
  return codecOfFormat(output).name === 'XML' ? { ...schema, xml: { name: 'root' } } : schema
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
        path: { ...text, description: 'The place in the configuration.' },
        messageId: text,
        // A list of one detail in XML is no list.
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
