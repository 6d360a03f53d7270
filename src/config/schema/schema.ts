/**
 * The endpoint document, described once: its types, its checks and its page of the user's guide all come from here,
 * so that none of them can drift from the others.
 *
 * Beside the keywords of JSON Schema, a field may carry those of `FieldNotes` (schema-fields.ts).
 */
import Type, { type Static, type TSchema } from 'typebox'
import type { Json } from '../../domain/json.ts'
import { FORMATS } from '../../formats/codecs.ts'
import { AuthSchema } from './schema-auth.ts'
import {
  anyObject,
  type Field,
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
import { IdempotencySchema } from './schema-idempotency.ts'
import { LimitsSchema, RateLimitSchema } from './schema-limits.ts'
import { LookupSchema, type ParameterSchema, ResponseSchema } from './schema-requests.ts'

/** The methods that an endpoint can answer. */
export const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const

const pathsByName = (read: string, example: Json) =>
  named(nonEmptyText({ description: 'Path of the value.' }), {
    description: `Name → path in ${read}.`,
    examples: [example],
    namesInMessage: true,
  })

const extract = record(
  {
    requestBody: optional(pathsByName('the parsed body', { lastId: 'patient.id' })),
    responseBody: optional(pathsByName('the mapped output', { total: 'total' })),
    query: optional(pathsByName('the query of the request', { page: 'page' })),
    lookupRequests: optional(
      named(pathsByName('the data of that lookup', { version: 'meta.versionId' }), {
        description: 'Lookup id → name → path in the data of that lookup.',
        examples: [{ patients: { next: 'link[0].url' } }],
        namesInMessage: true,
      }),
    ),
  },
  { description: 'What is kept of a message for the next one, which reads it under `state`.' },
)

export const EndpointSchema = record(
  {
    name: nonEmptyText({ description: 'Unique name of the endpoint.', examples: ['Patient intake'], salvage: UNKNOWN }),
    description: optional(
      text({ description: 'What the endpoint is for.', examples: ['Turns intake forms into Patients.'] }),
    ),
    endpoint: record(
      {
        pattern: Type.String({
          description:
            'Path that the endpoint listens on: segments of URI-safe characters or `:parameter` (letters, digits, `_`, `-`); a `/` at its end makes no difference.',
          examples: ['/patients/:id'],
          salvage: UNKNOWN_PATTERN,
        }),
        method: Type.Enum([...ENDPOINT_METHODS], {
          description: 'Method that the endpoint listens to.',
          default: 'POST',
          examples: ['POST'],
        }),
      },
      { description: 'The route.' },
    ),
    auth: optional(AuthSchema),
    limits: optional(LimitsSchema),
    rateLimit: optional(RateLimitSchema),
    idempotency: optional(IdempotencySchema),
    transformation: record(
      {
        input: optional(
          Type.Enum([...FORMATS], {
            description: 'Type of the messages that come in; required for POST and PUT.',
            examples: ['JSON'],
          }),
        ),
        output: Type.Enum([...FORMATS], {
          description: 'Type of the outgoing message and of the answer.',
          examples: ['FHIR+JSON'],
          salvage: 'JSON',
        }),
      },
      { description: 'The types of the messages.' },
    ),
    kafkaConsumerTopic: optional(topic('Topic that the endpoint consumes as well.', 'intake')),
    messageLog: optional(
      Type.Enum(['off', 'metadata', 'failures', 'all'], {
        description:
          'What is kept of each message, instead of `MESSAGE_LOG`: nothing, its record, the bodies too where it did not end `done`, or always.',
        examples: ['all'],
      }),
    ),
    messageKeys: optional(
      named(nonEmptyText({ description: 'Path of the value, from a root of the message.' }), {
        description:
          'Name → path of a value by which the record of a message can be found; at most 10 values a message, of 200 characters.',
        examples: [{ patient: 'requestBody.patient.id' }],
      }),
    ),
    inputMapping: anyObject({
      description: 'Source path → target, applied in the order written; without entries the body is passed on.',
      default: {},
      examples: [{ 'requestBody.name': 'name[0].text' }],
    }),
    constants: anyObject({
      description: 'Any JSON values, read as `constants.<name>`.',
      default: {},
      examples: [{ system: 'http://loinc.org' }],
      salvage: { [UNKNOWN]: null },
    }),
    inputTransforms: optional(
      named(text({ description: 'JSONata expression.', salvage: 'null' }), {
        description: 'Name → JSONata expression, evaluated in the order written; each sees the ones before it.',
        examples: [{ total: '$sum(requestBody.lines.amount)' }],
        namesInMessage: true,
        namesInOrder: true,
        salvage: { [UNKNOWN]: 'null' },
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
          description: 'Requests made before the mapping, all at once; a single one may stand without the array.',
          single: true,
          default: [],
          salvage: [{ id: UNKNOWN, config: { method: 'GET', url: UNKNOWN_URL } }],
        }),
        response: list(ResponseSchema, {
          description: 'Requests that the output is sent to, all at once; a single one may stand without the array.',
          single: true,
          default: [],
        }),
      },
      {
        description: 'The requests to other services.',
        foreign: { _id: '' },
        default: { lookup: [], response: [] },
        salvage: { lookup: [{ id: UNKNOWN, config: { method: 'GET', url: UNKNOWN_URL } }], response: [] },
      },
    ),
    state: record(
      {
        extract: optional(extract),
        config: record(
          {
            networkErrors: Type.Enum(['no-filter', 'include', 'exclude'], {
              description:
                'States of messages with a network error in a lookup: `exclude` passes over them, `include` takes no others.',
              default: 'no-filter',
              examples: ['exclude'],
            }),
            includeStatuses: list(status, {
              description: 'Takes only states whose highest lookup status is among these; empty takes all.',
              expects: STATUSES,
              default: [],
              examples: [['2xx']],
            }),
          },
          {
            description: 'Which of the states kept the next message sees.',
            default: { networkErrors: 'no-filter', includeStatuses: [] },
          },
        ),
      },
      {
        description: 'Values kept from one message to the next.',
        default: { config: { networkErrors: 'no-filter', includeStatuses: [] } },
      },
    ),
  },
  { description: 'Everything that makes an endpoint.' },
)

/** The same schema as the checks and the guide walk it: by its keywords, without the types that it stands for. */
export const EndpointField = EndpointSchema as TSchema as Field

type Fixed<T> = T extends readonly (infer Item)[]
  ? readonly Fixed<Item>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { readonly [Name in keyof T]: Fixed<T[Name]> }
    : T

/** A checked document with every default filled in, without `_id`, `createdAt`, `updatedAt` and `__v`. */
export type Endpoint = Fixed<Static<typeof EndpointSchema>>
export type LookupRequest = Endpoint['requests']['lookup'][number]
export type ResponseRequest = Endpoint['requests']['response'][number]
export type ParameterSpec = Fixed<Static<typeof ParameterSchema>>

/** Whether a response request is marked primary, in either place. */
export const isMarkedPrimary = (request: ResponseRequest): boolean =>
  request.primary === true || request.config?.primary === true

/** Whether its answer is returned alone. One with `forEach` has many answers and is never primary, whatever its mark. */
export const isPrimary = (request: ResponseRequest): boolean =>
  request.forEach === undefined && isMarkedPrimary(request)
