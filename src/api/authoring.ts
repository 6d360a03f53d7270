/** What helps to write a document: vocabulary, suggestions, first drafts. */

import { allows, type Caller } from '../core/access.ts'
import { MAX_EXAMPLE_BYTES } from '../core/examples.ts'
import { Failure } from '../core/failure.ts'
import {
  anything,
  constant,
  described,
  Endpoint,
  enumSchema,
  FailureDetail,
  flag,
  list,
  named,
  number,
  object,
  record,
  text,
  whole,
} from '../core/schema.ts'
import { FORMATS } from '../formats/codecs.ts'
import { sendAnswer } from '../inbound/http/replies.ts'
import { Suggestions } from '../try/suggestions/suggest-answer.ts'
import {
  DraftRequest,
  lintSuggestRequest,
  SUGGESTION_INVALID,
  SuggestRequest,
} from '../try/suggestions/suggest-request.ts'
import { Test } from '../try/tests/test-file-schema.ts'
import { Role } from './access.ts'
import { answer, checkedBody, route } from './route.ts'

const Word = object({ name: text, means: text })

export const Vocabulary = named(
  'Vocabulary',
  {
    fields: list(
      object(
        { path: text },
        {
          type: text,
          types: described(list(text), 'The types of its values, if it takes several.'),
          description: text,
          required: constant(true),
          expects: described(text, 'The values that the field takes, as they follow "must be".'),
          enum: list(text),
          pattern: text,
          minimum: number,
          maximum: number,
          default: anything,
          assumed: described(text, 'What holds without the field, in Markdown.'),
          examples: list(anything),
          reads: text,
          evaluates: described(text, 'The field holds an expression; a key of `roots`.'),
          readsNames: described(constant(true), 'The names of the object are the paths that `reads` is about.'),
        },
      ),
    ),
    roots: record(object({ when: text, roots: list(text) })),
    mappingFunctions: list(
      object(
        {
          name: text,
          parameters: list(
            object({ name: text, kind: enumSchema(['text', 'json']), means: text }, { isRequired: flag }),
          ),
        },
        { signature: text, means: text, needsParameters: flag },
      ),
    ),
    valueForms: described(
      list(
        object({
          name: text,
          title: text,
          means: text,
          at: enumSchema(['constants', 'inputTransforms']),
          template: described(text, '`{name}` is the place of a parameter.'),
          parameters: list(
            object(
              { name: text, title: text, kind: enumSchema(['path', 'paths', 'text', 'json', 'expression']) },
              { choices: list(object({ value: text, title: text })), default: text, mayBeEmpty: flag },
            ),
          ),
        }),
      ),
      'Values of a mapping that are no path, as forms.',
    ),
    mappingTarget: described(list(Word), 'The keys of a target of a mapping.'),
    eachRoots: described(list(Word), 'What entries of an `each` can read beside the roots of the mapping.'),
    expressionFunctions: list(object({ name: text }, { parameters: list(text), signature: text })),
    failures: list(object({ code: text }, { status: whole, retry: flag, means: text })),
    formats: list(
      object({
        name: enumSchema(FORMATS),
        title: described(text, 'What people call it.'),
        mediaType: text,
        sample: described(text, 'A message as simple as one can be.'),
      }),
    ),
  },
  {
    contentTypes: list(object({ format: text, types: list(text), fileEndings: list(text) }, { suffix: text })),
    stages: list(text),
    outcomes: list(text),
    sources: list(text),
    roles: list(Role),
  },
)

export const EndpointDraft = named(
  'EndpointDraft',
  {
    document: Endpoint,
    faults: described(list(FailureDetail), 'Such as a name that is taken; there is no test then.'),
  },
  { test: described(Test, 'What the document does with the sample.') },
)

export const Samples = named('Samples', {
  samples: list(
    object({
      name: text,
      text: described(text, 'One sentence.'),
      document: described(text, 'The document, as text.'),
      tests: list(Test),
    }),
  ),
})

export const FhirTypes = named('FhirTypes', { resources: described(list(text), 'The types of resources by name.') })

