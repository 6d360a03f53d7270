/** /openapi.json: the management API for tools; the document's schema is the one that documents are checked with. */
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../domain/json.ts'
import { messagePaths, messageSchemas } from './openapi-messages.ts'
import { sendAnswer } from './server.ts'

export function serveOpenApi(server: FastifyInstance, description: JsonObject): void {
  const body = JSON.stringify(description)
  server.get('/openapi.json', async (_request, reply) =>
    sendAnswer(reply, { status: 200, headers: { 'content-type': 'application/json' }, body }),
  )
}

const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
const content = (schema: JsonObject): JsonObject => ({ content: { 'application/json': { schema } } })
const answer = (description: string, schema?: JsonObject): JsonObject =>
  schema === undefined ? { description } : { description, ...content(schema) }
const body = (schema: JsonObject): JsonObject => ({ required: true, ...content(schema) })

/** OpenAPI 3.1 description of the management API. `endpointSchema` is JSON Schema of documents, sent and stored. */
export function describeApi(endpointSchema: JsonObject, version: string): JsonObject {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[0-9a-f]{24}$' } }
  const ifMatch = { name: 'If-Match', in: 'header', schema: { type: 'string' } }
  const stored = ref('Endpoint')
  const refused = {
    400: answer('The document has faults; details lists all of them.', ref('Failure')),
    409: answer('The name or the route is taken.', ref('Failure')),
    415: answer('The body is not declared as JSON.', ref('Failure')),
  }
  const found = {
    400: answer('The id is malformed.', ref('Failure')),
    404: answer('There is no such endpoint.', ref('Failure')),
  }
  const stale = { 412: answer('If-Match names another version.', ref('Failure')) }
  return {
    openapi: '3.1.0',
    info: { title: 'Crosswalk', version, description: 'Management of endpoints, and what became of their messages.' },
    paths: {
      '/endpoints': {
        get: {
          summary: 'All endpoints, oldest first; any field path may be given as an equality filter.',
          responses: { 200: answer('The stored documents.', { type: 'array', items: stored }) },
        },
        post: {
          summary: 'Registers an endpoint.',
          requestBody: body(ref('Endpoint')),
          responses: { 201: answer('The stored document.', stored), ...refused },
        },
      },
      '/endpoints/{id}': {
        parameters: [id],
        get: { summary: 'One endpoint.', responses: { 200: answer('The stored document.', stored), ...found } },
        put: {
          summary: 'Replaces the whole configuration.',
          parameters: [ifMatch],
          requestBody: body(ref('Endpoint')),
          responses: { 200: answer('The stored document.', stored), ...found, ...refused, ...stale },
        },
        patch: {
          summary: 'Changes parts of the configuration by a JSON Merge Patch (RFC 7396).',
          parameters: [ifMatch],
          requestBody: { required: true, content: { 'application/merge-patch+json': { schema: { type: 'object' } } } },
          responses: { 200: answer('The stored document.', stored), ...found, ...refused, ...stale },
        },
        delete: {
          summary: 'Deletes an endpoint.',
          parameters: [ifMatch],
          responses: { 200: answer('It is deleted.'), ...found, ...stale },
        },
      },
      '/uptime': { get: { summary: 'Milliseconds since the process started.', responses: { 200: answer('Alive.') } } },
      '/health/live': { get: { summary: 'Whether the process runs.', responses: { 200: answer('It does.') } } },
      '/health/ready': {
        get: {
          summary: 'Whether messages can be answered now.',
          responses: { 200: answer('They can.'), 503: answer('They cannot.') },
        },
      },
      '/consumers': {
        get: {
          summary: 'How the consumer of each endpoint with a topic is doing.',
          responses: {
            200: answer('State, lag and last error of each.', { type: 'array', items: { type: 'object' } }),
          },
        },
      },
      '/metrics': {
        get: { summary: 'Metrics in the text format of Prometheus.', responses: { 200: answer('Metrics.') } },
      },
      ...messagePaths,
    },
    components: {
      schemas: {
        Endpoint: endpointSchema,
        ...messageSchemas,
        Failure: {
          type: 'object',
          required: ['error', 'code'],
          properties: {
            error: { type: 'string' },
            code: { type: 'string' },
            details: {
              type: 'array',
              items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
            },
          },
        },
      },
    },
  }
}
