/** /openapi.json: the management API for tools. Its schema of documents is the one that checks documents. */
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../../domain/json.ts'
import { needs } from '../management/auth-hook.ts'
import { sendAnswer } from '../replies.ts'
import { accessPaths, accessSchemas, securitySchemes, withAccess } from './openapi-access.ts'
import { authoringPaths, authoringSchemas } from './openapi-authoring.ts'
import { batchPaths, batchSchemas } from './openapi-batch.ts'
import { capturePaths, captureSchemas } from './openapi-captures.ts'
import { driftPaths, driftSchemas } from './openapi-drift.ts'
import { dryRunPaths, dryRunSchemas } from './openapi-dry-run.ts'
import { endpointPaths, endpointSchemas } from './openapi-endpoints.ts'
import { messagePaths, messageSchemas } from './openapi-messages.ts'
import { answer, list, object, ref, text, whole } from './openapi-parts.ts'
import { publishedApiPaths } from './openapi-published.ts'
import { replayPaths, replaySchemas } from './openapi-replays.ts'
import { recordedTestPaths, storedTestPaths } from './openapi-stored-tests.ts'
import { testPaths, testSchemas } from './openapi-tests.ts'
import { watchingPaths, watchingSchemas } from './openapi-watching.ts'

export function serveOpenApi(server: FastifyInstance, description: JsonObject): void {
  const body = JSON.stringify(description)
  server.get('/openapi.json', needs('viewer'), async (_request, reply) =>
    sendAnswer(reply, { status: 200, headers: { 'content-type': 'application/json' }, body }),
  )
}

const operationPaths: JsonObject = {
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
        200: answer('State, lag and last error of each.', list(ref('Consumer'))),
      },
    },
  },
  '/metrics': {
    get: { summary: 'Metrics in the text format of Prometheus.', responses: { 200: answer('Metrics.') } },
  },
}

const DESCRIPTION = [
  'Management of endpoints, and what became of their messages.',
  'POST, PUT and PATCH need the header Content-Type: application/json, without a body too.',
].join(' ')

/** OpenAPI 3.1 description of the management API. `endpointSchema`: the JSON Schema of documents, sent and stored. */
export function describeApi(endpointSchema: JsonObject, version: string): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: 'Crosswalk', version, description: DESCRIPTION },
    security: [{ bearer: [] }],
    paths: withAccess({
      ...endpointPaths,
      ...storedTestPaths,
      ...batchPaths,
      ...testPaths,
      ...driftPaths,
      ...dryRunPaths,
      ...publishedApiPaths,
      ...operationPaths,
      ...messagePaths,
      ...replayPaths,
      ...capturePaths,
      ...recordedTestPaths,
      ...accessPaths,
      ...authoringPaths,
      ...watchingPaths,
    }),
    components: {
      securitySchemes,
      schemas: {
        Endpoint: endpointSchema,
        ...messageSchemas,
        ...replaySchemas,
        ...captureSchemas,
        ...accessSchemas,
        ...endpointSchemas,
        ...batchSchemas,
        ...testSchemas,
        ...driftSchemas,
        ...dryRunSchemas,
        ...authoringSchemas,
        ...watchingSchemas,
        Failure: object({ error: text, code: text, details: list(ref('FailureDetail')) }, ['error', 'code']),
        FailureDetail: object({
          operation: { ...whole, description: 'In a batch: the index of the operation.' },
          code: { ...text, description: 'In a batch: the code of this fault.' },
          path: text,
          message: text,
        }),
      },
    },
  }
}
