/** The part of /openapi.json on many changes at once. */
import type { JsonObject } from '../../../domain/json.ts'
import { answer, content, failure, id, list, object, oneOf, ref, text, time, whole } from './openapi-parts.ts'
import { overrideTests } from './openapi-stored-tests.ts'

export const batchPaths: JsonObject = {
  '/endpoints/batch': {
    post: {
      summary: 'Makes up to 1,000 changes, checked against what is stored afterwards: all of them, or none.',
      parameters: [overrideTests],
      requestBody: { required: true, ...content(ref('Batch')) },
      responses: {
        200: answer(
          'All changes are stored and active; in a dry run, they could be.',
          object({ results: list(ref('OperationResult')), dryRun: { type: 'boolean' } }, ['results', 'dryRun']),
        ),
        400: failure('The batch or its documents have faults; details lists all of them, each with its operation.'),
        404: failure('There is no such endpoint.'),
        409: failure('A name or a route is taken, there would be too many endpoints, or stored tests fail.'),
        412: failure('An ifMatch names another version.'),
        413: failure('The batch or one of its documents is too large.'),
        415: failure('The body is not declared as JSON.'),
      },
    },
  },
}

const values = { type: 'object' }
const duration = object({ milliseconds: whole })

export const batchSchemas: JsonObject = {
  Batch: object(
    {
      operations: { ...list(ref('BatchOperation')), maxItems: 1_000 },
      dryRun: { type: 'boolean', description: 'Checks everything and stores nothing.' },
      note: { ...text, description: 'For the versions and the audit log; cut after 200 characters.' },
    },
    ['operations'],
  ),
  BatchOperation: object(
    {
      op: oneOf(['create', 'replace', 'delete']),
      id: { ...id, description: 'Of the endpoint to replace or delete.' },
      ifMatch: { ...text, description: 'As the header If-Match of a single change.' },
      document: { ...ref('Endpoint'), description: 'To create or replace.' },
      state: { ...ref('EndpointState'), description: 'What the next message reads under `state`.' },
    },
    ['op'],
  ),
  EndpointState: object({
    requestBody: values,
    responseBody: values,
    query: values,
    lookupRequests: { type: 'object', additionalProperties: values },
    lookupHttpStatus: { ...whole, minimum: 100, maximum: 599 },
    lookupNetworkError: { type: 'boolean' },
    system: object({
      timestamps: object({
        endpointStart: time,
        endpointEnd: time,
        endpointDuration: duration,
        lookupRequests: {
          type: 'object',
          additionalProperties: object({ requestStart: time, requestEnd: time, requestDuration: duration }),
        },
      }),
    }),
  }),
  OperationResult: object(
    {
      operation: { ...whole, description: 'The index of the operation in the batch.' },
      op: oneOf(['create', 'replace', 'delete']),
      id: { ...id, description: 'Not there for what a dry run would create.' },
      name: text,
      version: { ...whole, description: 'Of the endpoint after the change.' },
      etag: { ...text, description: 'Of the stored document; not there after a deletion, and in a dry run.' },
      ifMatch: {
        ...text,
        description:
          'In a dry run, the ETag of the document that would be replaced or deleted: for ifMatch of the change itself.',
      },
      warnings: list(object({ path: text, message: text }, ['path', 'message'])),
    },
    ['operation', 'op', 'name', 'version', 'warnings'],
  ),
}
