/** The answer of a message that succeeds, as a response of the operation. */
import { isBodiless, takesBody } from '../../core/http.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { collectInto, type LintSink } from '../../core/lint.ts'
import { isSecretName, referencesIn } from '../../core/secrets/secrets.ts'
import { looksLikeCredential } from '../../document/checks/plain-credentials.ts'
import {
  answerFormat,
  type Endpoint,
  isDurable,
  isPrimary,
  mapsAnswer,
  mayBeUnrouted,
  possibleSoles,
  type ResponseRequest,
} from '../../document/schema/schema.ts'
import { codecForFormat, MEDIA_TYPES, serviceFormat } from '../../formats/codecs.ts'
import { pointer } from '../../language/json-schema/publish-schema.ts'
import { convertEach } from '../../language/mapping/mapping-functions.ts'
import { readTargets } from '../../language/mapping/mapping-targets.ts'
import { messagePath } from '../../language/mapping/nested-entries.ts'
import { spreads, type TargetStep, writeSteps } from '../../language/mapping/target.ts'
import { type PathStep, parsePath, type SourcePath } from '../../language/paths/path.ts'
import { isElementName } from '../../language/paths/path-steps.ts'
import { targetOf } from '../../outbound/targets.ts'
import { joined, type LocatedSchema, type PublishSettings, type RequestSchemas } from './request-schema.ts'

const MESSAGE_ID = { 'X-Crosswalk-Message-Id': { $ref: '#/components/headers/MessageId' } }
const STATUS = { 'X-Crosswalk-Status': { $ref: '#/components/headers/Status' } }

/** Schemas of bodies that are passed on, or that a request replaces: nothing says what they are. */
const UNKNOWN: JsonObject = {}

/** By status. */
export function describeAnswer(endpoint: Endpoint, request: RequestSchemas, settings: PublishSettings): JsonObject {
  const answers = describeWithoutOwn(endpoint, request, settings)
  return endpoint.answer === undefined ? answers : describeOwn(endpoint, endpoint.answer, answers, request, settings)
}

/** What `answer` makes of the answers that the requests give; a refusal that is passed on stays. */
function describeOwn(
  endpoint: Endpoint,
  { status, headers = {}, mapping = {} }: NonNullable<Endpoint['answer']>,
  answers: Readonly<Record<string, JsonObject>>,
  request: RequestSchemas,
  settings: PublishSettings,
): JsonObject {
  const { default: refusal, ...successes } = answers
  const own = { description: 'Of the document.', schema: { type: 'string' } }
  const named = Object.fromEntries(Object.keys(headers).map((name) => [name, own]))
  const mapped = mapsAnswer(endpoint) ? describeMapped(endpoint, mapping, request, settings) : {}
  const answered = Object.entries(successes).map(([key, one]): [string, JsonObject] => [
    key,
    { ...one, headers: { ...(one.headers as JsonObject), ...named }, ...mapped },
  ])
  const [, first = {}] = answered[0] ?? []
  if (typeof status === 'object') return { '2XX': first, default: refusal ?? first }
  const { content: _none, ...bodiless } = first
  return {
    ...Object.fromEntries(status === undefined ? answered : [[status, isBodiless(Number(status)) ? bodiless : first]]),
    ...(refusal === undefined ? {} : { default: refusal }),
  }
}

function describeMapped(
  endpoint: Endpoint,
  mapping: JsonObject,
  request: RequestSchemas,
  settings: PublishSettings,
): JsonObject {
  const format = answerFormat(endpoint)
  const { schemaNotes } = codecForFormat(format)
  const sink = collectInto([], 'answer.mapping')
  const findSourceSchema = createSourceSchemas(endpoint, request, settings.validationCoerceTypes)
  return {
    description: `What the document makes of the message and its answers.${schemaNotes === undefined ? '' : ` ${schemaNotes.written}`}`,
    content: {
      [MEDIA_TYPES[format]]: { schema: withSource(describeOutput(mapping, findSourceSchema, [], sink), sink.path) },
    },
  }
}

