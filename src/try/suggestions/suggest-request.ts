/** The requests for suggestions and for drafts. */
import type { Static } from 'typebox'
import { MAX_EXAMPLES } from '../../core/examples.ts'
import { Failure } from '../../core/failure.ts'
import { ENDPOINT_METHODS } from '../../core/http.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { type Lint, type LintSink, toFaults } from '../../core/lint.ts'
import {
  both,
  described,
  Endpoint,
  either,
  enumSchema,
  extend,
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
import { checkField } from '../../document/checks/check-field.ts'
import { MESSAGE_PARTS } from '../../document/checks/dry-run-request.ts'
import { EndpointField } from '../../document/schema/schema.ts'
import { FORMATS } from '../../formats/codecs.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'

export const SampleBodySchema = named(
  'SampleBody',
  {},
  { body: described(json, 'A text is read by its type, any other value is JSON.'), contentType: text },
)

const { timestamps: _timestamps, ...MESSAGE } = MESSAGE_PARTS

export const ExampleMessage = object({}, MESSAGE)

export const ExampleRequest = named(
  'Example',
  {},
  {
    message: ExampleMessage,
    messageId: described(
      idInBody,
      'A recorded message, instead of message and lookups; needs the role operator. Without output, it is what the message became.',
    ),
    output: described(json, 'What the message becomes; a text is read by outputType, or else by how it begins.'),
    outputType: described(text, 'The media type of an output that is a text.'),
    lookups: record(either([SampleBodySchema, list(SampleBodySchema)])),
  },
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
          fhir: described(text, 'A resource type of FHIR R4, such as Patient, instead of sample.'),
        },
      ),
      examples: described(
        extend(list(ExampleRequest), { minItems: 1, maxItems: MAX_EXAMPLES }),
        'Messages and what they become: the answer has a whole document. Instead of source and target.',
      ),
      answers: described(
        record(text),
        'To questions of an earlier answer about the examples: of a target, the candidate that its place is made by.',
      ),
      name: described(text, 'Of the document of examples.'),
      pattern: described(text, 'Of its route.'),
      keepCodes: described(flag, 'Whether long code lists stay in the document of examples, instead of tables.'),
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
      method: described(enumSchema(ENDPOINT_METHODS), 'Of the route; POST by default.'),
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
  const hasOne = has('endpoint') && has('endpointId')
  const { name, pattern } = request
  if (typeof name === 'string') checkField(EndpointField.properties?.name ?? {}, name, lint.at('name'))
  const route = typeof pattern === 'string' ? parseRoutePattern(pattern) : undefined
  if (route?.ok === false) lint.at('pattern').error(route.message)
  if (has('examples')) {
    for (const name of ['source', 'messageId', 'target', 'fields'] as const) {
      if (has(name)) lint.at(name).error(`Leave "${name}" out beside "examples".`)
    }
    const examples = Array.isArray(request.examples) ? request.examples : []
    for (const [index, one] of examples.entries()) if (isObject(one)) lintExample(one, lint.at('examples', index))
    const { length } = examples
    if (length === 0 || length > MAX_EXAMPLES) lint.at('examples').error(`Give 1 to ${MAX_EXAMPLES} examples.`)
    if (hasOne) lint.error('Give either an "endpoint" or an "endpointId".')
    return
  }
  if (has('answers')) lint.at('answers').error('Give answers beside "examples" only.')
  if (has('source') === has('messageId')) lint.error('Give either a "source" or a "messageId".')
  if (hasOne) lint.error('Give either an "endpoint" or an "endpointId".')
  const { target } = request
  const ways = isObject(target) ? [target.sample, target.schema, target.fhir].filter((way) => way !== undefined) : []
  if (isObject(target) && ways.length !== 1) lint.at('target').error('Give one of "sample", "schema" and "fhir".')
  if (!has('target') && !has('endpoint') && !has('endpointId')) {
    lint.error('Give a "target", or an endpoint whose targets are meant.')
  }
}

function lintExample({ message, messageId, output, lookups }: JsonObject, lint: LintSink): void {
  if ((message === undefined) === (messageId === undefined)) {
    lint.error('Give either a "message" with its "output", or the "messageId" of a recorded message.')
  } else if (message !== undefined && output === undefined) lint.at('output').error('Give what the message becomes.')
  if (messageId !== undefined && lookups !== undefined) lint.at('lookups').error('Leave it out beside "messageId".')
}

export const SUGGESTION_INVALID = {
  code: 'SUGGESTION_INVALID',
  sentence: 'The suggestions cannot be made as requested; details has the reasons.',
} as const

export const invalid = (faults: readonly Lint[]): Failure =>
  new Failure(SUGGESTION_INVALID.code, SUGGESTION_INVALID.sentence, {
    details: toFaults(faults),
  })
