/** The part of /openapi.json on dry runs. */
import type { JsonObject } from '../../../domain/json.ts'
import { answer, content, failure, id, list, object, oneOf, ref, text, whole } from './openapi-parts.ts'

const refused = {
  400: failure('The request itself is wrong; details lists the reasons.'),
  403: failure('The caller may not read the bodies of messages.'),
  404: failure('There is no such endpoint, version or recorded message, or its request was not recorded.'),
  415: failure('The body is not declared as JSON.'),
  503: failure('Too many messages are under way, or the service stops.'),
}
const request = (schema: JsonObject): JsonObject => ({ required: true, ...content(schema) })

export const dryRunPaths: JsonObject = {
  '/endpoints/dry-run': {
    post: {
      summary: 'What an endpoint would make of a message; nothing is sent on, and no state is written.',
      requestBody: request(ref('DryRun')),
      responses: {
        200: answer('The course of the message, and the faults of the document.', ref('DryRunReport')),
        ...refused,
      },
    },
  },
  '/endpoints/dry-run/value': {
    post: {
      summary: 'One value of the report of a dry run in full, which the report has cut; the dry run is made again.',
      requestBody: request({
        allOf: [
          ref('DryRun'),
          object({ at: { ...text, description: 'The `at` of the value that was cut: a JSON Pointer.' } }, ['at']),
        ],
      }),
      responses: {
        200: {
          description: 'A value as JSON, a body as its bytes; at most 32 Mi characters.',
          content: {
            'application/json': { schema: {} },
            'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
          },
        },
        ...refused,
      },
    },
  },
}

const anything = { type: 'object' }
const flag = { type: 'boolean' }
const cannedAnswers = { anyOf: [ref('CannedAnswer'), list(ref('CannedAnswer'))] }
const faults = list(object({ path: text, message: text }, ['path', 'message']))

