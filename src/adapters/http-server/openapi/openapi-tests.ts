/** The part of /openapi.json on tests of documents. */
import type { JsonObject } from '../../../domain/json.ts'
import { answer, content, failure, list, object, oneOf, ref, text, whole } from './openapi-parts.ts'

export const testPaths: JsonObject = {
  '/endpoints/tests/run': {
    post: {
      summary: 'Runs tests of a document; nothing is sent, and no state is written.',
      requestBody: { required: true, ...content(ref('TestRun')) },
      responses: {
        200: answer('The verdict of each test, or the faults of the document.', ref('TestReport')),
        400: failure('The request or its tests are wrong; details lists the reasons.'),
        404: failure('There is no endpoint of this id.'),
        413: failure('The request or its document is too large.'),
        415: failure('The body is not declared as JSON.'),
        503: failure('Too many messages are under way, or the service stops.'),
      },
    },
  },
}

const lints = list(object({ path: text, message: text }, ['path', 'message']))
const pointer = { ...text, description: 'JSON Pointer into the test.' }
const anything = { description: 'Left out if there is nothing. Long values are cut.' }

const given: JsonObject = object({
  message: object({
    body: { description: 'A text is sent as it is, any other value as JSON.' },
    contentType: text,
    headers: { type: 'object', additionalProperties: text },
    query: { type: 'object' },
    urlParams: { type: 'object', additionalProperties: text },
  }),
  lookups: {
    type: 'object',
    description: 'Answers by the id of the lookup; an array has one for each item of a forEach.',
  },
  responses: { type: 'object', description: 'Answers by the id of the response request.' },
  state: { type: 'object' },
  now: { type: 'string', format: 'date-time' },
  secrets: { type: 'object', additionalProperties: text },
})

const expect: JsonObject = object({
  outcome: {},
  answer: object({ status: {}, headers: { type: 'object' }, body: {} }),
  calls: {},
  failure: {},
  transforms: { type: 'object' },
  mapped: {},
  state: { type: 'object' },
  snapshot: { type: 'boolean' },
  todo: { type: 'boolean' },
})

export const testSchemas: JsonObject = {
  TestRun: object({
    endpoint: ref('Endpoint'),
    endpointId: { ...text, description: 'Of a stored endpoint.' },
    tests: { description: 'A file of tests, or its tests.', anyOf: [ref('TestFile'), list(ref('Test'))] },
    snapshots: { type: 'object', description: 'By the names of the tests.' },
    coverage: { type: 'boolean', description: 'Whether the report says which parts of the document the tests ran.' },
    update: { type: 'boolean', description: 'Whether the report has the snapshots as they would be now.' },
  }),
  TestFile: object(
    {
      endpoint: { ...text, description: 'The name of the endpoint, for files that do not stand beside its document.' },
      ignore: { ...list(text), description: 'JSON Pointers into the body of the answer.' },
      tests: { ...list(ref('Test')), maxItems: 200 },
    },
    ['tests'],
  ),
  Test: object(
    {
      name: text,
      source: { type: 'object' },
      given,
      expect,
      steps: { ...list(object({ given, expect })), minItems: 1, maxItems: 50 },
      skip: text,
      publish: { type: 'boolean' },
    },
    ['name'],
  ),
  TestReport: object(
    {
      ran: { type: 'boolean', description: 'False if the document has errors.' },
      passed: whole,
      failed: whole,
      skipped: whole,
      ms: { type: 'number' },
      tests: list(
        object(
          {
            name: text,
            verdict: oneOf(['passed', 'failed', 'skipped']),
            ms: { type: 'number' },
            mismatches: list(
              object({ path: pointer, expected: anything, actual: anything, message: text }, ['path', 'message']),
            ),
            reason: text,
          },
          ['name', 'verdict', 'ms', 'mismatches'],
        ),
      ),
      coverage: object(
        {
          total: whole,
          percent: { type: 'number' },
          missed: list(object({ kind: text, path: text }, ['kind', 'path'])),
        },
        ['total', 'percent', 'missed'],
      ),
      snapshots: { type: 'object', description: 'With update: what the tests with a snapshot do now, by their names.' },
      lint: object({ errors: lints, warnings: lints }, ['errors', 'warnings']),
    },
    ['ran', 'passed', 'failed', 'skipped', 'ms', 'tests', 'lint'],
  ),
}
