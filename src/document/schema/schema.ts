/**
 * The endpoint document: its types, its checks and its page of the user's guide all come from this schema. Beside the
 * keywords of JSON Schema, a field may have those of `FieldNotes` (schema-fields.ts).
 */
import Type, { type Static, type TSchema } from 'typebox'
import { ENDPOINT_METHODS } from '../../core/http.ts'
import type { Json } from '../../core/json.ts'
import type { Fixed } from '../../core/schema.ts'
import { DEFAULT_FORMAT, FORMATS, OPTION_SCHEMAS } from '../../formats/codecs.ts'
import { AnswerSchema } from './schema-answer.ts'
import { AuthSchema } from './schema-auth.ts'
import {
  anyObject,
  type Field,
  type FieldNotes,
  list,
  named,
  nonEmptyText,
  optional,
  record,
  STATUSES,
  status,
  text,
  topic,
  UNKNOWN,
  UNKNOWN_PATTERN,
  UNKNOWN_URL,
} from './schema-fields.ts'
import { KafkaSchema } from './schema-kafka.ts'
import { IdempotencySchema, LimitsSchema, RateLimitSchema } from './schema-limits.ts'
import { MllpSchema } from './schema-mllp.ts'
import { LookupSchema, type ParameterSchema, ResponseSchema } from './schema-requests.ts'
import { ScheduleSchema } from './schema-schedule.ts'

/** `readsBelow`: as in `FieldNotes`; undefined: the paths are not of the message. */
const pathsByName = (read: string, example: Json, readsBelow: string | undefined) =>
  named(nonEmptyText({ description: 'Path of the value.', ...(readsBelow === undefined ? {} : { readsBelow }) }), {
    description: `Name → path in ${read}.`,
    examples: [example],
    namesInMessage: true,
  })

const extract = record(
  {
    requestBody: optional(pathsByName('the parsed body', { lastId: 'patient.id' }, 'requestBody')),
    responseBody: optional(pathsByName('the mapped output', { total: 'total' }, undefined)),
    query: optional(pathsByName('the query of the request', { page: 'page' }, 'query')),
    lookupRequests: optional(
      named(pathsByName('the data of that lookup', { version: 'meta.versionId' }, 'lookupRequests.<name>.data'), {
        description: 'Lookup id → name → path in the data of that lookup.',
        examples: [{ patients: { next: 'link[0].url' } }],
        namesInMessage: true,
      }),
    ),
  },
  {
    description: 'The values that a message leaves for the next one, which reads them under `state`.',
    foreign: { system: 'The times of a message are always kept; leave this out.' },
  },
)

const ONE_METHOD = 'Nothing reads this; the method of the route is "method", or POST without it.'

const UNKNOWN_LOOKUPS = [{ id: UNKNOWN, config: { method: 'GET', url: UNKNOWN_URL } }]