export const FhirShape = named('FhirShape', {
  fields: described(
    list(
      object(
        {
          path: described(text, 'The name, with `[]` where there may be several.'),
          types: list(enumSchema(['string', 'number', 'boolean', 'object'])),
        },
        {
          required: described(constant(true), 'The type requires it.'),
          of: described(text, 'The type of the object, whose fields are asked for by this name.'),
        },
      ),
    ),
    'Of this type alone: those of its objects have types of their own.',
  ),
})

export const authoringRoutes = [
  route({
    method: 'GET',
    path: '/endpoints/shapes/fhir-r4',
    role: 'viewer',
    summary: 'The types of resources of FHIR R4.',
    answers: { 200: answer('Those whose fields can be asked for.', FhirTypes) },
    fails: ['SHAPE_UNKNOWN'],
    handle: async (_, { shapes }) => ({ resources: await shapes.resources() }),
  }),
  route({
    method: 'GET',
    path: '/endpoints/shapes/fhir-r4/:type',
    role: 'viewer',
    summary: 'The fields of a resource or data type of FHIR R4.',
    params: { type: described(text, 'Such as Patient or HumanName.') },
    answers: { 200: answer('The fields in the order of the specification.', FhirShape) },
    fails: ['SHAPE_UNKNOWN'],
    handle: async ({ params }, { shapes }) => ({ fields: await shapes.fields(params.type) }),
  }),
  route({
    method: 'GET',
    path: '/endpoints/vocabulary',
    role: 'viewer',
    summary: 'What an editor of documents can complete: fields, roots, functions, codes.',
    answers: {
      200: answer('The vocabulary of this version of the service.', Vocabulary),
      304: answer('Unchanged.'),
    },
    handle: async ({ request, reply }, { vocabulary }) => {
      const { body, etag } = await vocabulary()
      const headers = { etag, 'cache-control': 'private, no-cache' }
      if (request.headers['if-none-match'] === etag) return sendAnswer(reply, { status: 304, headers, body: '' })
      return sendAnswer(reply, { status: 200, headers: { ...headers, 'content-type': 'application/json' }, body })
    },
  }),
  route({
    method: 'GET',
    path: '/endpoints/samples',
    role: 'viewer',
    summary: 'The samples of the package: documents to start from, with their tests.',
    answers: { 200: answer('The shortest document first.', Samples) },
    handle: async (_, { samples }) => ({ samples: await samples() }),
  }),
  route({
    method: 'POST',
    path: '/endpoints/suggest',
    role: 'viewer',
    summary:
      'Entries of inputMapping for fields of the same value, or name, place and type; of examples, a whole document.',
    body: checkedBody(SuggestRequest, { ...SUGGESTION_INVALID, also: lintSuggestRequest }),
    answers: { 200: answer('The best first; without values of the samples.', Suggestions) },
    fails: ['ID_MALFORMED', 'ENDPOINT_UNKNOWN', 'MESSAGE_UNKNOWN'],
    sends: 'no-store',
    bodyLimit: {
      setting: 'the limit of examples',
      bytes: ({ parserLimitBytes }) => Math.max(parserLimitBytes, MAX_EXAMPLE_BYTES),
    },
    handle: async ({ body, caller }, { suggest }) => suggest(body, () => demandOperator(caller)),
  }),
  route({
    method: 'POST',
    path: '/endpoints/draft',
    role: 'author',
    summary: 'A document with the fields of a sample message, and a test of it; nothing is stored.',
    body: checkedBody(DraftRequest, SUGGESTION_INVALID),
    leavesNoEntry: true,
    answers: { 200: answer('The document, to be changed and created.', EndpointDraft) },
    sends: 'no-store',
    handle: async ({ body }, { draft }) => draft(body),
  }),
]

/** Suggestions show names of fields from the bodies of a message. */
function demandOperator(caller: Caller | undefined): void {
  if (caller !== undefined && allows(caller.roles, 'operator')) return
  const has = caller?.roles.join(', ') || 'none'
  throw new Failure('ACCESS_DENIED', `Recorded messages need the role operator; the roles of the caller: ${has}.`)
}