function describeWithoutOwn(
  endpoint: Endpoint,
  request: RequestSchemas,
  settings: PublishSettings,
): Readonly<Record<string, JsonObject>> {
  const { response } = endpoint.requests
  const { output } = endpoint.transformation
  const content = (schema: JsonObject): JsonObject => ({ content: { [MEDIA_TYPES[output]]: { schema } } })
  const { schemaNotes } = codecForFormat(output)
  const note = schemaNotes === undefined ? '' : ` ${schemaNotes.written}`
  if (response.length === 0) {
    const schema = outputSchema(endpoint, request, settings)
    return { 200: { description: `The output.${note}`, headers: MESSAGE_ID, ...content(schema) } }
  }
  const mayBeStored = response.some(isDurable) && response.every((one) => isDurable(one) || one.when !== undefined)
  const stored = mayBeStored ? { 202: describeStored(output) } : {}
  if (response.every(isDurable)) {
    if (!mayBeUnrouted(endpoint) || endpoint.unrouted !== 'answer') return stored
    const schema = outputSchema(endpoint, request, settings)
    return { 200: { description: `The output.${note}`, headers: MESSAGE_ID, ...content(schema) }, ...stored }
  }
  const [alone] = possibleSoles(endpoint)
  const isAlwaysAlone = alone !== undefined && alone.when === undefined && isPrimary(alone)
  if (alone !== undefined && !isAlwaysAlone && response.some(({ when }) => when !== undefined)) {
    const several = response.length === 1 ? '' : '; of several, their answers by their ids'
    const output = mayBeUnrouted(endpoint) && endpoint.unrouted === 'answer' ? ' If none is made, the output.' : ''
    const description = `The answer of the response request that is made, with its status and headers${several}.${output}${note}`
    const whichever = { description, headers: { ...MESSAGE_ID, ...STATUS }, ...content(UNKNOWN) }
    return { '2XX': whichever, ...stored, default: whichever }
  }
  if (alone === undefined) {
    const headers = { ...MESSAGE_ID, ...STATUS }
    const description = `The answers of the response requests by their ids.${note}`
    return { 200: { description, headers, ...content(answersById(response)) }, ...stored }
  }
  const headers = response.length === 1 ? MESSAGE_ID : { ...MESSAGE_ID, ...STATUS }
  const from = `The answer of the response request "${alone.id}"`
  const { fixedAnswer } = targetOf(alone)
  if (fixedAnswer !== undefined) {
    const schema = alone.optional === true ? UNKNOWN : withSource(fixedAnswer.schema, 'requests.response')
    return { 200: { description: `${from}: ${fixedAnswer.description}.${note}`, headers, ...content(schema) } }
  }
  const passedOn = { description: `${from}, with its status and headers.`, headers, ...content(UNKNOWN) }
  return { '2XX': passedOn, default: passedOn }
}

/** As compileStoredAnswer writes it. */
function describeStored(output: Endpoint['transformation']['output']): JsonObject {
  const text = { type: 'string' }
  const delivery = { type: 'object', required: ['id', 'request'], properties: { id: text, request: text } }
  const schema = {
    type: 'object',
    required: ['messageId', 'deliveries'],
    properties: { messageId: text, deliveries: { type: 'array', items: delivery } },
  }
  const location = { description: 'Where the state of the deliveries is.', schema: text }
  return {
    description: 'The requests are stored, and sent until their targets have them.',
    headers: { ...MESSAGE_ID, Location: location },
    content: {
      [MEDIA_TYPES[serviceFormat(output)]]: { schema: withSource(schema, 'requests.response') },
    },
  }
}

const withSource = (schema: JsonObject, source: string): JsonObject => ({ ...schema, 'x-crosswalk-source': source })

/** A request that fails has the body of its failure there. */
function answersById(requests: readonly ResponseRequest[]): JsonObject {
  const one = ({ forEach }: ResponseRequest): JsonObject => (forEach === undefined ? UNKNOWN : { type: 'array' })
  const schema = {
    type: 'object',
    required: requests.filter(({ when }) => when === undefined).map(({ id }) => id),
    properties: Object.fromEntries(requests.map((request) => [request.id, one(request)])),
  }
  return withSource(schema, 'requests.response')
}

