/** What `inputValidation` says of the requests that an endpoint accepts, for an OpenAPI document. */
import { takesBody } from '../../core/http.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import { type DocumentReference, listReferences } from '../../document/reads/document-reads.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { pointer, publishSchema } from '../../language/json-schema/publish-schema.ts'
import { resolveLocal } from '../../language/json-schema/read-schema.ts'
import { parsePath } from '../../language/paths/path.ts'
import { isWildcard, splitPattern, variableName } from '../../language/route-pattern.ts'
import type { PipelineSettings } from '../../pipeline/services.ts'
import { namesParts } from '../../pipeline/stages/validate.ts'

export type PublishSettings = Pick<PipelineSettings, 'validationAcceptNullValues' | 'validationCoerceTypes'>

/** A schema with the JSON Pointer of its place in the OpenAPI document. */
export type LocatedSchema = Readonly<{ schema: Json; location: string }>

export type RequestSchemas = Readonly<{
  /** For `components.schemas`. */
  components: JsonObject
  /** Of `requestBody`; undefined if nothing is known of it. */
  body: LocatedSchema | undefined
  /** A request without a body, which is read as `{}`, is surely refused. */
  needsBody: boolean
  /** The members of `query` and `lookupRequests` that the schema describes. */
  query: Members
  lookupRequests: Members
  needsQuery: boolean
  /** Why `inputValidation` could not be published, or what the schema of the body leaves out. */
  note: string | undefined
  /** The schema that a placed schema refers to, or itself. */
  follow(located: LocatedSchema): LocatedSchema
}>

const SOURCE = { 'x-crosswalk-source': 'inputValidation' }
const BETWEEN_PARTS = (name: string) =>
  `The service also checks rules between the parts of a message, which the schema ${name} holds.`
const COERCED =
  'The schema describes values after the service has converted them to its types (`VALIDATION_COERCE_TYPES`).'

/** In: a checked document; `name`: of its components. */
export function describeRequest(endpoint: Endpoint, settings: PublishSettings, name: string): RequestSchemas {
  const { inputValidation: schema } = endpoint
  if (schema === undefined) return nothingKnown(undefined)
  const inParts = namesParts(schema, schema)
  const component = `${name}.${inParts ? 'message' : 'body'}`
  const location = pointer('/components/schemas', component)
  const published = publishSchema(schema, settings.validationAcceptNullValues, location)
  if (!published.ok) return nothingKnown(`inputValidation is not published. ${published.message}`)
  const root = isObject(published.value) ? published.value : {}
  const follow = createFollow({ schema: root, location })
  const components = { [component]: { ...root, ...SOURCE } }
  const note = settings.validationCoerceTypes ? COERCED : undefined
  if (!inParts) {
    const body = { schema: root, location }
    return { ...nothingKnown(note), components, body, needsBody: refusesEmpty(body, follow), follow }
  }
  const { method } = endpoint.endpoint
  const given = [
    ...(takesBody(method) ? ['requestBody'] : []),
    'query',
    ...(endpoint.requests.lookup.length > 0 ? ['lookupRequests'] : []),
  ]
  const parts = mergeMembers([{ schema: root, location }], follow)
  const isNever = parts.isNever || [...parts.required].some((part) => !given.includes(part))
  const isWhole = parts.isWhole || (parts.isClosed && given.every((part) => parts.members.has(part)))
  const bodySchema = isNever ? NEVER : joined(parts.members.get('requestBody') ?? [])
  const bodyLocation = pointer('/components/schemas', `${name}.body`)
  const body = { schema: bodySchema, location: bodyLocation }
  return {
    components: { ...components, [`${name}.body`]: { ...bodySchema, ...SOURCE } },
    body,
    needsBody: refusesEmpty(body, follow),
    query: mergeMembers(parts.members.get('query') ?? [], follow),
    lookupRequests: mergeMembers(parts.members.get('lookupRequests') ?? [], follow),
    needsQuery: parts.required.has('query'),
    note:
      [note, isWhole ? undefined : BETWEEN_PARTS(component)].filter((one) => one !== undefined).join(' ') || undefined,
    follow,
  }
}

