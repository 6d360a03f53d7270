/** The schema of a file of tests, which checks it and describes it in OpenAPI. */
import {
  anything,
  component,
  described,
  extend,
  flag,
  list,
  named,
  noted,
  object,
  record,
  text,
  time,
  values,
} from '../../core/schema.ts'
import { cannedAnswers, MESSAGE_PARTS } from '../../document/checks/dry-run-request.ts'
import { MAX_STEPS, MAX_TESTS } from './test-file.ts'

const notEmpty = (expects: string) => noted(extend(text, { pattern: '\\S' }), { expects })

const given = object(
  {},
  {
    message: object({}, MESSAGE_PARTS),
    lookups: described(
      cannedAnswers,
      'Answers by the id of the lookup; an array has one for each item of a forEach, or each page.',
    ),
    responses: described(cannedAnswers, 'Answers by the id of the response request.'),
    state: values,
    now: time,
    secrets: record(text),
    tables: described(
      record(anything),
      'Tables in place of those of the service, by their names: each as CSV in a text, as a list of its rows, or as `{ columns, rows }`.',
    ),
  },
)

const expect = object(
  {},
  {
    outcome: anything,
    answer: object({}, { status: anything, headers: values, body: anything }),
    calls: anything,
    deliveries: anything,
    failure: anything,
    transforms: values,
    mapped: anything,
    state: values,
    snapshot: flag,
    todo: flag,
  },
)

const step = object({ expect: described(expect, 'what the message must do.') }, { given })

export const Test = component(
  'Test',
  extend(
    object(
      { name: described(notEmpty('a string that is not empty'), 'what the test shows.') },
      {
        source: values,
        given,
        expect,
        steps: extend(list(step), { minItems: 1, maxItems: MAX_STEPS }),
        skip: notEmpty('the reason, a string that is not empty'),
        publish: flag,
      },
    ),
    { oneOf: [{ required: ['expect'] }, { required: ['steps'] }] },
  ),
)

export const TestFile = named(
  'TestFile',
  { tests: described(extend(list(Test), { maxItems: MAX_TESTS }), 'the tests, an array.') },
  {
    endpoint: described(text, 'The name of the endpoint, for files that do not stand beside its document.'),
    ignore: described(list(text), 'JSON Pointers into the body of the answer.'),
    $schema: described(text, 'The schema by which an editor checks the file.'),
  },
)