function outputSchema(endpoint: Endpoint, request: RequestSchemas, settings: PublishSettings): JsonObject {
  const { inputMapping, requests } = endpoint
  if (Object.keys(inputMapping).length > 0) {
    const findSourceSchema = createSourceSchemas(endpoint, request, settings.validationCoerceTypes)
    const sink = collectInto([], 'inputMapping')
    return withSource(describeOutput(inputMapping, findSourceSchema, [], sink), sink.path)
  }
  const body = bodySchema(endpoint, request, settings)
  if (requests.lookup.length === 0) return body
  const lookups = Object.fromEntries(
    requests.lookup.map(({ id, forEach }) => [id, { type: forEach === undefined ? 'object' : 'array' }]),
  )
  return withSource(
    {
      type: 'object',
      required: ['requestBody', 'lookupRequests'],
      properties: { requestBody: body, lookupRequests: { type: 'object', properties: lookups } },
    },
    'requests.lookup',
  )
}

/** Of a message that is passed on. */
function bodySchema(
  { endpoint: { method } }: Endpoint,
  request: RequestSchemas,
  settings: PublishSettings,
): JsonObject {
  if (!takesBody(method)) return withSource({ const: {} }, 'endpoint.method')
  if (request.body === undefined || settings.validationCoerceTypes) return UNKNOWN
  return withSource(joined([request.body]), 'inputValidation')
}

// The schema of what `inputMapping` writes.

/** A place in the output, with what is written there and below. */
type Place = {
  readonly values: JsonObject[]
  readonly members: Map<string, Place>
  readonly elements: Map<number, Place>
  /** All elements alike. */
  each: Place | undefined
  /** What is written there depends on more than its own entry. */
  isOpen: boolean
  /** Every message writes there. */
  isAlways: boolean
}

const newPlace = (): Place => ({
  values: [],
  members: new Map(),
  elements: new Map(),
  each: undefined,
  isOpen: false,
  isAlways: false,
})

type TargetPlan = NonNullable<ReturnType<typeof readTargets>>[number]

/** `isAlways`: for every message. */
type Written = Readonly<{ schema: JsonObject; isAlways: boolean }>

/**
 * In: a sound mapping with entries, the schemas of its sources, and the elements of the `each` around, as
 * `listNestedEntries` has them. Out: a schema that every output satisfies.
 */
function describeOutput(
  inputMapping: JsonObject,
  findSourceSchema: (path: SourcePath) => SourceSchema,
  items: readonly string[],
  sink: LintSink,
): JsonObject {
  const root = newPlace()
  for (const [text, declared] of Object.entries(inputMapping)) {
    const path = parsePath(text)
    if (!path.ok) continue
    for (const plan of readTargets(declared, sink.at(text)) ?? []) {
      if (plan.each !== undefined) {
        const list = messagePath(text, items)?.replace(/\[\]$/, '') ?? text
        const at = plan.sink.at('each')
        const schema = describeOutput(plan.each.entries, findSourceSchema, [...items, `${list}[]`], at)
        putElement(root, plan.target.steps, withSource(schema, at.path))
        continue
      }
      const written = writtenBy(plan, elementSchema(path.value, items, findSourceSchema))
      if (written === undefined) continue
      const schema = { ...written.schema, 'x-crosswalk-source': sink.at(text).path }
      put(root, plan, { ...written, schema })
    }
  }
  return toSchema(root, { type: 'object' })
}

