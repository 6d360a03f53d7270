/**
 * Schemas of documents as OpenAPI 3.1 takes them: in JSON Schema 2020-12, and what only this service understands in
 * standard keywords. Source: https://json-schema.org/draft/2020-12/release-notes, https://spec.openapis.org/oas/v3.1.0.
 */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { collectInto, fault, found, isError, type Lint, type Result } from '../../core/lint.ts'
import { detectDraft, keyword, readSchema, resolveLocal } from './read-schema.ts'

/** A schema in the making. */
type Published = Record<string, Json>
type Reference = Readonly<{ from: Published; text: string; base: string }>

type Walk = Readonly<{
  /** JSON Pointers in the published document, by the schemas there. */
  places: Map<Json, string>
  /** Schemas by their absolute `$id`, and by that with `#` and an anchor. */
  named: Map<string, JsonObject>
  references: Reference[]
}>

/** Relative identifiers are resolved against it; nothing is fetched. */
const BASE = 'http://schema.invalid/'

/**
 * In: the schema of a document; whether null passes it everywhere, as `SchemaOptions` say; the JSON Pointer of its place in
 * the published document. Out: a schema that accepts the same values there, except that `\s` and `.` of its patterns know
 * Unicode. Fails with a sentence if the schema has faults, so that it checks nothing, or refers to what cannot be
 * published.
 */
export function publishSchema(schema: JsonObject, acceptNull: boolean, location: string): Result<Json> {
  const lints: Lint[] = []
  const sink = collectInto(lints)
  const { written } = readSchema(schema, detectDraft(schema, sink), acceptNull, sink, { keepsNotes: true })
  if (!isObject(written) || lints.some(isError)) return fault('The schema has faults.')
  const walk: Walk = { places: new Map(), named: new Map([[BASE, written]]), references: [] }
  const published = publish(written, location, BASE, walk)
  // Between several resources, its target depends on the way that led to it.
  if (hasDynamicReference(schema) && [...walk.named.keys()].filter((name) => !name.includes('#')).length > 1) {
    return fault('The schema has "$dynamicRef" and several "$id".')
  }
  for (const { from, text, base } of walk.references) {
    const target = findTarget(text, base, walk)
    const at = target === undefined ? undefined : walk.places.get(target)
    if (at !== undefined) from.$ref = `#${at}`
    else if (target === false) alsoDemand(from, false)
    else if (target !== true) return fault(`The schema refers to ${JSON.stringify(text)}.`)
  }
  return found(published)
}

const hasDynamicReference = (schema: JsonObject): boolean => JSON.stringify(schema).includes('"$dynamicRef"')

const isText = (value: Json): boolean => typeof value === 'string'
const isFlag = (value: Json): boolean => typeof value === 'boolean'

/** The notes that OpenAPI takes, and the values of each; others are left out. */
const NOTES: Readonly<Record<string, (value: Json) => boolean>> = {
  title: isText,
  description: isText,
  contentMediaType: isText,
  contentEncoding: isText,
  default: () => true,
  examples: Array.isArray,
  readOnly: isFlag,
  writeOnly: isFlag,
  deprecated: isFlag,
}

function publish(schema: Json, location: string, outerBase: string, walk: Walk): Json {
  if (!isObject(schema)) return schema
  walk.places.set(schema, location)
  const base = nameSchema(schema, outerBase, walk)
  const inner = (value: Json, ...names: readonly (string | number)[]): Json =>
    publish(value, pointer(location, ...names), base, walk)
  const published: Published = {}
  for (const [name, value] of Object.entries(schema)) {
    if (keyword(name)?.note) {
      if (NOTES[name]?.(value)) published[name] = value
    } else
      addKeyword(name, value, schema, published, inner, (text) => {
        walk.references.push({ from: published, text, base })
      })
  }
  const { example } = schema
  if (example !== undefined && published.examples === undefined) published.examples = [example]
  return published
}

type Inner = (value: Json, ...names: readonly (string | number)[]) => Json

function addKeyword(
  name: string,
  value: Json,
  schema: JsonObject,
  published: Published,
  inner: Inner,
  refer: (text: string) => void,
): void {
  switch (name) {
    case '$ref':
    case '$dynamicRef':
      refer(String(value))
      return
    // References lead to pointers, and messages are for those who send to the service.
    case '$id':
    case '$anchor':
    case '$dynamicAnchor':
    case 'errorMessage':
      return
    case '$defs':
    case 'definitions':
      addDefinitions(name, value, published, inner)
      return
    case 'items':
      if (Array.isArray(value)) published.prefixItems = listed('prefixItems', value, inner)
      else published.items = inner(value, 'items')
      return
    case 'additionalItems':
      // It has a meaning beside a list only.
      if (Array.isArray(schema.items)) published.items = inner(value, 'items')
      return
    case 'dependencies':
      addDependencies(value, schema, published, inner)
      return
    case 'type':
      published.type = Array.isArray(value) ? distinct(value) : value
      return
    case 'required':
      published.required = distinct(value)
      return
    case 'dependentRequired':
      published.dependentRequired = mapMembers(value, distinct)
      return
    case 'allOf':
      published.allOf = [...listed('allOf', value, inner), ...conditions(published)]
      return
    default:
      published[name] = publishValue(name, value, inner)
  }
}

