/** What `inputValidation` says of the requests that an endpoint accepts, for an OpenAPI document. */

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { pointer, publishSchema } from '../../language/json-schema/publish-schema.ts'
import { resolveLocal } from '../../language/json-schema/read-schema.ts'
import type { PipelineSettings } from '../../pipeline/services.ts'
import { namesParts } from '../../pipeline/stages/validate.ts'

export type PublishSettings = Pick<PipelineSettings, 'validationAcceptNullValues' | 'validationCoerceTypes'>

/** A schema with the JSON Pointer of its place in the OpenAPI document. */
export type PlacedSchema = Readonly<{ schema: Json; place: string }>

export type RequestSchemas = Readonly<{
  /** For `components.schemas`. */
  components: JsonObject
  /** Of `requestBody`; undefined if nothing is known of it. */
  body: PlacedSchema | undefined
  /** Whether a request without a body, which is read as `{}`, is surely refused. */
  needsBody: boolean
  /** The members of `query` and `lookupRequests` that the schema describes. */
  query: Members
  lookupRequests: Members
  /** Whether the schema requires `query`. */
  needsQuery: boolean
  /** Why `inputValidation` could not be published, or what the schema of the body leaves out. */
  note: string | undefined
  /** The schema that a placed schema refers to, or itself. */
  follow(placed: PlacedSchema): PlacedSchema
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
  const place = pointer('/components/schemas', component)
  const published = publishSchema(schema, settings.validationAcceptNullValues, place)
  if (!published.ok) return nothingKnown(`inputValidation is not published. ${published.message}`)
  const root = isObject(published.value) ? published.value : {}
  const follow = createFollow({ schema: root, place })
  const components = { [component]: { ...root, ...SOURCE } }
  const note = settings.validationCoerceTypes ? COERCED : undefined
  if (!inParts) {
    const body = { schema: root, place }
    return { ...nothingKnown(note), components, body, needsBody: refusesEmpty(body, follow), follow }
  }
  const { method } = endpoint.endpoint
  const given = [
    ...(method === 'POST' || method === 'PUT' ? ['requestBody'] : []),
    'query',
    ...(endpoint.requests.lookup.length > 0 ? ['lookupRequests'] : []),
  ]
  const parts = membersOf([{ schema: root, place }], follow)
  const isNever = parts.isNever || [...parts.required].some((part) => !given.includes(part))
  const isWhole = parts.isWhole || (parts.isClosed && given.every((part) => parts.members.has(part)))
  const bodySchema = isNever ? NEVER : joined(parts.members.get('requestBody') ?? [])
  const bodyPlace = pointer('/components/schemas', `${name}.body`)
  const body = { schema: bodySchema, place: bodyPlace }
  return {
    components: { ...components, [`${name}.body`]: { ...bodySchema, ...SOURCE } },
    body,
    needsBody: refusesEmpty(body, follow),
    query: membersOf(parts.members.get('query') ?? [], follow),
    lookupRequests: membersOf(parts.members.get('lookupRequests') ?? [], follow),
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
  follow: (placed) => placed,
})

/** A schema that refuses every value, in the form that all tools read. */
const NEVER = { not: {} }

/** One schema for several that apply to one value. */
export function joined(all: readonly PlacedSchema[]): JsonObject {
  const references = all.map(({ place }) => ({ $ref: `#${place}` }))
  const [only = {}] = references
  return references.length < 2 ? only : { allOf: references }
}

/** What schemas say of the members of an object. */
export type Members = Readonly<{
  members: ReadonlyMap<string, readonly PlacedSchema[]>
  required: ReadonlySet<string>
  /** Whether the schemas say nothing else of an object. */
  isWhole: boolean
  /** The same, but that they say something of members that they do not name. */
  isClosed: boolean
  /** Whether no object passes them. */
  isNever: boolean
}>

const NO_MEMBERS: Members = { members: new Map(), required: new Set(), isWhole: true, isClosed: true, isNever: false }

/** Keywords that say nothing of an object here. */
const SILENT = new Set(
  '$defs title description default examples readOnly writeOnly deprecated contentMediaType contentEncoding'.split(' '),
)

/** In: schemas that all apply to one object. */
function membersOf(all: readonly PlacedSchema[], follow: RequestSchemas['follow']): Members {
  const members = new Map<string, PlacedSchema[]>()
  const required = new Set<string>()
  let [isWhole, isClosed, isNever] = [true, true, false]
  const seen = new Set<Json>()
  const read = (one: PlacedSchema): void => {
    const { schema, place } = one
    if (schema === false) isNever = true
    if (!isObject(schema) || seen.has(schema)) return
    seen.add(schema)
    for (const [name, value] of Object.entries(schema)) {
      if (name === '$ref') read(follow({ schema: { $ref: value }, place }))
      else if (name === 'allOf') {
        ;(value as readonly Json[]).forEach((inner, index) => {
          read({ schema: inner, place: pointer(place, name, index) })
        })
      } else if (name === 'properties') {
        for (const [member, inner] of Object.entries(value as JsonObject)) {
          members.set(member, [...(members.get(member) ?? []), { schema: inner, place: pointer(place, name, member) }])
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
function createFollow(root: Readonly<{ schema: JsonObject; place: string }>): RequestSchemas['follow'] {
  const follow = (placed: PlacedSchema, seen: ReadonlySet<Json> = new Set()): PlacedSchema => {
    const { schema } = placed
    if (!isObject(schema) || typeof schema.$ref !== 'string' || Object.keys(schema).length > 1 || seen.has(schema)) {
      return placed
    }
    const place = schema.$ref.slice(1)
    const target = resolveLocal(root.schema, `#${place.slice(root.place.length)}`)
    return target === undefined ? placed : follow({ schema: target, place }, new Set([...seen, schema]))
  }
  return follow
}

/** Whether the schema surely refuses `{}`. */
function refusesEmpty(placed: PlacedSchema, follow: RequestSchemas['follow']): boolean {
  const { schema } = follow(placed)
  if (!isObject(schema)) return schema === false
  const { not, allOf } = schema
  const { required, isNever } = membersOf([{ ...placed, schema }], follow)
  const inner = Array.isArray(allOf) ? allOf : []
  return (
    required.size > 0 ||
    isNever ||
    Number(schema.minProperties ?? 0) > 0 ||
    (isObject(not) && Object.keys(not).length === 0) ||
    inner.some((one: Json) => isObject(one) && Number(one.minProperties ?? 0) > 0)
  )
}