export const dryRunSchemas: JsonObject = {
  DryRun: object({
    endpoint: ref('Endpoint'),
    endpointId: { ...text, description: 'Of a stored endpoint; beside endpoint, the one it would replace.' },
    messageId: {
      ...id,
      description: 'A recorded message, with what other systems answered it; needs the role operator besides.',
    },
    version: {
      anyOf: [{ ...whole, minimum: 1 }, { const: 'recorded' }],
      description: 'Of the stored endpoint; recorded is the one that processed the message. By default the active one.',
    },
    message: {
      ...object({
        body: { description: 'A text is sent as it is, any other value as JSON.' },
        contentType: text,
        headers: { type: 'object', additionalProperties: text },
        query: anything,
        urlParams: { type: 'object', additionalProperties: text },
        state: { type: 'object', description: 'What an earlier message left.' },
      }),
      description: 'Beside messageId: what comes in place of the recorded parts.',
    },
    lookups: { type: 'object', additionalProperties: cannedAnswers },
    responses: { type: 'object', additionalProperties: cannedAnswers },
    live: { ...flag, description: 'Whether lookups without a given answer are made.' },
    view: {
      const: 'mapping',
      description:
        'The report has fields, and samples of what was written, in place of stages, calls, answer and state.',
    },
    run: { ...flag, description: 'False: the document is checked, and no message runs.' },
    limit: {
      ...whole,
      minimum: 1_024,
      maximum: 8_388_608,
      description: 'The most characters of all values of the report together; of one value, an eighth of it.',
    },
  }),
  CannedAnswer: object({
    status: { ...whole, minimum: 100, maximum: 599 },
    headers: { type: 'object', additionalProperties: text },
    body: { description: 'A text is sent as it is, any other value as JSON.' },
    fault: { enum: ['unreachable', 'timeout', 'too-large', 'unreadable', 'refused'] },
  }),
  DryRunReport: object(
    {
      ran: { ...flag, description: 'False if the document has faults; the report has nothing but lint then.' },
      lint: object({ errors: faults, clashes: faults, warnings: faults }, ['errors', 'clashes', 'warnings']),
      recorded: {
        ...object({
          messageId: id,
          endpointId: id,
          endpointVersion: whole,
          outcome: text,
          status: whole,
          code: text,
          group: { ...text, description: 'Key of its group of failures, of a message that did not end done.' },
        }),
        description: 'What the recorded message did then.',
      },
      notReproduced: {
        ...list(object({ path: text, reason: text }, ['path', 'reason'])),
        description: 'What the record of the message does not have; path is the part of the request that can have it.',
      },
      outcome: oneOf(['done', 'partial', 'refused', 'failed']),
      ms: { type: 'number' },
      stages: list(ref('DryRunStage')),
      mapping: ref('MappingReport'),
      calls: list(anything),
      callsNotShown: whole,
      answer: object({ status: whole, headers: anything, body: text, cut: flag, at: text, assumed: flag }),
      failure: object({ error: text, code: text, status: whole, stage: text, path: text, details: faults }),
      state: { description: 'What would be kept for the next message.' },
      coverage: ref('Coverage'),
      fields: {
        ...object({ source: ref('ValueFields'), output: ref('ValueFields') }, ['source']),
        description: 'Of the view mapping: what the mapping could read, and what it made.',
      },
    },
    ['ran', 'lint'],
  ),
  DryRunStage: object(
    {
      stage: text,
      ms: { type: 'number' },
      failed: { ...flag, description: 'The message failed in this stage.' },
      input: { type: 'object', description: 'What the stage can read. A value may be { cut, reason, at }.' },
      output: { type: 'object', description: 'What the stage gave; of a failed one, what it gave before it failed.' },
      coerced: list(object({ path: text, before: {}, after: {} }, ['path', 'before', 'after'])),
      coercedNotShown: whole,
      coercedUnknown: text,
    },
    ['stage', 'ms', 'input'],
  ),
  MappingReport: object({
    entries: list(
      object(
        {
          path: { ...text, description: 'Of the entry in the document.' },
          source: text,
          found: { ...flag, description: 'Whether the path gave a value.' },
          targets: list(
            object(
              {
                target: text,
                wrote: oneOf(['value', 'default', 'null', 'nothing']),
                count: { ...whole, description: 'Places that were written.' },
                defaults: { ...whole, description: 'How many of several places got the default or null.' },
                places: { ...list(text), description: 'JSON Pointers into the output, at most 5.' },
                samples: {
                  ...list({}),
                  description: 'Of the view mapping: what stands at these places in the end; long texts are cut.',
                },
              },
              ['target', 'wrote', 'count', 'places'],
            ),
          ),
        },
        ['path', 'source', 'found', 'targets'],
      ),
    ),
    entriesNotShown: whole,
    unread: {
      ...list(object({ path: text, count: whole }, ['path', 'count'])),
      description: 'Paths of leaves of the message that nothing of the document reads.',
    },
    unreadNotShown: whole,
    unreadUnknown: text,
    unwritten: {
      ...list(object({ path: text, target: text }, ['path', 'target'])),
      description: 'Targets that were not written.',
    },
    unwrittenNotShown: whole,
  }),
  ValueFields: object(
    {
      fields: list(
        object(
          {
            path: { ...text, description: 'As an entry can have it; `[]` stands for every element of an array.' },
            types: list(oneOf(['object', 'array', 'string', 'number', 'boolean', 'null'])),
            count: { ...whole, description: 'How many values are there.' },
            sample: { description: 'The first value that is no object, array or null; a long text is cut.' },
          },
          ['path', 'types', 'count'],
        ),
      ),
      cut: {
        ...flag,
        description:
          'There are more than 3,000 fields or 100,000 values, or names that make a path longer than 1,000 characters.',
      },
    },
    ['fields', 'cut'],
  ),
  Coverage: object(
    {
      total: { ...whole, description: 'The parts of the document that a message can run.' },
      missed: list(
        object(
          {
            kind: oneOf(['lookup', 'fallback', 'transform', 'entry', 'target', 'default', 'response']),
            path: text,
          },
          ['kind', 'path'],
        ),
      ),
    },
    ['total', 'missed'],
  ),
}
