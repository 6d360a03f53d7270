/**
 * Reports every fault of a document's schema, and rewrites it for Ajv: other names replaced, null accepted, unknown
 * keywords left out. Only schemas are rewritten, so that a property called "min" or a default that has one stays unchanged.
 */

import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { nearest } from '../../core/nearest.ts'
import { toEqualityKey } from '../jsonata/expression-functions.ts'
import { compilePattern } from '../re2-pattern.ts'
import { type Draft, EMPTY_NAME, FORMAT_NAMES } from './bounded-ajv.ts'

type Reading = {
  readonly draft: Draft
  readonly root: JsonObject
  readonly targets: SchemaTargets
  /** Schemas with a reference, and the sinks for their faults. */
  readonly references: { schema: JsonObject; lint: LintSink }[]
  /** Schemas read so far. */
  count: number
  /** Keywords for people only, such as `title`, stay: Ajv does not need them. */
  readonly keepsNotes?: true
}

const DRAFTS: Readonly<Record<string, Draft>> = {
  'json-schema.org/draft-07/schema': 'draft-07',
  'json-schema.org/draft/2020-12/schema': '2020-12',
}

/** `written`: the schema as Ajv compiles it; it may run only if the lint has no error. */
export function readSchema(
  schema: JsonObject,
  draft: Draft,
  acceptNull: boolean,
  lint: LintSink,
  notes: Pick<Reading, 'keepsNotes'> = {},
): Reading & Readonly<{ written: Json }> {
  const targets = collectTargets(schema)
  const reading: Reading = { draft, root: schema, targets, references: [], count: 0, ...notes }
  const written = rewriteSchema(schema, reading, lint, acceptNull)
  return { ...reading, written }
}