const nothingKnown = (note: string | undefined): RequestSchemas => ({
  components: {},
  body: undefined,
  needsBody: false,
  query: NO_MEMBERS,
  lookupRequests: NO_MEMBERS,
  needsQuery: false,
  note,
  follow: (located) => located,
})

/** A schema that refuses every value, in the form that all tools read. */
const NEVER = { not: {} }

/** One schema for several that apply to one value. */
export function joined(all: readonly LocatedSchema[]): JsonObject {
  const references = all.map(({ location }) => ({ $ref: `#${location}` }))
  const [only = {}] = references
  return references.length < 2 ? only : { allOf: references }
}

/** What schemas say of the members of an object. */
type Members = Readonly<{
  members: ReadonlyMap<string, readonly LocatedSchema[]>
  required: ReadonlySet<string>
  /** The schemas say nothing else of an object. */
  isWhole: boolean
  /** The same, but that they say something of members that they do not name. */
  isClosed: boolean
  /** No object passes them. */
  isNever: boolean
}>

const NO_MEMBERS: Members = { members: new Map(), required: new Set(), isWhole: true, isClosed: true, isNever: false }

/** Keywords that say nothing of an object here. */
const SILENT = new Set(
  '$defs title description default examples readOnly writeOnly deprecated contentMediaType contentEncoding'.split(' '),
)

/** In: schemas that all apply to one object. */
function mergeMembers(all: readonly LocatedSchema[], follow: RequestSchemas['follow']): Members {
  const members = new Map<string, LocatedSchema[]>()
  const required = new Set<string>()
  let [isWhole, isClosed, isNever] = [true, true, false]
  const seen = new Set<Json>()
  const read = (one: LocatedSchema): void => {
    const { schema, location } = one
    if (schema === false) isNever = true
    if (!isObject(schema) || seen.has(schema)) return
    seen.add(schema)
    for (const [name, value] of Object.entries(schema)) {
      if (name === '$ref') read(follow({ schema: { $ref: value }, location }))
      else if (name === 'allOf') {
        ;(value as readonly Json[]).forEach((inner, index) => {
          read({ schema: inner, location: pointer(location, name, index) })
        })
      } else if (name === 'properties') {
        for (const [member, inner] of Object.entries(value as JsonObject)) {
          members.set(member, [
            ...(members.get(member) ?? []),
            { schema: inner, location: pointer(location, name, member) },
          ])
        }
      } else if (name === 'required') for (const member of value as readonly string[]) required.add(member)
      else if (name === 'type') isNever ||= ![value].flat().includes('object')
      else if (name === 'additionalProperties' || name === 'unevaluatedProperties') isWhole &&= value === true
      else if (!SILENT.has(name)) isWhole = isClosed = false
    }
  }
  all.forEach(read)
  return { members, required, isWhole, isClosed, isNever }
}

/** Follows the references of a component; those that it publishes lead to itself. */
function createFollow(root: Readonly<{ schema: JsonObject; location: string }>): RequestSchemas['follow'] {
  const follow = (located: LocatedSchema, seen: ReadonlySet<Json> = new Set()): LocatedSchema => {
    const { schema } = located
    if (!isObject(schema) || typeof schema.$ref !== 'string' || Object.keys(schema).length > 1 || seen.has(schema)) {
      return located
    }
    const location = schema.$ref.slice(1)
    const target = resolveLocal(root.schema, `#${location.slice(root.location.length)}`)
    return target === undefined ? located : follow({ schema: target, location }, new Set([...seen, schema]))
  }
  return follow
}

/** True if the schema surely refuses `{}`. */
function refusesEmpty(located: LocatedSchema, follow: RequestSchemas['follow']): boolean {
  const { schema } = follow(located)
  if (!isObject(schema)) return schema === false
  const { not, allOf } = schema
  const { required, isNever } = mergeMembers([{ ...located, schema }], follow)
  const inner = Array.isArray(allOf) ? allOf : []
  return (
    required.size > 0 ||
    isNever ||
    Number(schema.minProperties ?? 0) > 0 ||
    (isObject(not) && Object.keys(not).length === 0) ||
    inner.some((one: Json) => isObject(one) && Number(one.minProperties ?? 0) > 0)
  )
}