export const EndpointSchema = record(
  {
    name: nonEmptyText({
      description: 'Unique name of the endpoint.',
      examples: ['Patient intake'],
      fallback: UNKNOWN,
    }),
    description: optional(
      text({ description: 'Purpose of the endpoint.', examples: ['Turns intake forms into Patients.'] }),
    ),
    labels: named(text({ description: 'Value of the label.' }), {
      description: 'Name → value, for people and tools: no message sees them.',
      default: {},
      examples: [{ team: 'lab' }],
      namesInAnyOrder: true,
    }),
    paused: optional(
      Type.Boolean({
        description:
          'While it is `true`, no message starts: requests are answered with 503 and `Retry-After`, MLLP with a refusal to try again, topics are not read, and schedules do not run. Deliveries that are stored go on, and messages can be replayed.',
        assumed: '`false`',
        examples: [true],
      }),
    ),
    endpoint: record(
      {
        pattern: optional(
          Type.String({
            description:
              'Path of the endpoint: segments of URI-safe characters or `:parameter` (letters, digits, `_`, `-`); a last segment `*name` takes the rest of the path; a `/` at the end makes no difference. Required unless another field brings the messages, such as `kafkaConsumerTopic`, `mllp` or `schedule`.',
            examples: ['/patients/:id'],
            fallback: UNKNOWN_PATTERN,
          }),
        ),
        method: Type.Enum([...ENDPOINT_METHODS], {
          description: 'Method of the endpoint.',
          default: 'POST',
          examples: ['POST'],
        }),
      },
      {
        description: 'The route.',
        foreign: { endpoint: ONE_METHOD, methods: ONE_METHOD },
        default: { method: 'POST' },
      },
    ),
    auth: optional(AuthSchema),
    limits: optional(LimitsSchema),
    rateLimit: optional(RateLimitSchema),
    idempotency: optional(IdempotencySchema),
    transformation: record(
      {
        input: optional(
          Type.Enum([...FORMATS], {
            description:
              'Format of incoming messages; required for POST, PUT and PATCH, and where a topic or MLLP brings messages.',
            examples: [DEFAULT_FORMAT],
          }),
        ),
        output: Type.Enum([...FORMATS], {
          description: 'Format of the outgoing message and of the answer.',
          examples: ['FHIR+JSON'],
          fallback: DEFAULT_FORMAT,
        }),
      },
      { description: 'The formats of the messages.' },
    ),
    ...OPTION_SCHEMAS,
    failures: optional(
      Type.Enum(['plain', 'fhir'], {
        description:
          'Body of failures: the fields of the service in the output type (`plain`), or a FHIR R4 OperationOutcome (`fhir`).',
        assumed: '`fhir` where the output type is `FHIR+JSON`, else `plain`, but for lookups with `fhirResponse`',
        examples: ['plain'],
      }),
    ),
    unrouted: optional(
      Type.Enum(['fail', 'answer'], {
        description:
          'What becomes of a message if all response requests have `when` and none is made: it fails with `NOT_ROUTED`, or the output is its answer.',
        assumed: '`fail`',
        examples: ['answer'],
      }),
    ),
    kafkaConsumerTopic: optional(topic('Topic whose records are messages of the endpoint.', 'intake')),
    kafkaConsumerStart: optional(
      Type.String({
        pattern: '^(?:earliest|latest|group:.{1,1000})$',
        expects: '"earliest", "latest", or "group:" and the name of a consumer group',
        description:
          'Where consuming starts as long as the endpoint has committed nothing of the topic: at the earliest record, behind the last one, or where that consumer group has committed.',
        assumed: '`earliest`',
        examples: ['group:former-service'],
      } satisfies FieldNotes & { pattern: string }),
    ),
    kafka: optional(KafkaSchema),
    mllp: optional(MllpSchema),
    schedule: optional(ScheduleSchema),
    messageLog: optional(
      Type.Enum(['off', 'metadata', 'failures', 'all'], {
        description:
          'What the message log stores of each message, instead of `MESSAGE_LOG`: nothing, its record, its record with the bodies if the outcome is not `done`, or always with the bodies.',
        examples: ['all'],
      }),
    ),
    messageKeys: optional(
      named(nonEmptyText({ description: 'Path of the value from a root of the message.', reads: 'record' }), {
        description:
          'Name → path of a value by which the record of a message can be found; at most 10 values for each message, of 200 characters.',
        examples: [{ patient: 'requestBody.patient.id' }],
      }),
    ),
    inputMapping: anyObject({
      description: 'Source path → target, applied in the given order; without entries the body is passed on.',
      default: {},
      examples: [{ 'requestBody.name': 'name[0].text' }],
      readsNames: 'map',
    }),
    constants: anyObject({
      description: 'Any JSON values, read as `constants.<name>`.',
      default: {},
      examples: [{ system: 'http://loinc.org' }],
      fallback: { [UNKNOWN]: null },
    }),
    inputTransforms: optional(
      named(text({ description: 'JSONata expression.', fallback: 'null', evaluates: 'transform' }), {
        description: 'Name → JSONata expression, evaluated in the given order; each can read the ones before it.',
        examples: [{ total: '$sum(requestBody.lines.amount)' }],
        namesInMessage: true,
        namesInOrder: true,
        fallback: { [UNKNOWN]: 'null' },
      }),
    ),
    inputValidation: optional(
      anyObject({
        description: 'JSON Schema (draft-07 or 2020-12) that the message must satisfy.',
        examples: [{ required: ['name'] }],
      }),
    ),
    requests: record(
      {
        lookup: list(LookupSchema, {
          description:
            'Requests before the mapping, all at once but for those that read others; a single request needs no array.',
          single: true,
          default: [],
          fallback: UNKNOWN_LOOKUPS,
        }),
        response: list(ResponseSchema, {
          description: 'Requests that send the output, all at once; a single request needs no array.',
          single: true,
          default: [],
        }),
      },
      {
        description: 'The requests to other services.',
        foreign: { _id: '' },
        default: { lookup: [], response: [] },
        fallback: { lookup: UNKNOWN_LOOKUPS, response: [] },
      },
    ),
    answer: optional(AnswerSchema),
    state: record(
      {
        extract: optional(extract),
        config: record(
          {
            networkErrors: Type.Enum(['no-filter', 'include', 'exclude'], {
              description:
                'States of messages with a network error in a lookup: `exclude` skips them, `include` takes only them.',
              default: 'no-filter',
              examples: ['exclude'],
            }),
            includeStatuses: list(status, {
              description: 'Takes only states whose highest lookup status is one of these; empty takes all.',
              expects: STATUSES,
              default: [],
              examples: [['2xx']],
            }),
            commit: optional(
              Type.Enum(['always', 'delivered'], {
                description:
                  'Which messages leave a state: all of them, or those of which every response request and item succeeded.',
                assumed: '`always`',
                examples: ['delivered'],
              }),
            ),
          },
          {
            description: 'Which of the stored states the next message reads.',
            default: { networkErrors: 'no-filter', includeStatuses: [] },
          },
        ),
      },
      {
        description: 'Values that are stored from one message to the next.',
        default: { config: { networkErrors: 'no-filter', includeStatuses: [] } },
      },
    ),
  },
  // Names the schema for an editor.
  { description: 'The whole endpoint.', foreign: { $schema: '' } },
)