function publishValue(name: string, value: Json, inner: Inner): Json {
  switch (keyword(name)?.kind) {
    case 'schema':
      return inner(value, name)
    case 'schemas':
      return listed(name, value, inner)
    case 'schemas by name':
    case 'schemas by pattern':
      return mapMembers(value, (one, key) => inner(one, name, key))
    default:
      return value
  }
}

/** `$defs` has the definitions of both names; two of one name get two names. */
function addDefinitions(name: string, value: Json, published: Published, inner: Inner): void {
  const all: Published = { ...(isObject(published.$defs) ? published.$defs : {}) }
  for (const [key, one] of Object.entries(value as JsonObject)) {
    const free = Object.hasOwn(all, key) ? `${key} (${name})` : key
    all[free] = inner(one, '$defs', free)
  }
  published.$defs = all
}

/** Conditions of their own in `allOf`, as 2020-12 has two keywords for them, which the schema may have too. */
function addDependencies(value: Json, schema: JsonObject, published: Published, inner: Inner): void {
  // Behind the schemas that `allOf` has already: pointers count its elements.
  const first = Array.isArray(schema.allOf) ? schema.allOf.length : 0
  const entries = Object.entries(value as JsonObject)
  const names = entries.filter(([, one]) => Array.isArray(one))
  const schemas = entries.filter(([, one]) => !Array.isArray(one))
  if (names.length > 0) {
    alsoDemand(published, { dependentRequired: Object.fromEntries(names.map(([key, one]) => [key, distinct(one)])) })
  }
  const index = first + (names.length > 0 ? 1 : 0)
  if (schemas.length > 0) {
    const all = schemas.map(([key, one]) => [key, inner(one, 'allOf', index, 'dependentSchemas', key)] as const)
    alsoDemand(published, { dependentSchemas: Object.fromEntries(all) })
  }
}

const conditions = ({ allOf }: Published): readonly Json[] => (Array.isArray(allOf) ? allOf : [])

function alsoDemand(published: Published, condition: Json): void {
  published.allOf = [...conditions(published), condition]
}

const listed = (name: string, value: Json, inner: Inner): Json[] =>
  (value as readonly Json[]).map((one, index) => inner(one, name, index))

const mapMembers = (value: Json, change: (one: Json, name: string) => Json): Json =>
  Object.fromEntries(Object.entries(value as JsonObject).map(([name, one]) => [name, change(one, name)]))

/** The meta-schema takes no name twice. */
const distinct = (names: Json): Json => [...new Set(names as readonly Json[])]

/** The names appended to a JSON Pointer in the form of a URI fragment (RFC 6901 section 6). */
export const pointer = (base: string, ...names: readonly (string | number)[]): string =>
  base + names.map((name) => `/${encoded(String(name).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')

const encoded = (name: string): string =>
  PLAIN.test(name) ? name : encodeURI(name.toWellFormed()).replaceAll('#', '%23')

const PLAIN = /^[\w$.-]*$/

/** Registers the names of a schema. Out: the base of the identifiers in it. */
function nameSchema(schema: JsonObject, outerBase: string, { named }: Walk): string {
  const { $id, $anchor, $dynamicAnchor } = schema
  const isAnchor = typeof $id === 'string' && $id.startsWith('#')
  const base = typeof $id === 'string' && !isAnchor ? resolve($id, outerBase) : outerBase
  if (base !== outerBase) named.set(base, schema)
  for (const anchor of [isAnchor ? $id.slice(1) : undefined, $anchor, $dynamicAnchor]) {
    if (typeof anchor === 'string') named.set(`${base}#${anchor}`, schema)
  }
  return base
}

/** An identifier without its fragment. */
function resolve(identifier: string, base: string): string {
  const url = URL.parse(identifier, base)
  if (url === null) return identifier.replace(/#.*$/s, '')
  url.hash = ''
  return url.href
}

/** The schema that a reference names; undefined if this schema does not hold it. */
function findTarget(reference: string, base: string, { named }: Walk): Json | undefined {
  const [identifier = '', fragment = ''] = reference.split('#', 2)
  const resource = identifier === '' ? base : resolve(identifier, base)
  const root = named.get(resource)
  if (fragment === '') return root
  return fragment.startsWith('/') ? root && resolveLocal(root, `#${fragment}`) : named.get(`${resource}#${fragment}`)
}