/** Of a path in an `each`, the schema of what it reads in any of the elements. */
function elementSchema(
  path: SourcePath,
  items: readonly string[],
  findSourceSchema: (path: SourcePath) => SourceSchema,
): SourceSchema {
  const text = messagePath(path.text, items)
  if (text === undefined) return { kind: 'scalar', schema: { type: 'integer' } }
  if (text === path.text) return findSourceSchema(path)
  const whole = parsePath(text)
  if (!whole.ok || whole.value.root === 'constants') return ANY
  const { steps } = whole.value
  const known = steps.length - path.steps.length
  const toElement = (step: PathStep, at: number) => (at < known && step.kind === 'each' ? ANY_ELEMENT : step)
  const found = findSourceSchema({ ...whole.value, steps: steps.map(toElement) })
  // A list of what names read in the elements of another one: the elements themselves are not known.
  return found === ARRAY ? ANY : found
}

/** An index that no schema describes alone. */
const ANY_ELEMENT: PathStep = { kind: 'index', index: Number.MAX_SAFE_INTEGER }

function writtenBy({ target, function: applied, fill }: TargetPlan, given: SourceSchema): Written | undefined {
  const isSpread = spreads(target)
  // What a table has for a constant changes with the table.
  const source = given.kind === 'constant' && applied?.name === 'table' ? ANY : given
  if (source.kind === 'constant') {
    const one = applied?.convert
    const convert = one === undefined || !isSpread ? one : convertEach(one, () => undefined)
    const value = (convert === undefined ? source.value : convert(source.value)) ?? fill
    if (value === undefined || value === null) return target.takesNull ? { schema: {}, isAlways: false } : undefined
    return isSpread && Array.isArray(value)
      ? { schema: {}, isAlways: false }
      : { schema: { const: value }, isAlways: true }
  }
  const isAlways = fill !== undefined && fill !== null
  const schema = isSpread && Array.isArray(fill) ? {} : convertedSchema(source, applied?.gives, isSpread)
  const others = [...(isAlways ? [{ const: fill }] : []), ...(target.takesNull ? [{ type: 'null' }] : [])]
  const isKnown = Object.keys(schema).length > 0
  return { schema: isKnown && others.length > 0 ? { anyOf: [schema, ...others] } : schema, isAlways }
}

/** Functions convert the elements of an array one by one, but for those whose text holds it whole. */
function convertedSchema(
  { kind, schema }: Exclude<SourceSchema, { kind: 'constant' }>,
  gives: JsonObject | undefined,
  isSpread: boolean,
): JsonObject {
  const isOne = kind === 'scalar' || kind === 'object'
  if (gives === undefined) return isOne || !isSpread ? schema : {}
  if (isOne) return gives
  return kind === 'array' && !isSpread ? { anyOf: [{ type: 'array' }, gives] } : { anyOf: [gives, { type: 'array' }] }
}

/** Adds what a target writes, as `compileWrite` places it. */
function put(root: Place, { target, function: applied }: TargetPlan, { schema, isAlways }: Written): void {
  const placement = applied?.placement ?? 'spread'
  if (placement === 'root') {
    root.isOpen = true
    return
  }
  const steps = placement === 'spread' ? writeSteps(target, 'spread') : target.steps
  const appends = steps.at(-1)?.kind === 'each'
  let place = root
  // A value for all elements is written where there are some.
  let isSure = isAlways && placement !== 'all'
  for (const step of appends ? steps.slice(0, -1) : steps) {
    if (placement === 'all' && step.kind === 'each') {
      place.isOpen = true
      return
    }
    place = enter(place, placement === 'spread' ? step : firstValue(step))
    // A spread list has elements that this entry does not write.
    if (step.kind === 'each') isSure = false
    place.isAlways ||= isSure
  }
  place.values.push(appends || placement === 'concat' ? listFrom(schema) : schema)
}

/** Adds an element that a target with `each` writes to its list. */
function putElement(root: Place, steps: readonly TargetStep[], schema: JsonObject): void {
  const last = steps.findLastIndex(({ kind }) => kind === 'each')
  steps.reduce((place, step, at) => enter(place, at === last ? step : firstValue(step)), root).values.push(schema)
}

/** What a list holds depends on all entries that append to it. */
const listFrom = ({ 'x-crosswalk-source': source = '' }: JsonObject): JsonObject => ({
  type: 'array',
  'x-crosswalk-source': source,
})

