/** The part of /openapi.json on what callers who watch ask for: summaries, faults, vocabulary, suggestions, events. */
import type { JsonObject } from '../../../domain/json.ts'
import {
  SUMMARY_DEFAULT_LIMIT,
  SUMMARY_LARGEST_LIMIT,
  SUMMARY_SORTS,
} from '../../../endpoints/listing/summary-query.ts'
import { EVENT_TYPES } from '../../../events/service-event.ts'
import { FORMATS } from '../../../formats/codecs.ts'
import {
  answer,
  content,
  failure,
  id,
  inPath,
  list,
  number,
  object,
  oneOf,
  ref,
  text,
  time,
  whole,
} from './openapi-parts.ts'

const inQuery = (name: string, schema: JsonObject, description: string): JsonObject => ({
  name,
  in: 'query',
  schema,
  description,
})

/** Of `GET /endpoints`. */
export const summaryParameters: readonly JsonObject[] = [
  inQuery('view', { const: 'summary' }, 'A page of rows with counts instead of whole documents.'),
  inQuery(
    'q',
    { ...text, maxLength: 200 },
    'Of the summary: words, all in the name, description, pattern, labels or id.',
  ),
  inQuery(
    'sort',
    oneOf(SUMMARY_SORTS.flatMap((sort) => [sort, `-${sort}`])),
    'Of the summary: by name unless given; "-" sorts descending.',
  ),
  inQuery(
    'limit',
    { ...whole, minimum: 1, maximum: SUMMARY_LARGEST_LIMIT, default: SUMMARY_DEFAULT_LIMIT },
    'Of the summary: rows of a page.',
  ),
  inQuery('faults', { const: 'true' }, 'Of the summary: only endpoints that have a `reason`.'),
  inQuery('cursor', text, 'Of the summary: `next` of the page before, with the same sort.'),
]

const endpointId = inPath('id', id)
const reason = {
  ...oneOf(['invalid', 'clash', 'pending', 'tolerated']),
  description: 'Why there are faults; not there without any.',
}
const body = (schema: JsonObject): JsonObject => ({ required: true, ...content(schema) })

export const watchingPaths: JsonObject = {
  '/me': {
    get: {
      summary: 'Who the caller is, and what it may do. Role viewer.',
      responses: { 200: answer('The caller.', ref('Me')) },
    },
  },
  '/endpoints/{id}/faults': {
    parameters: [endpointId],
    get: {
      summary: 'The faults of a stored endpoint, and why it is not active if it is not. Role viewer.',
      responses: {
        200: answer('The faults; none for most endpoints.', ref('EndpointFaults')),
        400: failure('The id is malformed.'),
        404: failure('There is no such endpoint.'),
      },
    },
  },
  '/endpoints/vocabulary': {
    get: {
      summary: 'What an editor of documents can complete: fields, roots, functions, codes. Role viewer.',
      responses: {
        200: answer('The vocabulary of this version of the service.', ref('Vocabulary')),
        304: answer('Unchanged.'),
      },
    },
  },
  '/endpoints/suggest': {
    post: {
      summary:
        'Entries of inputMapping for fields of the same name, place and type. Role viewer; operator for messageId.',
      requestBody: body(ref('SuggestRequest')),
      responses: {
        200: answer('The best first; without values of the samples.', ref('Suggestions')),
        400: failure('The request is wrong; details lists the reasons.'),
        404: failure('There is no such endpoint or message.'),
        415: failure('The body is not declared as JSON.'),
      },
    },
  },
  '/endpoints/draft': {
    post: {
      summary: 'A document with the fields of a sample message, and a test of it; nothing is stored. Role author.',
      requestBody: body(ref('DraftRequest')),
      responses: {
        200: answer('The document, to be changed and created.', ref('EndpointDraft')),
        400: failure('The request or the sample is wrong; details lists the reasons.'),
        415: failure('The body is not declared as JSON.'),
      },
    },
  },
  '/events': {
    get: {
      summary: 'What happens in the service, as server-sent events; does not end by itself. Role viewer.',
      parameters: [
        inQuery('types', text, `Types with commas between them: ${EVENT_TYPES.join(', ')}; all of them unless given.`),
        {
          name: 'Last-Event-ID',
          in: 'header',
          schema: text,
          description: 'Of the last event before a connection was lost: the event `reset` follows.',
        },
      ],
      responses: {
        200: { description: 'Events until the caller closes the connection.', content: { 'text/event-stream': {} } },
        400: failure('There is no such type.'),
        503: failure('As many callers as the service allows read events already.'),
      },
    },
  },
}

const outcomes = { done: whole, partial: whole, refused: whole, failed: whole }