// The parameters that an endpoint reads from its requests.

type Read = Readonly<{ root: string; name: string; source: string; isNeeded: boolean }>

/** A query may repeat a name, which then has the list of its values. */
const QUERY_VALUE = { type: ['string', 'array'], items: { type: 'string' } }

/** OpenAPI describes these in places of their own (section 4.8.12.1). */
const NO_PARAMETERS = new Set(['accept', 'content-type', 'authorization'])

/** The segments of a pattern that are parameters; they are beside the methods of a path. */
export function pathParameters(pattern: string): readonly JsonObject[] {
  return splitPattern(pattern).flatMap((segment) => {
    const name = variableName(segment)
    return name === undefined ? [] : [pathParameter(name, isWildcard(segment))]
  })
}

// OpenAPI has no wildcards (section 4.8.8.2); a client that encodes the slashes of the value reaches the endpoint too.
const pathParameter = (name: string, isRest: boolean): JsonObject => ({
  name,
  in: 'path',
  required: true,
  ...(isRest ? { description: 'The rest of the path, with all its segments.' } : {}),
  schema: { type: 'string', minLength: 1, 'x-crosswalk-source': 'endpoint.pattern' },
})

/**
 * Query parameters and headers that the mapping, the requests, the state or `inputValidation` name. Expressions may read
 * more: what they read depends on the message. `credentials`: headers that `auth` describes, in lower case.
 */
export function readParameters(
  endpoint: Endpoint,
  request: RequestSchemas,
  credentials: ReadonlySet<string>,
): readonly JsonObject[] {
  const reads = collectReads(endpoint)
  const query = new Map<string, JsonObject>()
  for (const [name, places] of request.query.members) {
    const schema = { ...joined(places), 'x-crosswalk-source': 'inputValidation' }
    const isRequired = request.needsQuery && request.query.required.has(name)
    query.set(name, parameter('query', name, schema, isRequired))
  }
  const headers = new Map<string, JsonObject>()
  for (const { root, name, source, isNeeded } of reads) {
    const known = root === 'query' ? query : headers
    const before = known.get(name)
    if (root === 'requestHeaders' && (NO_PARAMETERS.has(name) || credentials.has(name))) continue
    if (before !== undefined) {
      if (isNeeded) known.set(name, { ...before, required: true })
      continue
    }
    const schema = { ...(root === 'query' ? QUERY_VALUE : { type: 'string' }), 'x-crosswalk-source': source }
    known.set(name, parameter(root === 'query' ? 'query' : 'header', name, schema, isNeeded))
  }
  if (endpoint.idempotency !== undefined) {
    const schema = { type: 'string', 'x-crosswalk-source': 'idempotency' }
    const description =
      'A message with this key is processed once; its response is replayed to later ones with the same key.'
    headers.set('idempotency-key', {
      ...parameter('header', 'Idempotency-Key', schema, endpoint.idempotency.required === true),
      description,
    })
  }
  return [...query.values(), ...headers.values()]
}

const parameter = (location: string, name: string, schema: Json, isRequired: boolean): JsonObject => ({
  name,
  in: location,
  ...(isRequired ? { required: true } : {}),
  schema,
})

function collectReads(endpoint: Endpoint): readonly Read[] {
  return listReferences(endpoint).flatMap(({ kind, text, at }) => {
    const parsed = kind === 'expression' ? undefined : parsePath(text)
    if (parsed?.ok !== true) return []
    const { root, steps } = parsed.value
    const [first] = steps
    if ((root !== 'query' && root !== 'requestHeaders') || first?.kind !== 'name') return []
    const name = root === 'query' ? first.name : first.name.toLowerCase()
    return [{ root, name, source: documentPath(...at), isNeeded: isNeeded(at, endpoint) }]
  })
}

/** Without a value for the URL, the message is refused before anything is sent. */
function isNeeded([section, list, index, ...within]: DocumentReference['at'], { requests }: Endpoint): boolean {
  if (section !== 'requests' || within[2] !== 'url') return false
  return requests[list as 'lookup' | 'response'][Number(index)]?.forEach === undefined
}