const firstValue = (step: TargetStep): TargetStep => (step.kind === 'each' ? { kind: 'index', index: 0 } : step)

function enter(place: Place, step: TargetStep): Place {
  switch (step.kind) {
    case 'name':
      return entered(place.members, step.name)
    case 'index':
      return entered(place.elements, step.index)
    case 'each':
      place.each ??= newPlace()
      return place.each
  }
}

function entered<Key>(places: Map<Key, Place>, key: Key): Place {
  const place = places.get(key) ?? newPlace()
  places.set(key, place)
  return place
}

/** Elements that are described one by one. */
const MAX_ELEMENTS = 20

/** `otherwise`: of a place at which several kinds of values may be. */
function toSchema({ values, members, elements, each, isOpen }: Place, otherwise: JsonObject): JsonObject {
  const kinds = [values.length > 0, members.size > 0, elements.size > 0, each !== undefined]
  if (isOpen || kinds.filter(Boolean).length !== 1) return otherwise
  if (members.size > 0) {
    const required = [...members].flatMap(([name, { isAlways }]) => (isAlways ? [name] : []))
    const properties = Object.fromEntries([...members].map(([name, place]) => [name, toSchema(place, {})]))
    return { type: 'object', ...(required.length === 0 ? {} : { required }), properties }
  }
  if (each !== undefined) return { type: 'array', items: orNull(toSchema(each, {})) }
  if (elements.size > 0) {
    const count = Math.max(...elements.keys()) + 1
    if (count > MAX_ELEMENTS) return { type: 'array' }
    const all = Array.from({ length: count }, (_, index) => elements.get(index))
    return { type: 'array', prefixItems: all.map((place) => (place === undefined ? {} : orNull(toSchema(place, {})))) }
  }
  const [only = {}] = values
  return values.length === 1 ? only : { anyOf: values }
}

/** A list is filled with null up to an element that a message writes. */
function orNull(schema: JsonObject): JsonObject {
  if (Object.keys(schema).every((name) => name.startsWith('x-'))) return schema
  return typeof schema.type === 'string'
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] }
}

// The schemas of the values that a mapping reads, as far as something says what they are.

/**
 * `constant`: the value is known. `scalar`: it is surely no array, and `array`: it is one, so that it is known how a target
 * takes it. Null counts as missing, as mappings treat it.
 */
type SourceSchema =
  | Readonly<{ kind: 'constant'; value: Json | undefined }>
  | Readonly<{ kind: 'scalar' | 'object' | 'array' | 'any'; schema: JsonObject }>

const ANY: SourceSchema = { kind: 'any', schema: {} }
const ARRAY: SourceSchema = { kind: 'array', schema: { type: 'array' } }
const TEXT: SourceSchema = { kind: 'scalar', schema: { type: 'string' } }

/** Longer constants would be repeated for each of their readers. */
const MAX_CONSTANT_CHARACTERS = 2_000

/** Coercion may change a value again after a schema has accepted it: only what does not depend on it is known then. */
function createSourceSchemas(
  endpoint: Endpoint,
  request: RequestSchemas,
  isCoerced: boolean,
): (path: SourcePath) => SourceSchema {
  const { method } = endpoint.endpoint
  const isBodiless = !takesBody(method)
  const roots: Readonly<Record<string, (path: SourcePath) => SourceSchema>> = {
    constants: (path) => constantAt(path, endpoint.constants),
    urlParams: ({ steps }) => (steps.length === 1 && steps[0]?.kind === 'name' ? TEXT : ANY),
    requestHeaders: ({ steps: [first, ...others] }) =>
      others.length === 0 && first?.kind === 'name' && first.name !== 'set-cookie' ? TEXT : ANY,
    requestBody: ({ steps }) => {
      if (isBodiless || request.body === undefined || isCoerced) return ANY
      return along(steps, [request.body], request.follow)
    },
    query: ({ steps }) => atMember(steps, request.query.members, request.follow),
    lookupRequests: ({ steps }) => atMember(steps, request.lookupRequests.members, request.follow),
  }
  return (path) => {
    if (isCoerced && path.root !== 'constants' && path.root !== 'urlParams' && path.root !== 'requestHeaders')
      return ANY
    return roots[path.root]?.(path) ?? ANY
  }
}

