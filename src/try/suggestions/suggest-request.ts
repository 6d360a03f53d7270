/** The requests for suggestions and for drafts. */
import type { Static } from 'typebox'
import { Failure } from '../../core/failure.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { type Lint, type LintSink, toFaults } from '../../core/lint.ts'
import {
  both,
  described,
  Endpoint,
  either,
  enumSchema,
  flag,
  idInBody,
  json,
  list,
  named,
  noted,
  object,
  record,
  text,
  values,
} from '../../core/schema.ts'
import { FORMATS } from '../../formats/codecs.ts'

export const SampleBodySchema = named(
  'SampleBody',
  {},
  { body: described(json, 'A text is read by its type, any other value is JSON.'), contentType: text },
)

export const SuggestRequest = noted(
  named(
    'SuggestRequest',
    {},
    {
      source: both([
        SampleBodySchema,
        object(
          {},
          { query: values, urlParams: values, lookups: record(either([SampleBodySchema, list(SampleBodySchema)])) },
        ),
      ]),
      messageId: described(idInBody, 'A recorded message, instead of source; needs the role operator.'),
      target: object(
        {},
        {
          sample: described(json, 'An example of the output.'),
          contentType: text,
          schema: described(values, 'JSON Schema of the output, instead of sample.'),
        },
      ),
      endpoint: Endpoint,
      endpointId: described(idInBody, 'Of a stored endpoint, instead of endpoint.'),
      fields: described(flag, 'Whether the answer lists the fields of the target, too.'),
    },
  ),
  { fault: 'A request is an object with "source" or "messageId", and "target".' },
)

export type SuggestRequest = Static<typeof SuggestRequest>

/** A body as the endpoint gets it: a text or bytes as they are, any other value as JSON. */
export type SampleBody = Readonly<{ body?: Json | Uint8Array; contentType?: string }>

/** A sample of the messages of an endpoint. A lookup with `forEach` has an array with the answer for each item. */
export type SuggestSource = SampleBody &
  Readonly<{
    query?: JsonObject
    urlParams?: JsonObject
    lookups?: Readonly<Record<string, SampleBody | readonly SampleBody[]>>
  }>

export const DraftRequest = noted(
  named(
    'DraftRequest',
    { name: text, pattern: text },
    {
      format: described(enumSchema(FORMATS), 'Of the messages; by default that of the sample.'),
      sample: described(text, 'A message as sent.'),
    },
  ),
  { fault: 'A request is an object with "name" and "pattern".' },
)

export type DraftRequest = Static<typeof DraftRequest>

/** Lints parts of a request for suggestions that exclude or need each other. */
export function lintSuggestRequest(request: JsonObject, lint: LintSink): void {
  const has = (name: keyof SuggestRequest): boolean => request[name] !== undefined
  if (has('source') === has('messageId')) lint.error('Give either a "source" or a "messageId".')
  if (has('endpoint') && has('endpointId')) lint.error('Give either an "endpoint" or an "endpointId".')
  const { target } = request
  if (isObject(target) && (target.sample === undefined) === (target.schema === undefined)) {
    lint.at('target').error('Give either a "sample" or a "schema".')
  }
  if (!has('target') && !has('endpoint') && !has('endpointId')) {
    lint.error('Give a "target", or an endpoint whose targets are meant.')
  }
}

export const SUGGESTION_INVALID = {
  code: 'SUGGESTION_INVALID',
  sentence: 'The suggestions cannot be made as requested; details has the reasons.',
} as const

export const invalid = (faults: readonly Lint[]): Failure =>
  new Failure(SUGGESTION_INVALID.code, SUGGESTION_INVALID.sentence, {
    details: toFaults(faults),
  })
