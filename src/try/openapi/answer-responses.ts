/** The answer of a message that succeeds, as a response of the operation. */

import type { JsonObject } from '../../core/json.ts'
import type { Endpoint, ResponseRequest } from '../../document/schema/schema.ts'
import { codecOfFormat, MEDIA_TYPES } from '../../formats/codecs.ts'
import { describeOutput } from './output-schema.ts'
import { aloneOf } from './possible-failures.ts'
import { joined, type PublishSettings, type RequestSchemas } from './request-schema.ts'
import { createSourceSchemas } from './source-schema.ts'

const MESSAGE_ID = { 'X-Crosswalk-Message-Id': { $ref: '#/components/headers/MessageId' } }
const STATUS = { 'X-Crosswalk-Status': { $ref: '#/components/headers/Status' } }

const IN_XML =
  'The schema describes the value that is written as XML: a member is an element, `$` holds attributes and `_` text; several top-level members stand in `<root>`.'

/** Schemas of bodies that are passed on, or that a request replaces: nothing says what they are. */
const UNKNOWN: JsonObject = {}

/** By status. */
export function describeAnswer(endpoint: Endpoint, request: RequestSchemas, settings: PublishSettings): JsonObject {
  const { response } = endpoint.requests
  const { output } = endpoint.transformation
  const content = (schema: JsonObject): JsonObject => ({ content: { [MEDIA_TYPES[output]]: { schema } } })
  const note = codecOfFormat(output).name === 'XML' ? ` ${IN_XML}` : ''
  if (response.length === 0) {
    const schema = outputSchema(endpoint, request, settings)
    return { 200: { description: `The output.${note}`, headers: MESSAGE_ID, ...content(schema) } }
  }
  const alone = aloneOf(endpoint)
  if (alone === undefined) {
    const headers = { ...MESSAGE_ID, ...STATUS }
    const description = `The answers of the response requests by their ids.${note}`
    return { 200: { description, headers, ...content(answersById(response)) } }
  }
  const headers = response.length === 1 ? MESSAGE_ID : { ...MESSAGE_ID, ...STATUS }
  const from = `The answer of the response request "${alone.id}"`
  if (alone.kafkaProducerTopic !== undefined) {
    const schema = alone.optional === true ? UNKNOWN : withSource(RECORD_OFFSET, 'requests.response')
    return {
      200: { description: `${from}: the place of the record in its topic.${note}`, headers, ...content(schema) },
    }
  }
  const passedOn = { description: `${from}, with its status and headers.`, headers, ...content(UNKNOWN) }
  return { '2XX': passedOn, default: passedOn }
}

const withSource = (schema: JsonObject, source: string): JsonObject => ({ ...schema, 'x-crosswalk-source': source })

const RECORD_OFFSET: JsonObject = {
  type: 'object',
  required: ['topic', 'partition', 'offset'],
  properties: { topic: { type: 'string' }, partition: {}, offset: {} },
}

/** A request that fails has the body of its failure there. */
function answersById(requests: readonly ResponseRequest[]): JsonObject {
  const one = ({ forEach }: ResponseRequest): JsonObject => (forEach === undefined ? UNKNOWN : { type: 'array' })
  const schema = {
    type: 'object',
    required: requests.map(({ id }) => id),
    properties: Object.fromEntries(requests.map((request) => [request.id, one(request)])),
  }
  return withSource(schema, 'requests.response')
}

function outputSchema(endpoint: Endpoint, request: RequestSchemas, settings: PublishSettings): JsonObject {
  const { inputMapping, requests } = endpoint
  if (Object.keys(inputMapping).length > 0) {
    const sourceOf = createSourceSchemas(endpoint, request, settings.validationCoerceTypes)
    return withSource(describeOutput(inputMapping, sourceOf), 'inputMapping')
  }
  const body = bodySchema(endpoint, request, settings)
  if (requests.lookup.length === 0) return body
  const lookups = Object.fromEntries(
    requests.lookup.map(({ id, forEach }) => [id, { type: forEach === undefined ? 'object' : 'array' }]),
  )
  return withSource(
    {
      type: 'object',
      required: ['requestBody', 'lookupRequests'],
      properties: { requestBody: body, lookupRequests: { type: 'object', properties: lookups } },
    },
    'requests.lookup',
  )
}

/** Of a message that is passed on. */
function bodySchema(
  { endpoint: { method } }: Endpoint,
  request: RequestSchemas,
  settings: PublishSettings,
): JsonObject {
  if (method === 'GET' || method === 'DELETE') return withSource({ const: {} }, 'endpoint.method')
  if (request.body === undefined || settings.validationCoerceTypes) return UNKNOWN
  return withSource(joined([request.body]), 'inputValidation')
}
