/** The keywords of JSON Schema that documents may use, and the values of each. */

export type Draft = 'draft-07' | '2020-12'

export type SchemaKind =
  | 'schema'
  | 'schemas'
  | 'schema or schemas'
  | 'schemas by name'
  | 'schemas by pattern'
  | 'schemas or names by name'
  | 'names by name'
  | 'names'
  | 'values'
  | 'any'
  | 'number'
  | 'positive number'
  | 'count'
  | 'boolean'
  | 'text'
  | 'pattern'
  | 'format'
  | 'types'
  | 'reference'
  | 'messages'

export type Keyword = Readonly<{
  kind: SchemaKind
  /** The one draft that has it. */
  only?: Draft
  /** For people only; it checks nothing. */
  note?: true
}>

const note: Keyword = { kind: 'any', note: true }

/**
 * Source: JSON Schema draft-07 and 2020-12, core and validation; `nullable` from OpenAPI 3.0; our own `min`, `max`,
 * `errorMessage`.
 */
const KEYWORDS: Readonly<Record<string, Keyword>> = {
  $ref: { kind: 'reference' },
  $dynamicRef: { kind: 'reference', only: '2020-12' },
  $id: { kind: 'text' },
  $anchor: { kind: 'text', only: '2020-12' },
  $dynamicAnchor: { kind: 'text', only: '2020-12' },
  definitions: { kind: 'schemas by name' },
  $defs: { kind: 'schemas by name' },
  type: { kind: 'types' },
  nullable: { kind: 'boolean' },
  enum: { kind: 'values' },
  const: { kind: 'any' },
  minimum: { kind: 'number' },
  maximum: { kind: 'number' },
  exclusiveMinimum: { kind: 'number' },
  exclusiveMaximum: { kind: 'number' },
  multipleOf: { kind: 'positive number' },
  minLength: { kind: 'count' },
  maxLength: { kind: 'count' },
  pattern: { kind: 'pattern' },
  format: { kind: 'format' },
  required: { kind: 'names' },
  properties: { kind: 'schemas by name' },
  patternProperties: { kind: 'schemas by pattern' },
  additionalProperties: { kind: 'schema' },
  propertyNames: { kind: 'schema' },
  minProperties: { kind: 'count' },
  maxProperties: { kind: 'count' },
  dependencies: { kind: 'schemas or names by name' },
  dependentRequired: { kind: 'names by name', only: '2020-12' },
  dependentSchemas: { kind: 'schemas by name', only: '2020-12' },
  unevaluatedProperties: { kind: 'schema', only: '2020-12' },
  items: { kind: 'schema or schemas' },
  prefixItems: { kind: 'schemas', only: '2020-12' },
  additionalItems: { kind: 'schema', only: 'draft-07' },
  unevaluatedItems: { kind: 'schema', only: '2020-12' },
  contains: { kind: 'schema' },
  minContains: { kind: 'count', only: '2020-12' },
  maxContains: { kind: 'count', only: '2020-12' },
  minItems: { kind: 'count' },
  maxItems: { kind: 'count' },
  uniqueItems: { kind: 'boolean' },
  allOf: { kind: 'schemas' },
  anyOf: { kind: 'schemas' },
  oneOf: { kind: 'schemas' },
  not: { kind: 'schema' },
  if: { kind: 'schema' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { kind: 'schema' },
  else: { kind: 'schema' },
  errorMessage: { kind: 'messages' },
  ...Object.fromEntries(
    (
      '$schema $comment $vocabulary title description default examples example readOnly writeOnly deprecated ' +
      'contentMediaType contentEncoding contentSchema discriminator xml externalDocs'
    )
      .split(' ')
      .map((name) => [name, note]),
  ),
}

export const OTHER_NAMES: Readonly<Record<string, string>> = { min: 'minimum', max: 'maximum' }

export const KEYWORD_NAMES: readonly string[] = [...Object.keys(KEYWORDS), ...Object.keys(OTHER_NAMES)]

export const keyword = (name: string): Keyword | undefined =>
  Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === 'string')
const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
const isSchema = (value: unknown): boolean => typeof value === 'boolean' || isMap(value)
const isSchemas = (value: unknown): boolean => Array.isArray(value) && value.length > 0
const isTypes = (value: unknown): boolean => {
  const types = Array.isArray(value) ? value : [value]
  return types.length > 0 && types.every((type) => TYPES.includes(type))
}

/** The check of each kind and its text for faults. `rewriteSchema` checks the schemas in lists and maps one by one. */
export const KINDS: Readonly<Record<SchemaKind, Readonly<{ fits: (value: unknown) => boolean; must: string }>>> = {
  schema: { fits: isSchema, must: 'a schema (an object, true or false)' },
  schemas: { fits: isSchemas, must: 'a list of schemas' },
  'schema or schemas': { fits: (value) => isSchema(value) || isSchemas(value), must: 'a schema or a list of schemas' },
  'schemas by name': { fits: isMap, must: 'an object of schemas' },
  'schemas by pattern': { fits: isMap, must: 'an object of schemas' },
  'schemas or names by name': { fits: isMap, must: 'an object of schemas or lists of names' },
  'names by name': {
    fits: (value) => isMap(value) && Object.values(value as object).every(isNames),
    must: 'an object of lists of names',
  },
  names: { fits: isNames, must: 'a list of names' },
  values: { fits: (value) => Array.isArray(value) && value.length > 0, must: 'a list of values' },
  any: { fits: () => true, must: 'any value' },
  number: { fits: (value) => typeof value === 'number', must: 'a number' },
  'positive number': { fits: (value) => typeof value === 'number' && value > 0, must: 'a number above 0' },
  count: { fits: (value) => Number.isInteger(value) && Number(value) >= 0, must: 'a whole number of 0 or more' },
  boolean: { fits: (value) => typeof value === 'boolean', must: 'true or false' },
  text: { fits: (value) => typeof value === 'string', must: 'a string' },
  pattern: { fits: (value) => typeof value === 'string', must: 'a regular expression' },
  format: { fits: (value) => typeof value === 'string', must: 'the name of a format' },
  types: { fits: isTypes, must: `one of ${TYPES.map((type) => `"${type}"`).join(', ')}, or a list of them` },
  reference: { fits: (value) => typeof value === 'string', must: 'a reference such as "#/definitions/name"' },
  messages: { fits: (value) => typeof value === 'string' || isMap(value), must: 'a message or an object of messages' },
}
