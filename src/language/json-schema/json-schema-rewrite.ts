/**
 * Reads a schema of a document: reports every fault in it, and gives the schema that the validator compiles, with other
 * names replaced, null let through and unknown keywords left out. Keywords are looked for where schemas are, so that a
 * property called "min" or a default that holds one stays what it is.
 */
import { define, isObject, type Json, type JsonObject, typeName } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { nearest } from '../../domain/nearest.ts'
import { compilePattern } from '../re2-pattern.ts'
import { type Draft, KEYWORD_NAMES, KINDS, keyword, OTHER_NAMES, type SchemaKind } from './json-schema-keywords.ts'
import { type SchemaTargets, wrongReference } from './json-schema-refs.ts'

export type Reading = {
  readonly draft: Draft
  readonly root: JsonObject
  readonly targets: SchemaTargets
  readonly formats: readonly string[]
  /** Schemas that hold a reference, with where to report them. */
  readonly references: { schema: JsonObject; lint: LintSink }[]
  /** Schemas read so far. */
  count: number
}

const DEEPEST = 100

/** Compiling takes a time by the square of such a list. */
const LONGEST_LIST = 500

type Written = Record<string, Json>

/** `nulls`: let null pass here and below. */
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
    const next = (inner: Json, at: LintSink, innerNulls: boolean) =>
      rewriteSchema(inner, reading, at, innerNulls, depth + 1)
    const rewritten = rewriteValue(meant, kind, value, lint.at(name), reading, nulls, next)
    if (rewritten !== undefined) define(written, meant, rewritten)
  }
  return finish(schema, written, reading, lint, nulls)
}

type Next = (inner: Json, at: LintSink, nulls: boolean) => Json

/** In these a schema is a question, not a demand: letting null through would turn the answer round. */
const QUESTIONS = new Set(['not', 'if', 'contains', 'propertyNames'])

function rewriteValue(
  name: string,
  kind: SchemaKind,
  value: Json,
  lint: LintSink,
  reading: Reading,
  nulls: boolean,
  next: Next,
) {
  const inner = nulls && !QUESTIONS.has(name)
  const each = (map: JsonObject, read: (value: Json, at: LintSink) => Json): Json => {
    const all: Written = {}
    for (const [key, item] of Object.entries(map)) {
      // The validator would skip it without a word.
      if (key === '__proto__') lint.at(key).error('"__proto__" cannot be the name of a field.')
      else define(all, key, read(item, lint.at(key)))
    }
    return all
  }
  if (isTooLong(kind, value)) {
    lint.error(`has more than ${LONGEST_LIST} schemas; say it with fewer.`)
    return undefined
  }
  if (Array.isArray(value) && (kind === 'schemas' || kind === 'schema or schemas')) {
    return value.map((item, index) => {
      const schema = next(item, lint.at(index), inner)
      return name === 'oneOf' && inner && index > 0 ? withoutNull(schema) : schema
    })
  }
  if (kind === 'schema' || kind === 'schema or schemas') return next(value, lint, inner)
  if (kind === 'schemas by pattern' && isObject(value)) {
    for (const pattern of Object.keys(value)) checkPattern(pattern, lint.at(pattern))
  }
  if ((kind === 'schemas by name' || kind === 'schemas by pattern') && isObject(value)) {
    return each(value, (item, at) => next(item, at, inner))
  }
  if (kind === 'schemas or names by name' && isObject(value)) {
    return each(value, (item, at) => (KINDS.names.fits(item) ? item : next(item, at, inner)))
  }
  if (kind === 'pattern' && typeof value === 'string') checkPattern(value, lint)
  if (kind === 'reference' && typeof value === 'string') {
    const wrong = wrongReference(value, reading.root, reading.targets)
    if (wrong !== undefined) lint.error(`"${name}" ${wrong}`)
  }
  if (kind === 'format' && typeof value === 'string' && !reading.formats.includes(value))
    return unknownFormat(value, reading, lint)
  return value
}

function isTooLong(kind: SchemaKind, value: Json): boolean {
  if (kind === 'schemas by pattern') return isObject(value) && Object.keys(value).length > LONGEST_LIST
  return (kind === 'schemas' || kind === 'schema or schemas') && Array.isArray(value) && value.length > LONGEST_LIST
}

/** The keyword that a name stands for; undefined, with a lint where it looks like a slip, for what checks nothing. */
function knownKeyword(name: string, schema: JsonObject, { draft }: Reading, lint: LintSink): string | undefined {
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
  if (known !== undefined) return known.note ? undefined : name
  if (name.startsWith('x-')) return undefined
  const near = nearest(name, KEYWORD_NAMES)
  if (near !== undefined) lint.at(name).error(`unknown keyword "${name}"; did you mean "${near}"?`)
  else lint.at(name).warning(`unknown keyword "${name}" checks nothing.`)
  return undefined
}

function unknownFormat(format: string, { formats }: Reading, lint: LintSink): undefined {
  const near = nearest(format, formats)
  if (near !== undefined) lint.error(`unknown format "${format}"; did you mean "${near}"?`)
  else lint.warning(`unknown format "${format}" checks nothing; use "pattern" instead.`)
  return undefined
}

function checkPattern(source: string, lint: LintSink): void {
  const pattern = compilePattern(source)
  if (!pattern.ok) lint.error(pattern.message)
}

function finish(schema: JsonObject, written: Written, reading: Reading, lint: LintSink, nulls: boolean): Json {
  if (isObject(written.errorMessage)) written.errorMessage = renamedMessages(written.errorMessage)
  if (nulls || written.nullable === true) letNullPass(written)
  if (written.nullable === true && !('type' in written || 'enum' in written)) {
    lint.at('nullable').warning('"nullable" works beside "type", "enum" or "const"; here it changes nothing.')
  }
  delete written.nullable
  if ('$ref' in written || '$dynamicRef' in written) reading.references.push({ schema, lint })
  return written
}

/** `errorMessage` has the names of keywords for names. */
function renamedMessages(messages: JsonObject): Json {
  return Object.fromEntries(Object.entries(messages).map(([name, text]) => [OTHER_NAMES[name] ?? name, text]))
}

function letNullPass(written: Written): void {
  if (Object.hasOwn(written, 'const')) {
    written.enum = [written.const ?? null]
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

/** Of the alternatives of a `oneOf`, the first alone takes null: several would, and null pass none. */
function withoutNull(schema: Json): Json {
  const not: Json = { not: { type: 'null' } }
  if (!isObject(schema)) return schema === true ? not : schema
  return { ...schema, allOf: [...(Array.isArray(schema.allOf) ? schema.allOf : []), not] }
}

function said(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
