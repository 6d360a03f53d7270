/** The part of /openapi.json on what helps to write a document: vocabulary, suggestions, first drafts. */
import type { JsonObject } from '../../../domain/json.ts'
import { FORMATS } from '../../../formats/codecs.ts'
import { answer, content, failure, id, list, number, object, oneOf, ref, text, whole } from './openapi-parts.ts'

const body = (schema: JsonObject): JsonObject => ({ required: true, ...content(schema) })

export const authoringPaths: JsonObject = {
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
}

export const authoringSchemas: JsonObject = {
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
}