function constantAt(path: SourcePath, constants: JsonObject): SourceSchema {
  const value = path.read({ constants })
  const text = JSON.stringify(value ?? null)
  // The reference would name where the secret is.
  const isSecret = path.steps.some((step) => step.kind === 'name' && isSecretName(step.name)) || holdsCredential(value)
  if (isSecret || referencesIn(text).length > 0) return typeof value === 'string' ? TEXT : ANY
  if (text.length > MAX_CONSTANT_CHARACTERS) return Array.isArray(value) ? ARRAY : ANY
  return { kind: 'constant', value }
}

function holdsCredential(value: Json | undefined): boolean {
  if (typeof value === 'string') return looksLikeCredential(value)
  if (Array.isArray(value)) return value.some(holdsCredential)
  return isObject(value) && Object.entries(value).some(([name, inner]) => isSecretName(name) || holdsCredential(inner))
}

function atMember(
  [first, ...others]: readonly PathStep[],
  members: RequestSchemas['query']['members'],
  follow: RequestSchemas['follow'],
): SourceSchema {
  const connected = first?.kind === 'name' ? members.get(first.name) : undefined
  return connected === undefined ? ANY : along(others, connected, follow)
}

/** In: schemas that all apply to one value. Follows the steps from it. */
function along(
  steps: readonly PathStep[],
  start: readonly LocatedSchema[],
  follow: RequestSchemas['follow'],
): SourceSchema {
  let connected = start
  for (const step of steps) {
    const next = connected.map((one) => stepInto(follow(one), step))
    const array = next.find((one) => one === 'array')
    if (array !== undefined) return ARRAY
    connected = next.filter((one) => one !== undefined) as readonly LocatedSchema[]
    if (connected.length === 0) return ANY
  }
  return { kind: detectKind(connected, follow), schema: joined(connected) }
}

/** The schema of what the step reads; undefined if it is unknown; `array` for a list of what several steps read. */
function stepInto({ schema, location }: LocatedSchema, step: PathStep): LocatedSchema | 'array' | undefined {
  if (!isObject(schema)) return undefined
  const types = listTypes(schema)
  const isList = types?.length === 1 && types[0] === 'array'
  if (step.kind === 'name') {
    if (isList) return isElementName(step.name) ? undefined : 'array'
    // An array has no fields, but its elements may have.
    if (types === undefined || types.includes('array')) return undefined
    const { properties } = schema
    if (!isObject(properties) || !Object.hasOwn(properties, step.name)) return undefined
    return { schema: properties[step.name] as Json, location: pointer(location, 'properties', step.name) }
  }
  if (!isList || step.kind === 'any') return undefined
  if (step.kind === 'each') return 'array'
  const { prefixItems, items } = schema
  const first = Array.isArray(prefixItems) ? prefixItems : []
  if (step === ANY_ELEMENT && first.length > 0) return undefined
  if (step.index < first.length)
    return { schema: first[step.index], location: pointer(location, 'prefixItems', step.index) }
  return items === undefined ? undefined : { schema: items, location: pointer(location, 'items') }
}

function listTypes({ type }: JsonObject): readonly Json[] | undefined {
  return type === undefined ? undefined : [type].flat()
}

function detectKind(
  connected: readonly LocatedSchema[],
  follow: RequestSchemas['follow'],
): 'scalar' | 'object' | 'array' | 'any' {
  for (const one of connected) {
    const { schema } = follow(one)
    const types = isObject(schema) ? listTypes(schema)?.filter((type) => type !== 'null') : undefined
    if (types === undefined || types.length === 0) continue
    if (types.every((type) => type === 'array')) return 'array'
    if (types.every((type) => type === 'object')) return 'object'
    if (!types.includes('array')) return types.includes('object') ? 'object' : 'scalar'
  }
  return 'any'
}
