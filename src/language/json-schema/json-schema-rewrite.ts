/**
 * Reports every fault of a document's schema, and rewrites it for Ajv: other names replaced, null accepted, unknown keywords
 * left out. Only schemas are rewritten, so that a property called "min" or a default that has one stays unchanged.
 */
import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { nearest } from '../../core/nearest.ts'
import { identityOf } from '../jsonata/expression-order.ts'
import { compilePattern } from '../re2-pattern.ts'
import { EMPTY_NAME } from './json-schema-empty-name.ts'
import { type Draft, KEYWORD_NAMES, KINDS, keyword, OTHER_NAMES, type SchemaKind } from './json-schema-keywords.ts'
import { type SchemaTargets, wrongReference } from './json-schema-refs.ts'

export type Reading = {
  readonly draft: Draft
  readonly root: JsonObject
  readonly targets: SchemaTargets
  readonly formats: readonly string[]
  /** Schemas with a reference, and the sinks for their faults. */
  readonly references: { schema: JsonObject; lint: LintSink }[]
  /** Schemas read so far. */
  count: number
  /** Whether keywords for people only, such as `title`, stay: Ajv does not need them. */
  readonly keepsNotes?: true
}

const DEEPEST = 100

/** Ajv compiles such a list in quadratic time. */
const LONGEST_LIST = 500

type Written = Record<string, Json>

/** `nulls`: whether this schema and those below accept null. */
export function rewriteSchema(schema: Json, reading: Reading, lint: LintSink, nulls: boolean, depth = 0): Json {
  reading.count++
  if (typeof schema === 'boolean') return schema
  if (!isObject(schema)) {
    lint.error(`must be ${KINDS.schema.must}, not ${typeName(schema)}.`)
    return true
  }
  if (depth > DEEPEST) {
    lint.error(`is nested deeper than ${DEEPEST} levels; define parts of it under "definitions".`)
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
    lint.error(`has more than ${LONGEST_LIST} schemas; say it with fewer.`)
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
      return rewriteFields(value, lint, (item, at) => (KINDS.names.fits(item) ? namesOf(item, at) : next(item, at)))
    case 'pattern':
      checkPattern(String(value), lint)
      return value
    case 'reference': {
      const wrong = wrongReference(String(value), reading.root, reading.targets)
      if (wrong !== undefined) lint.error(`"${name}" ${wrong}`)
      return value
    }
    case 'format':
      if (reading.formats.includes(String(value))) return value
      lintUnknown('format', String(value), reading.formats, lint, '; use "pattern" instead.')
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

function namesOf(names: Json, lint: LintSink): Json {
  if (Array.isArray(names) && names.includes('')) {
    lint.error('a field with an empty name cannot be required here; require it by "if" and "then".')
  }
  return names
}

function isTooLong(kind: SchemaKind, value: Json): boolean {
  if (kind === 'schemas by pattern') return isObject(value) && Object.keys(value).length > LONGEST_LIST
  return (kind === 'schemas' || kind === 'schema or schemas') && Array.isArray(value) && value.length > LONGEST_LIST
}

/** The keyword that a name stands for; undefined for a name that checks nothing, which is linted if it is unknown. */
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
    written.enum = values.filter((value) => identityOf(value) === identityOf(only))
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