/** The draft that `$schema` names. Lints one that is not supported. */
export function detectDraft(schema: JsonObject, lint: LintSink): Draft {
  const { $schema } = schema
  if ($schema === undefined) return 'draft-07'
  const draft = typeof $schema === 'string' ? DRAFTS[$schema.replace(/^https?:\/\//, '').replace(/#$/, '')] : undefined
  if (draft === undefined) {
    lint
      .at('$schema')
      .error(
        '"$schema" must be "http://json-schema.org/draft-07/schema#" or "https://json-schema.org/draft/2020-12/schema".',
      )
  }
  return draft ?? 'draft-07'
}

const MAX_DEPTH = 100

/** Ajv compiles such a list in quadratic time. */
const MAX_LIST = 500

type Written = Record<string, Json>

/** `nulls`: whether this schema and those below accept null. */
function rewriteSchema(schema: Json, reading: Reading, lint: LintSink, nulls: boolean, depth = 0): Json {
  reading.count++
  if (typeof schema === 'boolean') return schema
  if (!isObject(schema)) {
    lint.error(`must be ${KINDS.schema.must}, not ${typeName(schema)}.`)
    return true
  }
  if (depth > MAX_DEPTH) {
    lint.error(`is nested deeper than ${MAX_DEPTH} levels; define parts of it under "definitions".`)
    return true
  }
  const written: Written = {}
  for (const [name, value] of Object.entries(schema)) {
    const meant = knownKeyword(name, schema, reading, lint)
    if (meant === undefined) continue
    const kind = meant === 'items' && reading.draft === '2020-12' ? 'schema' : (keyword(meant)?.kind ?? 'any')
    if (!KINDS[kind].fits(value)) {
      lint.at(name).error(`"${name}" must be ${KINDS[kind].must}, not ${said(value)}.`)
      continue
    }
    const innerNulls = nulls && !QUESTIONS.has(meant)
    const next: Next = (inner, at) => rewriteSchema(inner, reading, at, innerNulls, depth + 1)
    const rewritten = rewriteValue(meant, kind, value, lint.at(name), reading, next)
    if (rewritten === undefined) continue
    written[meant] = meant === 'oneOf' && nulls ? nullInFirst(rewritten) : rewritten
  }
  return finish(schema, written, reading, lint, nulls)
}

type Next = (inner: Json, at: LintSink) => Json

/** The results of these schemas are conditions: if null passed them, it could fail the schema around them. */
const QUESTIONS = new Set(['not', 'if', 'contains', 'propertyNames'])

/** In: a value that fits its kind. Out: undefined to leave the keyword out. */
function rewriteValue(name: string, kind: SchemaKind, value: Json, lint: LintSink, reading: Reading, next: Next) {
  if (isTooLong(kind, value)) {
    lint.error(`has more than ${MAX_LIST} schemas; say it with fewer.`)
    return undefined
  }
  switch (kind) {
    case 'schema':
    case 'schemas':
    case 'schema or schemas':
      return Array.isArray(value) ? value.map((item: Json, index) => next(item, lint.at(index))) : next(value, lint)
    case 'schemas by pattern':
      for (const pattern of Object.keys(value as JsonObject)) checkPattern(pattern, lint.at(pattern))
      return rewriteFields(value, lint, next)
    case 'schemas by name':
      return rewriteFields(value, lint, next)
    case 'names by name':
    case 'schemas or names by name':
      return rewriteFields(value, lint, (item, at) =>
        KINDS.names.fits(item) ? checkRequiredNames(item, at) : next(item, at),
      )
    case 'pattern':
      checkPattern(String(value), lint)
      return value
    case 'reference': {
      const wrong = wrongReference(String(value), reading.root, reading.targets)
      if (wrong !== undefined) lint.error(`"${name}" ${wrong}`)
      return value
    }
    case 'format':
      if (FORMAT_NAMES.includes(String(value))) return value
      lintUnknown('format', String(value), FORMAT_NAMES, lint, '; use "pattern" instead.')
      return undefined
    default:
      return value
  }
}

function rewriteFields(fields: Json, lint: LintSink, next: Next): Json {
  const all: Written = {}
  for (const [name, item] of Object.entries(fields as JsonObject)) {
    // Ajv would ignore it.
    if (name === '__proto__') lint.at(name).error('"__proto__" cannot be the name of a field.')
    else all[name] = next(item, lint.at(name))
  }
  return all
}

function checkRequiredNames(names: Json, lint: LintSink): Json {
  if (Array.isArray(names) && names.includes('')) {
    lint.error('a field with an empty name cannot be required here; require it by "if" and "then".')
  }
  return names
}

function isTooLong(kind: SchemaKind, value: Json): boolean {
  if (kind === 'schemas by pattern') return isObject(value) && Object.keys(value).length > MAX_LIST
  return (kind === 'schemas' || kind === 'schema or schemas') && Array.isArray(value) && value.length > MAX_LIST
}

/** The keyword that a name means; undefined for a name that checks nothing, which is linted if it is unknown. */
function knownKeyword(
  name: string,
  schema: JsonObject,
  { draft, keepsNotes }: Reading,
  lint: LintSink,
): string | undefined {
  const other = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined
  if (other !== undefined) {
    if (!Object.hasOwn(schema, other)) return other
    lint.at(name).error(`"${name}" is another name for "${other}", which is given too; leave one out.`)
    return undefined
  }
  const known = keyword(name)
  if (known?.only !== undefined && known.only !== draft) {
    lint
      .at(name)
      .error(
        `"${name}" is a keyword of ${known.only}, and this schema is read as ${draft}; name the draft in "$schema".`,
      )
    return undefined
  }
  if (known !== undefined) return known.note && !keepsNotes ? undefined : name
  if (name.startsWith('x-')) return undefined
  lintUnknown('keyword', name, KEYWORD_NAMES, lint.at(name), '.')
  return undefined
}

function lintUnknown(noun: string, name: string, known: readonly string[], lint: LintSink, advice: string): void {
  const near = nearest(name, known)
  if (near !== undefined) lint.error(`unknown ${noun} "${name}"; did you mean "${near}"?`)
  else lint.warning(`unknown ${noun} "${name}" checks nothing${advice}`)
}

function checkPattern(source: string, lint: LintSink): void {
  const pattern = compilePattern(source)
  if (!pattern.ok) lint.error(pattern.message)
}

function finish(schema: JsonObject, written: Written, reading: Reading, lint: LintSink, nulls: boolean): Json {
  if (isObject(written.errorMessage)) written.errorMessage = renamedMessages(written.errorMessage)
  if (nulls || written.nullable === true) acceptNull(written)
  if (written.nullable === true && !('type' in written || 'enum' in written)) {
    lint.at('nullable').warning('"nullable" works beside "type", "enum" or "const"; here it changes nothing.')
  }
  delete written.nullable
  requireEmptyName(written)
  if ('$ref' in written || '$dynamicRef' in written) reading.references.push({ schema, lint })
  return written
}

/** Ajv takes an empty name for none: it misses that the field is absent. */
function requireEmptyName(written: Written): void {
  const { required } = written
  if (!Array.isArray(required) || !required.includes('')) return
  written.required = required.filter((name) => name !== '')
  written[EMPTY_NAME] = true
}

/** The names in `errorMessage` are those of keywords. */
function renamedMessages(messages: JsonObject): Json {
  return Object.fromEntries(Object.entries(messages).map(([name, text]) => [OTHER_NAMES[name] ?? name, text]))
}

function acceptNull(written: Written): void {
  if (Object.hasOwn(written, 'const')) {
    const only = written.const ?? null
    // Beside an `enum`, only a value that both take.
    const values: readonly Json[] = Array.isArray(written.enum) ? written.enum : [only]
    written.enum = values.filter((value) => toEqualityKey(value) === toEqualityKey(only))
    delete written.const
    const { errorMessage } = written
    if (isObject(errorMessage) && errorMessage.const !== undefined) {
      written.errorMessage = { ...errorMessage, enum: errorMessage.const }
    }
  }
  if (Array.isArray(written.enum) && !written.enum.includes(null)) written.enum = [...written.enum, null]
  if (written.type === undefined) return
  const types = Array.isArray(written.type) ? written.type : [written.type]
  written.type = types.includes('null') ? types : [...types, 'null']
}

/** Only the first alternative of a `oneOf` accepts null: if several did, `oneOf` would refuse it. */
const nullInFirst = (alternatives: Json): Json =>
  Array.isArray(alternatives)
    ? alternatives.map((schema: Json, index) => (index > 0 ? withoutNull(schema) : schema))
    : alternatives

function withoutNull(schema: Json): Json {
  const not: Json = { not: { type: 'null' } }
  if (!isObject(schema)) return schema === true ? not : schema
  return { ...schema, allOf: [...(Array.isArray(schema.allOf) ? schema.allOf : []), not] }
}

function said(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

type SchemaKind = keyof typeof KINDS

type Keyword = Readonly<{
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

const KEYWORD_NAMES: readonly string[] = [...Object.keys(KEYWORDS), ...Object.keys(OTHER_NAMES)]

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
const KINDS = {
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
} satisfies Record<string, Readonly<{ fits: (value: unknown) => boolean; must: string }>>

/** The documents outside of a schema that Ajv has; no others are fetched. */
const META_SCHEMAS = new Set(['http://json-schema.org/draft-07/schema', 'https://json-schema.org/draft/2020-12/schema'])

/** Names that references of a schema can use besides JSON Pointers. */
type SchemaTargets = Readonly<{ ids: ReadonlySet<string>; anchors: ReadonlySet<string> }>

/** Every `$id`, `$anchor` and `$dynamicAnchor` in the document. */
function collectTargets(root: JsonObject): SchemaTargets {
  const ids = new Set<string>()
  const anchors = new Set<string>()
  const pending: Json[] = [root]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (!isObject(value) && !Array.isArray(value)) continue
    for (const inner of Object.values(value)) pending.push(inner)
    if (!isObject(value)) continue
    if (typeof value.$id === 'string') (value.$id.startsWith('#') ? anchors : ids).add(value.$id.replace(/^#/, ''))
    for (const name of [value.$anchor, value.$dynamicAnchor]) if (typeof name === 'string') anchors.add(name)
  }
  return { ids, anchors }
}

/** One sentence for a reference without a target or to another document; undefined for a sound one. */
function wrongReference(reference: string, root: JsonObject, targets: SchemaTargets): string | undefined {
  const [base = '', fragment = ''] = reference.split('#', 2)
  if (base !== '') {
    if (META_SCHEMAS.has(base)) return undefined
    for (const id of targets.ids) if (id === base || id.endsWith(`/${base}`)) return undefined
    return `refers to another document, ${JSON.stringify(reference)}, which is never fetched; copy what it defines into "definitions" and refer to "#/definitions/<name>".`
  }
  if (fragment === '' || targets.anchors.has(fragment)) return undefined
  // A pointer starts at the nearest `$id` above it, which only Ajv knows.
  if (fragment.startsWith('/') && (targets.ids.size > 0 || resolveLocal(root, reference) !== undefined))
    return undefined
  return `refers to ${JSON.stringify(reference)}, which this schema does not have.`
}

/** The target of a reference such as `#`, `#/definitions/a%20b` or `#/$defs/a~1b` (RFC 6901 section 6). */
export function resolveLocal(root: JsonObject, reference: string): Json | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let at: Json | undefined = root
  // A pointer may have as many names as a document has characters: none is read behind one that leads nowhere.
  let from = 2
  while (from <= reference.length && at !== undefined) {
    const slash = reference.indexOf('/', from)
    const end = slash === -1 ? reference.length : slash
    const name = pointerName(reference.slice(from, end))
    if (isObject(at)) at = Object.hasOwn(at, name) ? at[name] : undefined
    else at = Array.isArray(at) && /^\d+$/.test(name) ? at[Number(name)] : undefined
    from = end + 1
  }
  return at
}

/** The names in a JSON Pointer in the form of a URI fragment (RFC 6901 section 6). */
export const pointerNames = (fragment: string): string[] => fragment.split('/').slice(1).map(pointerName)

const pointerName = (segment: string): string => decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~')

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The schemas that apply to the same data as this one. */
function inPlace(schema: JsonObject, root: JsonObject): JsonObject[] {
  const parts: (Json | undefined)[] = [schema.not, schema.if, schema.then, schema.else]
  for (const list of [schema.allOf, schema.anyOf, schema.oneOf]) if (Array.isArray(list)) parts.push(...list)
  for (const map of [schema.dependencies, schema.dependentSchemas]) if (isObject(map)) parts.push(...Object.values(map))
  if (typeof schema.$ref === 'string') parts.push(resolveLocal(root, schema.$ref))
  return parts.filter(isObject)
}

/** The references in loops that never end, one for each loop. */
export function endless<Reference extends Readonly<{ schema: JsonObject }>>(
  references: readonly Reference[],
  root: JsonObject,
): readonly Reference[] {
  const done = new Set<JsonObject>()
  return references.filter(({ schema: start }) => {
    const open = new Set<JsonObject>()
    const pending = [{ schema: start, leave: false }]
    let found = false
    for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
      if (step.leave) {
        open.delete(step.schema)
        done.add(step.schema)
      } else if (open.has(step.schema)) found = true
      else if (!done.has(step.schema)) {
        open.add(step.schema)
        pending.push({ schema: step.schema, leave: true })
        for (const part of inPlace(step.schema, root)) pending.push({ schema: part, leave: false })
      }
    }
    return found
  })
}