/** The same schema by its keywords, as the checks and the generated page read it. */
export const EndpointField = EndpointSchema as TSchema as Field

/** A checked document with every default filled in, without `_id`, `createdAt`, `updatedAt` and `__v`. */
export type Endpoint = Fixed<Static<typeof EndpointSchema>>
export type LookupRequest = Endpoint['requests']['lookup'][number]
export type ResponseRequest = Endpoint['requests']['response'][number]
export type ParameterSpec = Fixed<Static<ParameterSchema>>

/** Whether the document makes the body of the answer itself. */
export const mapsAnswer = ({ answer }: Endpoint): boolean => Object.keys(answer?.mapping ?? {}).length > 0

/** The format of an answer that the document or the service writes. */
export const answerFormat = (endpoint: Endpoint): Endpoint['transformation']['output'] =>
  (mapsAnswer(endpoint) ? endpoint.answer?.type : undefined) ?? endpoint.transformation.output

/** It is stored with the message, and sent until the target has it. */
export const isDurable = ({ delivery }: ResponseRequest): boolean => delivery !== undefined

/** It may be marked in either field. */
export const isMarkedPrimary = (request: ResponseRequest): boolean =>
  request.primary === true || request.config?.primary === true

/** The answer of a primary request is returned alone. A request with `forEach` has many answers and is never primary. */
export const isPrimary = (request: ResponseRequest): boolean =>
  request.forEach === undefined && isMarkedPrimary(request)

/** Of the response requests that are made for a message, the one whose answer is that of the message. */
export const soleAmong = (made: readonly ResponseRequest[]): ResponseRequest | undefined =>
  made.find((request) => request.forEach === undefined && (made.length === 1 || isPrimary(request)))

/** The response requests whose answer can be that of a message, as some may be made for some messages only. */
export function possibleSoles({ requests: { response } }: Endpoint): readonly ResponseRequest[] {
  const soles = response.filter(
    (request) =>
      // The answer to a request that is stored is that of the service.
      !isDurable(request) &&
      soleAmong(response.filter((other) => other === request || other.when === undefined)) === request,
  )
  const always = soles.find((request) => request.when === undefined && isPrimary(request))
  return always === undefined ? soles : [always]
}

/** Whether none of its response requests may be made for a message. */
export const mayBeUnrouted = ({ requests: { response } }: Endpoint): boolean =>
  response.length > 0 && response.every(({ when }) => when !== undefined)
