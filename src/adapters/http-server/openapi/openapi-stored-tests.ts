/** The part of /openapi.json on the tests that the service keeps. */
import type { JsonObject } from '../../../domain/json.ts'
import { answer, content, failure, id, inPath, list, object, text } from './openapi-parts.ts'

const endpointId = inPath('id', id)
const ifMatch = { name: 'If-Match', in: 'header', schema: text }
const found = { 400: failure('The id is malformed.'), 404: failure('There is no such endpoint.') }
const stale = { 412: failure('If-Match names other tests than the stored ones.') }
/** A file of tests, described by docs/testing.md and by the faults of the calls. */
const testFile = {
  type: 'object',
  required: ['tests'],
  properties: { tests: { type: 'array', maxItems: 200, items: { type: 'object' } } },
}

export const storedTestPaths: JsonObject = {
  '/endpoints/{id}/tests': {
    parameters: [endpointId],
    get: {
      summary: 'The stored tests of an endpoint, with an ETag of their own; without any, an empty list.',
      responses: { 200: answer('The file of tests.', testFile), ...found },
    },
    put: {
      summary: 'Stores the tests of an endpoint in place of those before: at most 200, and 1 MiB.',
      parameters: [ifMatch],
      requestBody: { required: true, ...content(testFile) },
      responses: {
        200: answer('The file of tests.', testFile),
        ...found,
        400: failure('The id is malformed, or the tests have faults; details lists all of them.'),
        ...stale,
        413: failure('The tests are larger than 1 MiB.'),
        415: failure('The body is not declared as JSON.'),
      },
    },
    delete: {
      summary: 'Deletes the stored tests of an endpoint.',
      parameters: [ifMatch],
      responses: { 200: answer('They are deleted.'), ...found, ...stale },
    },
  },
}

export const recordedTestPaths: JsonObject = {
  '/messages/{id}/test': {
    parameters: [inPath('id', id)],
    post: {
      summary: 'Makes a test of its endpoint from a recorded message, and runs it.',
      requestBody: {
        required: false,
        ...content(
          object({
            name: { ...text, description: 'Of the test; by default the id of the message.' },
            pseudonymise: {
              type: 'boolean',
              description: 'Whether texts, digits and dates are replaced by others of the same form.',
            },
          }),
        ),
      },
      responses: {
        200: answer(
          'The test, what of the message it cannot have, and its result with the active document.',
          object(
            {
              endpointId: id,
              test: { type: 'object', description: 'For the array `tests` of a file of tests.' },
              notReproduced: list(object({ path: text, reason: text }, ['path', 'reason'])),
              result: { type: 'object', description: 'Left out if the endpoint is deleted.' },
            },
            ['endpointId', 'test', 'notReproduced'],
          ),
        ),
        400: failure('The id is malformed, the request has faults, or the message is too large for a test.'),
        404: failure('There is no record of it, its request was not recorded, or its endpoint is gone.'),
        415: failure('The body is not declared as JSON.'),
      },
    },
  },
}

/** Of a change of an endpoint whose tests must pass (`TESTS_ON_CHANGE=require`). */
export const overrideTests: JsonObject = {
  name: 'X-Crosswalk-Override',
  in: 'header',
  description:
    'The reason for which the change is made although stored tests of the endpoint fail; needs the role admin.',
  schema: text,
}