export const watchingSchemas: JsonObject = {
  Me: object(
    {
      who: { ...text, description: '`key:<id>`, `token:<subject>`, `local` or `anyone`.' },
      name: text,
      roles: list(ref('Role')),
      may: { ...list(ref('Role')), description: 'The roles with those that they include.' },
      mode: { ...oneOf(['open', 'keys', 'oidc']), description: 'How the caller was identified.' },
    },
    ['who', 'roles', 'may', 'mode'],
  ),
  SummaryPage: object({ endpoints: list(ref('EndpointSummary')), total: whole, next: text }, ['endpoints', 'total']),
  EndpointSummary: object(
    {
      id,
      name: text,
      description: text,
      labels: { type: 'object', additionalProperties: text },
      method: text,
      pattern: text,
      input: text,
      output: text,
      kafkaConsumerTopic: text,
      version: whole,
      createdAt: time,
      updatedAt: time,
      active: { type: 'boolean' },
      reason,
      faults: whole,
      stats: object(
        {
          count: { ...whole, description: 'Messages of the last hour.' },
          failures: { ...whole, description: 'Those of them that did not end done.' },
          perMinute: { ...number, description: 'Messages a minute, of the last five whole minutes.' },
        },
        ['count', 'failures', 'perMinute'],
      ),
    },
    ['id', 'name', 'labels', 'method', 'pattern', 'output', 'version', 'active', 'faults', 'stats'],
  ),
  EndpointFaults: object(
    {
      endpointId: text,
      active: { type: 'boolean' },
      version: whole,
      reason,
      error: text,
      faults: list(ref('FailureDetail')),
    },
    ['endpointId', 'active', 'faults'],
  ),
  Vocabulary: object(
    {
      fields: list(
        object({ path: text, type: text, description: text, required: { const: true }, reads: text }, ['path']),
      ),
      roots: { type: 'object', additionalProperties: object({ when: text, roots: list(text) }, ['when', 'roots']) },
      mappingFunctions: list(
        object({ name: text, signature: text, means: text, needsParameters: { type: 'boolean' } }, ['name']),
      ),
      expressionFunctions: list(object({ name: text, parameters: list(text), signature: text }, ['name'])),
      failures: list(object({ code: text, status: whole, retry: { type: 'boolean' }, means: text }, ['code'])),
      formats: list(object({ name: text, mediaType: text }, ['name', 'mediaType'])),
      contentTypes: list(object({ format: text, types: list(text), suffix: text }, ['format', 'types'])),
      stages: list(text),
      outcomes: list(text),
      sources: list(text),
      roles: list(ref('Role')),
    },
    ['fields', 'roots', 'mappingFunctions', 'expressionFunctions', 'failures', 'formats'],
  ),
  DraftRequest: object(
    {
      name: text,
      pattern: text,
      format: { ...oneOf(FORMATS), description: 'Of the messages; by default that of the sample.' },
      sample: { ...text, description: 'A message as it is sent.' },
    },
    ['name', 'pattern'],
  ),
  EndpointDraft: object(
    {
      document: ref('Endpoint'),
      test: { ...ref('Test'), description: 'What the document does with the sample.' },
      faults: { ...list(ref('FailureDetail')), description: 'Such as a name that is taken; there is no test then.' },
    },
    ['document', 'faults'],
  ),
  SampleBody: object({
    body: { description: 'A text is read by its type, any other value is JSON.' },
    contentType: text,
  }),
  SuggestRequest: object({
    source: {
      allOf: [
        ref('SampleBody'),
        object({
          query: { type: 'object' },
          urlParams: { type: 'object' },
          lookups: {
            type: 'object',
            additionalProperties: { anyOf: [ref('SampleBody'), list(ref('SampleBody'))] },
          },
        }),
      ],
    },
    messageId: { ...id, description: 'A recorded message, instead of source.' },
    target: object({
      sample: { description: 'An output as it is meant to be.' },
      contentType: text,
      schema: { type: 'object', description: 'JSON Schema of the output, instead of sample.' },
    }),
    endpoint: ref('Endpoint'),
    endpointId: { ...id, description: 'Of a stored endpoint, instead of endpoint.' },
    fields: { type: 'boolean', description: 'Whether the answer lists the fields of the target, too.' },
  }),
  Suggestions: object(
    {
      suggestions: list(
        object(
          {
            source: text,
            target: text,
            to: { anyOf: [text, object({ key: text, transform: text }, ['key', 'transform'])] },
            score: { ...number, minimum: 0.5, maximum: 1 },
            reason: text,
          },
          ['source', 'target', 'to', 'score', 'reason'],
        ),
      ),
      cut: { type: 'boolean', description: 'Whether fields were left out.' },
      fields: {
        ...list(object({ path: text, types: list(oneOf(['string', 'number', 'boolean'])) }, ['path', 'types'])),
        description: 'The scalars of the target; `[]` stands for every element of an array.',
      },
      notRead: list(object({ part: text, reason: text }, ['part', 'reason'])),
    },
    ['suggestions', 'cut'],
  ),
  MessagesEvent: {
    ...object(
      {
        at: time,
        ms: number,
        ...outcomes,
        endpoints: list(object({ endpoint: text, endpointId: text, ...outcomes })),
      },
      ['at', 'ms', 'done', 'partial', 'refused', 'failed', 'endpoints'],
    ),
    description: 'The data of the event `messages`.',
  },
}
