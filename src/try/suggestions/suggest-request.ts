/** The request for suggestions and its checks. */

import { Failure } from '../../core/failure.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { collectInto, type Lint } from '../../core/lint.ts'
import { checkField } from '../../document/checks/check-field.ts'
import type { Field } from '../../document/schema/schema-fields.ts'
import { parseDocument } from '../../endpoints/parse-document.ts'

/** A body as the endpoint gets it: a text or bytes as they are, any other value as JSON. */
export type SampleBody = Readonly<{ body?: Json | Uint8Array; contentType?: string }>

/** A sample of the messages of an endpoint. A lookup with `forEach` has an array with the answer for each item. */
export type SuggestSource = SampleBody &
  Readonly<{
    query?: JsonObject
    urlParams?: JsonObject
    lookups?: Readonly<Record<string, SampleBody | readonly SampleBody[]>>
  }>

export type SuggestRequest = Readonly<{
  source?: SuggestSource
  /** A recorded message, instead of `source`. */
  messageId?: string
  /** What the output is to look like: a sample or a JSON Schema; by default the targets of the document. */
  target?: Readonly<{ sample?: Json; contentType?: string; schema?: JsonObject }>
  /** The document that the entries are for; its own entries are not suggested again. */
  endpoint?: JsonObject
  endpointId?: string
  /** Whether the answer lists the fields of the target, too. */
  fields?: boolean
}>

const TEXT: Field = { type: 'string' }
const OBJECT: Field = { type: 'object' }
const ANYTHING: Field = {}
const BODY = { body: ANYTHING, contentType: TEXT }

const REQUEST: Field = {
  type: 'object',
  properties: {
    source: {
      type: 'object',
      properties: {
        ...BODY,
        query: OBJECT,
        urlParams: OBJECT,
        lookups: OBJECT,
      },
    },
    messageId: TEXT,
    target: { type: 'object', properties: { sample: ANYTHING, contentType: TEXT, schema: OBJECT } },
    endpoint: OBJECT,
    endpointId: TEXT,
    fields: { type: 'boolean' },
  },
}

/** In: the request as JSON text. Fails with BODY_UNREADABLE, BODY_TOO_DEEP, SUGGESTION_INVALID. */
export function readSuggestRequest(text: string): SuggestRequest {
  const { raw, faults } = parseDocument(text)
  const lints: Lint[] = [...faults]
  const lint = collectInto(lints)
  if (!isObject(raw)) {
    lint.error('A request is an object with "source" or "messageId", and "target".')
    throw invalid(lints)
  }
  checkField(REQUEST, raw, lint)
  const has = (name: keyof SuggestRequest): boolean => raw[name] !== undefined
  if (has('source') === has('messageId')) lint.error('Give either a "source" or a "messageId".')
  if (has('endpoint') && has('endpointId')) lint.error('Give either an "endpoint" or an "endpointId".')
  const { source, target } = raw
  const lookups = isObject(source) && isObject(source.lookups) ? source.lookups : {}
  for (const [id, lookup] of Object.entries(lookups)) {
    const field: Field = { type: 'object', properties: BODY }
    checkField(
      Array.isArray(lookup) ? { type: 'array', items: field } : field,
      lookup,
      lint.at('source', 'lookups', id),
    )
  }
  if (isObject(target) && (target.sample === undefined) === (target.schema === undefined)) {
    lint.at('target').error('Give either a "sample" or a "schema".')
  }
  if (!has('target') && !has('endpoint') && !has('endpointId')) {
    lint.error('Give a "target", or an endpoint whose targets are meant.')
  }
  if (lints.length > 0) throw invalid(lints)
  // The checks above ensure the type.
  return raw as SuggestRequest
}

export const invalid = (faults: readonly Lint[]): Failure =>
  new Failure('SUGGESTION_INVALID', 'The suggestions cannot be made as requested; details has the reasons.', {
    details: faults.map(({ path, message }) => ({ path, message })),
  })
