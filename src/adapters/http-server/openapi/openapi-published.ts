/** The part of /openapi.json on the OpenAPI documents of endpoints. */
import type { JsonObject } from '../../../domain/json.ts'
import { answer, failure, id, inPath, text } from './openapi-parts.ts'

const ifNoneMatch = { name: 'If-None-Match', in: 'header', schema: text }
const unchanged = { 304: { description: 'The document is the one of `If-None-Match`.' } }
const described = (description: string): JsonObject => answer(description, { type: 'object', required: ['openapi'] })

export const publishedApiPaths: JsonObject = {
  '/endpoints/openapi.json': {
    get: {
      summary: 'OpenAPI 3.1 of the active endpoints; any field path may be given as an equality filter.',
      parameters: [ifNoneMatch],
      responses: {
        200: described('The routes of the message port, as far as their documents describe them.'),
        ...unchanged,
        400: failure('A filter is not a field path.'),
      },
    },
  },
  '/endpoints/{id}/openapi.json': {
    parameters: [inPath('id', id)],
    get: {
      summary: 'OpenAPI 3.1 of one endpoint.',
      parameters: [ifNoneMatch],
      responses: {
        200: described('Its route; no path while the endpoint is not active.'),
        ...unchanged,
        400: failure('The id is malformed.'),
        404: failure('There is no such endpoint.'),
      },
    },
  },
}
