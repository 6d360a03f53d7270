/** /openapi.json: the management API for tools; the document's schema is the one that documents are checked with. */
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../../domain/json.ts'
import { needs } from '../management/auth-hook.ts'
import { sendAnswer } from '../replies.ts'
import { accessPaths, accessSchemas, securitySchemes, withAccess } from './openapi-access.ts'
import { messagePaths, messageSchemas } from './openapi-messages.ts'

export function serveOpenApi(server: FastifyInstance, description: JsonObject): void {
  const body = JSON.stringify(description)
  server.get('/openapi.json', needs('viewer'), async (_request, reply) =>
    sendAnswer(reply, { status: 200, headers: { 'content-type': 'application/json' }, body }),
  )
}

const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
const content = (schema: JsonObject): JsonObject => ({ content: { 'application/json': { schema } } })
const answer = (description: string, schema?: JsonObject): JsonObject =>
  schema === undefined ? { description } : { description, ...content(schema) }
const WARNINGS = {
  'X-Crosswalk-Warnings': {
    description:
      'What is probably not meant: a JSON list of path and message in ASCII, cut at about 4,000 characters; not there where there is nothing.',
    schema: { type: 'string' },
  },
}
/** To a write of a document. */
const accepted: JsonObject = { ...answer('The stored document.', ref('Endpoint')), headers: WARNINGS }
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
  const cannedAnswers = { anyOf: [ref('CannedAnswer'), { type: 'array', items: ref('CannedAnswer') }] }
  const milliseconds = { type: ['number', 'null'], description: 'Milliseconds, at most 10 % off; null without any.' }
  const versionNumber = { name: 'version', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } }
  const unknownVersion = {
    400: answer('The id is malformed.', ref('Failure')),
    404: answer('There is no such endpoint, or no such version of it.', ref('Failure')),
  }
  const stale = { 412: answer('If-Match names another version.', ref('Failure')) }
  return {
    openapi: '3.1.0',
    info: { title: 'Crosswalk', version, description: 'Management of endpoints, and what became of their messages.' },
    security: [{ bearer: [] }],
    paths: withAccess({
      '/endpoints': {
        get: {
          summary: 'All endpoints, oldest first; any field path may be given as an equality filter.',
          responses: { 200: answer('The stored documents.', { type: 'array', items: stored }) },
        },
        post: {
          summary: 'Registers an endpoint.',
          requestBody: body(ref('Endpoint')),
          responses: { 201: accepted, ...refused },
        },
      },
      '/endpoints/{id}': {
        parameters: [id],
        get: { summary: 'One endpoint.', responses: { 200: answer('The stored document.', stored), ...found } },
        put: {
          summary: 'Replaces the whole configuration.',
          parameters: [ifMatch],
          requestBody: body(ref('Endpoint')),
          responses: { 200: accepted, ...found, ...refused, ...stale },
        },
        patch: {
          summary: 'Changes parts of the configuration by a JSON Merge Patch (RFC 7396).',
          parameters: [ifMatch],
          requestBody: { required: true, content: { 'application/merge-patch+json': { schema: { type: 'object' } } } },
          responses: { 200: accepted, ...found, ...refused, ...stale },
        },
        delete: {
          summary: 'Deletes an endpoint.',
          parameters: [ifMatch],
          responses: { 200: answer('It is deleted.'), ...found, ...stale },
        },
      },
      '/endpoints/dry-run': {
        post: {
          summary: 'What an endpoint would make of a message; nothing is sent on, and no state is written.',
          requestBody: body(ref('DryRun')),
          responses: {
            200: answer('What each stage gave, what would have been called, the answer; faults of the document.', {
              type: 'object',
              required: ['ran', 'lint'],
            }),
            400: answer('The request itself is wrong; details lists the reasons.', ref('Failure')),
            404: answer('There is no endpoint of this id.', ref('Failure')),
            415: answer('The body is not declared as JSON.', ref('Failure')),
            503: answer('Too many messages are under way, or the service stops.', ref('Failure')),
          },
        },
      },
      '/endpoints/{id}/stats': {
        parameters: [id],
        get: {
          summary: 'How many messages there were in the last hour and day, how many failed, and how long they took.',
          responses: { 200: answer('The counts of all instances.', ref('Stats')), ...found },
        },
      },
      '/endpoints/{id}/versions': {
        parameters: [id],
        get: {
          summary: 'The versions of an endpoint, newest first, also of one that was deleted.',
          responses: { 200: answer('Without documents.', { type: 'array', items: ref('Version') }), ...found },
        },
      },
      '/endpoints/{id}/versions/{version}': {
        parameters: [id, versionNumber],
        get: {
          summary: 'One version, with its document.',
          responses: { 200: answer('The version.', ref('Version')), ...unknownVersion },
        },
      },
      '/endpoints/{id}/versions/{version}/restore': {
        parameters: [id, versionNumber],
        post: {
          summary: 'Puts the document of a version in force again, as a new version.',
          parameters: [ifMatch],
          requestBody: { required: false, content: { 'application/json': { schema: {} } } },
          responses: { 200: accepted, ...refused, ...unknownVersion, ...stale },
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
      ...accessPaths,
    }),
    components: {
      securitySchemes,
      schemas: {
        Endpoint: endpointSchema,
        ...messageSchemas,
        ...accessSchemas,
        DryRun: {
          type: 'object',
          properties: {
            endpoint: ref('Endpoint'),
            endpointId: {
              type: 'string',
              description: 'Of a stored endpoint; beside endpoint, the one it would replace.',
            },
            message: {
              type: 'object',
              properties: {
                body: { description: 'A text is sent as it is, any other value as JSON.' },
                contentType: { type: 'string' },
                headers: { type: 'object', additionalProperties: { type: 'string' } },
                query: { type: 'object' },
                urlParams: { type: 'object', additionalProperties: { type: 'string' } },
                state: { type: 'object', description: 'What an earlier message left.' },
              },
            },
            lookups: { type: 'object', additionalProperties: cannedAnswers },
            responses: { type: 'object', additionalProperties: cannedAnswers },
            live: { type: 'boolean', description: 'Whether lookups without a given answer are made.' },
          },
        },
        CannedAnswer: {
          type: 'object',
          properties: {
            status: { type: 'integer', minimum: 100, maximum: 599 },
            headers: { type: 'object', additionalProperties: { type: 'string' } },
            body: { description: 'A text is sent as it is, any other value as JSON.' },
            fault: { enum: ['unreachable', 'timeout', 'too-large', 'unreadable', 'refused'] },
          },
        },
        Stats: {
          type: 'object',
          required: ['endpointId', 'hour', 'day', 'minutes'],
          properties: {
            endpointId: { type: 'string' },
            hour: ref('Counts'),
            day: ref('Counts'),
            minutes: {
              type: 'array',
              description: 'The minutes of the day in which messages ended, oldest first; `at` is when it began.',
              items: { allOf: [ref('Counts'), { required: ['at'], properties: { at: { type: 'string' } } }] },
            },
          },
        },
        Counts: {
          type: 'object',
          required: ['count', 'failures', 'p50', 'p95', 'p99'],
          properties: {
            count: { type: 'integer' },
            failures: { type: 'integer', description: 'Messages that did not end done.' },
            p50: milliseconds,
            p95: milliseconds,
            p99: milliseconds,
          },
        },
        Version: {
          type: 'object',
          required: ['version', 'at', 'method', 'origin'],
          properties: {
            version: { type: 'integer', description: 'Counts the changes of the endpoint, from 1.' },
            at: { type: 'string', format: 'date-time' },
            method: { enum: ['create', 'replace', 'patch', 'restore', 'delete'] },
            restored: { type: 'integer', description: 'The version that was put in force again.' },
            origin: {
              type: 'object',
              properties: {
                address: { type: 'string' },
                who: { type: 'string' },
                name: { type: 'string' },
                note: { type: 'string' },
              },
            },
            document: { description: 'In the answer for one version only; null for a deletion.' },
          },
        },
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
