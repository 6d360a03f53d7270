/** Tests of documents: those that come with a call, those that the service keeps, and those made from recorded messages. */

import {
  anything,
  described,
  enumSchema,
  extend,
  Fault,
  flag,
  id,
  list,
  named,
  noted,
  number,
  object,
  Said,
  text,
  values,
  whole,
} from '../core/schema.ts'
import { TESTS_INVALID } from '../endpoints/management-failures.ts'
import { TestRun } from '../try/tests/requested-tests.ts'
import { MAX_TEST_BYTES } from '../try/tests/test-file.ts'
import { TestFile } from '../try/tests/test-file-schema.ts'
import { setWarnings } from './answers.ts'
import { answer, body, checkedBody, findsNoEndpoint, IfMatch, route } from './route.ts'

const compared = described(anything, 'Left out if there is nothing. Long values are cut.')
const faults = list(Fault)

export const TestReport = named(
  'TestReport',
  {
    ran: described(flag, 'False if the document has errors.'),
    passed: whole,
    failed: whole,
    skipped: whole,
    ms: number,
    tests: list(
      object(
        {
          name: text,
          verdict: enumSchema(['passed', 'failed', 'skipped']),
          ms: number,
          mismatches: list(
            object(
              { path: described(text, 'JSON Pointer into the test.'), message: text },
              { expected: compared, actual: compared },
            ),
          ),
        },
        { reason: text },
      ),
    ),
    lint: object({ errors: faults, warnings: faults }),
  },
  {
    coverage: object({
      total: whole,
      percent: number,
      missed: list(object({ kind: text, path: text })),
      tables: described(
        list(object({ table: text, rows: whole, used: described(whole, 'Rows that the tests found.') })),
        'Of the tables that the tests read.',
      ),
    }),
    snapshots: described(values, 'With update: what the tests with a snapshot do now, by their names.'),
  },
)

export const testRoutes = [
  route({
    method: 'POST',
    path: '/endpoints/tests/run',
    role: 'author',
    summary: 'Runs tests of a document; nothing is sent, and no state is written.',
    body: body(TestRun),
    // Beside a document, the request has tests and their snapshots.
    bodyLimit: { bytes: ({ parserLimitBytes }) => parserLimitBytes + 2 * MAX_TEST_BYTES },
    answers: { 200: answer('The verdict of each test, or the faults of the document.', TestReport) },
    fails: ['TESTS_INVALID', ...findsNoEndpoint, 'DOCUMENT_TOO_LARGE', 'OVERLOADED', 'SHUTTING_DOWN'],
    // Nothing is changed, sent or read of a message.
    leavesNoEntry: true,
    handle: async (call, { runTests }) => runTests(call.text()),
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/tests',
    role: 'viewer',
    summary: 'The stored tests of an endpoint, with an ETag of their own; without any, an empty list.',
    answers: { 200: answer('The file of tests.', TestFile) },
    fails: findsNoEndpoint,
    sends: 'etag',
    handle: async ({ params }, { storedTests }) => storedTests.get(params.id),
  }),
  route({
    method: 'PUT',
    path: '/endpoints/:id/tests',
    did: 'stored the tests of {target}',
    role: 'author',
    summary: 'Stores the tests of an endpoint in place of those before: at most 200, and 1 MiB.',
    headers: IfMatch,
    body: body(TestFile),
    bodyLimit: { setting: 'the limit of tests', bytes: () => MAX_TEST_BYTES },
    answers: { 200: answer('The file of tests.', TestFile) },
    fails: [...findsNoEndpoint, 'TESTS_INVALID', 'PRECONDITION_FAILED'],
    sends: 'etag',
    handle: async (call, { storedTests }) => {
      const { id } = call.params
      const { file, warnings } = await storedTests.replace(id, call.text(), call.ifMatch, call.toChangeEntry)
      setWarnings(call, warnings)
      return file
    },
  }),
  route({
    method: 'DELETE',
    path: '/endpoints/:id/tests',
    did: 'deleted the tests of {target}',
    role: 'author',
    summary: 'Deletes the stored tests of an endpoint.',
    headers: IfMatch,
    answers: { 200: answer('They are deleted.', Said) },
    fails: [...findsNoEndpoint, 'PRECONDITION_FAILED'],
    sends: 'etag',
    handle: async (call, { storedTests }) => {
      const { id } = call.params
      await storedTests.remove(id, call.ifMatch, call.toChangeEntry)
      return { message: `Tests of the endpoint with ID '${id}' deleted` }
    },
  }),
]

const RecordedTestRequest = object(
  {},
  {
    name: noted(extend(described(text, 'Of the test; by default the id of the message.'), { pattern: '\\S' }), {
      expects: 'a string that is not empty',
    }),
    pseudonymise: described(flag, 'Whether texts, digits and dates are replaced by others of the same form.'),
  },
)

/** The test has what the bodies of the message have. */
export const recordedTestRoutes = [
  route({
    method: 'POST',
    path: '/messages/:id/test',
    did: 'made a test from message {target}',
    role: 'operator',
    summary: 'Makes a test of its endpoint from a recorded message, and runs it.',
    body: { ...checkedBody(RecordedTestRequest, { ...TESTS_INVALID, mayBeEmpty: true }), required: false },
    answers: {
      200: answer(
        'The test, what of the message it cannot have, and its result with the active document.',
        object(
          {
            endpointId: id,
            test: described(values, 'For the array `tests` of a file of tests.'),
            notReproduced: list(object({ path: text, reason: text })),
          },
          { result: described(values, 'Left out if the endpoint is deleted.') },
        ),
      ),
    },
    fails: [...findsNoEndpoint, 'MESSAGE_UNKNOWN', 'MESSAGE_BODY_UNKNOWN'],
    sends: 'no-store',
    handle: async ({ params, body }, { makeRecordedTest }) => makeRecordedTest(params.id, body),
  }),
]
