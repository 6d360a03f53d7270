/** Tells the deliberate differences between openhim-mediator-mapping and this service from all others. */

import { type FailureCode, kindOf } from '../../src/domain/failure-table.ts'
import { isObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import { Unwritable } from '../../src/formats/body-faults.ts'
import { codecOfFormat, MEDIA_TYPES } from '../../src/formats/codecs.ts'
import { type SharedConstant, sharedConstants } from '../../src/language/mapping/shared-constants.ts'
import {
  type ComparedSide,
  type Comparison,
  type Difference,
  differencesBetween,
  type EndpointDocument,
  failureCodeOf,
  isSame,
  mediaTypeOf,
  readBody,
  requestsOf,
} from './comparison.ts'

/**
 * A deliberate difference. The rule recognises it in what both services did with the message, so that every other difference
 * stays unexplained.
 */
export type DeliberateRule = Readonly<{
  /** One sentence for people. */
  reason: string
  explains(difference: Difference, comparison: Comparison): boolean
}>

export const isIn = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`)

/** Status, media type or body. */
export const isOfAnswer = (path: string): boolean => !isIn(path, '/calls')

/** Whether a value has no leaf but null; in XML an empty element is an empty text. */
export function isHollow(value: Json | undefined, isXml = false): boolean {
  if (typeof value !== 'object') return value === undefined || (isXml && value === '')
  return value === null || Object.values(value).every((one) => isHollow(one, isXml))
}

export const isXml = ({ peer }: Comparison): boolean => peer.answer.mediaType === 'application/xml'

/** The sentence of a failure of the peer; undefined if its answer is none. */
export function errorOfPeer({ peer: { answer } }: Comparison): string | undefined {
  const { status, value } = answer
  return status >= 400 && isObject(value) && typeof value.error === 'string' ? value.error : undefined
}

/** Whether the message failed here with this code. */
export const failsWith = (code: FailureCode, { here }: Comparison): boolean => failureCodeOf(here.answer) === code

/** The value of the message's body; undefined if it has none. */
export const bodyOf = ({ message: { body, headers } }: Comparison): Json | undefined =>
  body === undefined ? undefined : readBody(body, mediaTypeOf(headers['content-type'])).value

/** The entries of the mapping of the endpoint, and of the endpoints of this service that it calls. */
export const mappingEntries = ({ document, called }: Comparison): readonly (readonly [string, Json])[] =>
  [document, ...called].flatMap((one) =>
    one !== undefined && isObject(one.inputMapping) ? Object.entries(one.inputMapping) : [],
  )

/** The value at a JSON Pointer's segments; undefined if there is none. */
export function valueAt(value: Json | undefined, segments: readonly string[]): Json | undefined {
  const [first, ...rest] = segments
  if (first === undefined) return value
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, first)) return undefined
  return valueAt((value as JsonObject)[first], rest)
}

/** The bodies of an answer or a call, and the segments of a place in them. */
export type BodyPlace = Readonly<{ peer: Json | undefined; here: Json | undefined; segments: readonly string[] }>

/** Undefined if the path is in no body. */
export function bodyPlace(path: string, { peer, here }: Comparison): BodyPlace | undefined {
  const [, part, ...segments] = path.split('/').map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (part === 'body') return { peer: peer.answer.value, here: here.answer.value, segments }
  const [id = '', at, body, ...inner] = segments
  if (part !== 'calls' || body !== 'body') return undefined
  return { peer: peer.calls?.[id]?.[Number(at)]?.body, here: here.calls?.[id]?.[Number(at)]?.body, segments: inner }
}

/** The statuses with which the peer answers what is a failure of a code here, where the two differ. */
const STATUSES_OF_PEER: Readonly<Partial<Record<FailureCode, readonly number[]>>> = {
  METHOD_NOT_ALLOWED: [404],
  MEDIA_TYPE_WRONG: [400],
  BODY_TOO_LARGE: [400],
  LOOKUP_INVALID: [400],
  LOOKUP_UNREACHABLE: [400],
  LOOKUP_TIMED_OUT: [400],
  LOOKUP_CIRCUIT_OPEN: [400],
  TRANSFORM_FAILED: [400],
  MAPPING_FAILED: [400],
  SERIALISE_FAILED: [400],
  RESPONSE_UNREACHABLE: [500],
  RESPONSE_TIMED_OUT: [500],
  RESPONSE_CIRCUIT_OPEN: [500],
}

export const FAILURE_RULES = {
  'failure-status': {
    reason: 'The status of a failure says who must act; the peer answers most of them with 400.',
    explains: ({ path }, comparison) => path === '/status' && isOtherStatus(comparison),
  },
  'failure-body': {
    reason: 'The body of a failure has a code and the place in the document beside its sentence.',
    explains: ({ path }, comparison) =>
      (isIn(path, '/body') || path === '/contentType') &&
      failureCodeOf(comparison.here.answer) !== undefined &&
      (comparison.peer.answer.status === comparison.here.answer.status || isOtherStatus(comparison)) &&
      isFailureOfPeer(comparison.peer.answer.value),
  },
  'route-matching': {
    reason: 'A last "/" does not count, parameters are decoded, patterns match whole paths, another method is a 405.',
    explains: ({ path }, comparison) => {
      const { status, value } = comparison.peer.answer
      const isElsewhere = status < 400 && failsWith('ROUTE_UNKNOWN', comparison)
      return isOfAnswer(path) && (isUnknownRoute(status, value) || isElsewhere)
    },
  },
  'xml-values': {
    reason: 'An output that XML cannot hold is a failure; the peer writes the text of the object or array.',
    explains: ({ path }, comparison) =>
      isOfAnswer(path) && failsWith('SERIALISE_FAILED', comparison) && comparison.peer.answer.status < 400,
  },
  'computed-keys': {
    reason:
      'A computed key of an object in an expression that finds nothing leaves its field out (JSONata 2); the peer fails (JSONata 1.8).',
    explains: ({ path }, comparison) =>
      isOfAnswer(path) &&
      KEY_REFUSED.test(errorOfPeer(comparison) ?? '') &&
      failureCodeOf(comparison.here.answer) === undefined,
  },
  'mapping-failed': {
    reason:
      'A value that its function cannot convert, and an entry that would replace another shape, end the message; the peer leaves a value out.',
    explains: ({ path }, comparison) =>
      isOfAnswer(path) && failsWith('MAPPING_FAILED', comparison) && comparison.peer.answer.status < 400,
  },
  'empty-message': {
    reason: 'A message without a body is an empty object; the peer answers with 204, or finds nothing to validate.',
    explains: ({ path }, comparison) => isOfAnswer(path) && isWithoutBody(comparison),
  },
} as const satisfies Readonly<Record<string, DeliberateRule>>

/** The sentence of JSONata's code T1003. */
const KEY_REFUSED = /[Kk]ey in object structure must evaluate to a string/

/** Both may have called an endpoint of their own, whose failure has another status there. */
function isOtherStatus(comparison: Comparison): boolean {
  const { peer, here } = comparison
  const code = failureCodeOf(here.answer)
  if (code === undefined) return false
  if (kindOf(code).lookup === 'unusable') return errorOfPeer(comparison)?.includes('Incorrect status code') ?? false
  return (STATUSES_OF_PEER[code] ?? []).includes(peer.answer.status)
}

/** `{ "error": … }`, which is the root element in XML, or the text of the error of an unreachable primary. */
const isFailureOfPeer = (value: Json | undefined): boolean =>
  typeof value === 'string' || (isObject(value) && typeof value.error === 'string' && Object.keys(value).length === 1)

/** By its own code, or by its router, which knows fewer characters of paths. */
const isUnknownRoute = (status: number, value: Json | undefined): boolean =>
  status === 404 &&
  (value === 'Not Found' ||
    (isObject(value) && typeof value.error === 'string' && value.error.startsWith('Unknown Endpoint')))

function isWithoutBody(comparison: Comparison): boolean {
  const { message, peer, here } = comparison
  if ((message.body?.length ?? 0) > 0 || here.answer.status !== 200) return false
  return peer.answer.status === 204 || errorOfPeer(comparison) === 'No data to validate'
}

export const ACCEPTED_RULES = {
  'missing-values': {
    reason:
      'An entry of the mapping that finds nothing adds nothing; the peer fails where it reads an element of it or appends it.',
    explains: ({ path }, comparison) => isOfAnswer(path) && isRefusedByPeer(comparison, MAPPING_FAILED),
  },
  'transform-targets': {
    reason:
      '"appendArray" and "oneToAllElements" take any target; the peer refuses every message that runs one whose target has no "[]".',
    explains: ({ path }, comparison) => isOfAnswer(path) && isRefusedByPeer(comparison, TARGET_REFUSED),
  },
  nullable: {
    reason: '"nullable" in a schema accepts null; the peer reads it only with VALIDATION_ACCEPT_NULL_VALUES.',
    explains: ({ path }, comparison) =>
      isOfAnswer(path) && isRefusedByPeer(comparison, VALIDATION_FAILED) && isAllNull(comparison),
  },
  'appended-texts': {
    reason:
      '"appendArray" appends a text or number as one element; the peer appends each character of a text, and fails for others.',
    explains: ({ path }, comparison) => isOfAnswer(path) && appendsText(comparison),
  },
  'paths-over-arrays': {
    reason:
      'A name on an array reads that field of every element, at each place of a path; the peer finds nothing there, or fails.',
    explains: ({ path, peer, here }, comparison) =>
      readsThroughArray(comparison) &&
      (isOfAnswer(path) && isRefusedByPeer(comparison, NO_ARRAY)
        ? true
        : isIn(path, '/body') && isHollow(peer) && here !== undefined),
  },
} as const satisfies Readonly<Record<string, DeliberateRule>>

const MAPPING_FAILED = /^Input transform error: Object mapping schema invalid: (?:Cannot read|.* is not iterable)/
const TARGET_REFUSED = /^Input transform error: Object mapping schema invalid: Invalid Transform Key(?: value)?: /
const VALIDATION_FAILED = /^Validation failed: /
const NO_ARRAY = /forEach\.items could not be found/

const isRefusedByPeer = (comparison: Comparison, why: RegExp): boolean =>
  why.test(errorOfPeer(comparison) ?? '') && failureCodeOf(comparison.here.answer) === undefined

/** Whether each value that the peer calls wrong is null in the message. */
function isAllNull(comparison: Comparison): boolean {
  const faults = (errorOfPeer(comparison) ?? '').replace(VALIDATION_FAILED, '').split(', ')
  return faults.every((text) => {
    const [, place] = /^data\/requestBody\/(\S+) should /.exec(text) ?? []
    return place !== undefined && valueAt(bodyOf(comparison), place.split('/')) === null
  })
}

/** The names of a path below `requestBody`; undefined if it has another root. */
function namesOf(path: string): readonly string[] | undefined {
  const [root, ...names] = path.split('.')
  return root === 'requestBody' || root === 'payload' ? names : undefined
}

function appendsText(comparison: Comparison): boolean {
  const body = bodyOf(comparison)
  return mappingEntries(comparison).some(([source, target]) => {
    const names = namesOf(source.replace(/\[\]$/, ''))
    const value = names === undefined ? undefined : valueAt(body, names)
    return (typeof value === 'string' || typeof value === 'number') && JSON.stringify(target).includes('"appendArray"')
  })
}

/** Whether a path of the mapping, or of a request, reads a name of an array in the message. */
function readsThroughArray(comparison: Comparison): boolean {
  const body = bodyOf(comparison)
  const mapped = mappingEntries(comparison).map(([source]) => source)
  const paths = [...mapped, ...pathsOfRequests(comparison.document?.requests ?? null)]
  return paths.some((path) => {
    const names = namesOf(path)
    return names !== undefined && passesArray(body, names)
  })
}

function passesArray(value: Json | undefined, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const own = name.replace(/\[.*$/, '')
  if (own === name) return passesArray(valueAt(value, [own]), rest)
  const list = valueAt(value, [own])
  return (Array.isArray(list) ? list : [list]).some((one) => passesArray(one, rest))
}

/** The texts of the members "path" and "items" of the requests. */
function pathsOfRequests(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = isObject(value) ? [value.path, value.items].filter((one) => typeof one === 'string') : []
  return [...own, ...Object.values(value).flatMap(pathsOfRequests)]
}

export const REQUEST_RULES = {
  'url-values': {
    reason:
      'A URL parameter without a value, or with one that a URL cannot hold, is a failure; the peer sends the request all the same.',
    explains: ({ path, here }, comparison) =>
      failsWith('PARAMETER_INVALID', comparison) && (isOfAnswer(path) || here === undefined),
  },
  'url-encoding': {
    reason:
      'Values are percent-encoded in URLs, so that none can add a segment or a parameter; the peer writes them as they are.',
    explains: ({ path, peer, here }, comparison) =>
      /^\/calls\/.*\/url$/.test(path)
        ? isSameDecoded(peer, here)
        : isOfAnswer(path) && isLookupFailure(comparison) && hasValueToEncode(comparison),
  },
  primary: {
    reason: 'The answer of the response request that is marked as primary is returned alone; the peer drops the mark.',
    explains: ({ path }, { document, peer, here }) => {
      const id = document && primaryOf(document)
      const inner = id === undefined ? undefined : valueAt(peer.answer.value, [id])
      return inner !== undefined && isOfAnswer(path) && isSame(inner, here.answer.value)
    },
  },
  'failed-response': {
    reason:
      'Of several response requests, one without an answer holds an "error" with a sentence; with the peer it is a text.',
    explains: ({ path, peer, here }, { here: side }) =>
      side.answer.headers['x-crosswalk-status'] === 'partial' &&
      /^\/body\/[^/]+$/.test(path) &&
      typeof peer === 'string' &&
      isObject(here) &&
      typeof here.error === 'string',
  },
  'sent-type': {
    reason: 'Response requests get the output in the type of the endpoint; the peer sends JSON, whatever the type is.',
    explains: ({ path }, comparison) => isSentAsXml(path, comparison),
  },
  'answer-type': {
    reason: 'The media type is that of the answer; the peer declares its output type for any text.',
    explains: ({ path }, { peer, here }) =>
      path === '/contentType' && peer.answer.isUnread && isSame(peer.answer.value, here.answer.value),
  },
} as const satisfies Readonly<Record<string, DeliberateRule>>

/** RFC 3986 section 3.3: any other character than those of a segment. */
const NOT_IN_A_SEGMENT = /[^A-Za-z0-9\-._~!$&'()*+,;=:@]/

function primaryOf(document: EndpointDocument): string | undefined {
  const requests = requestsOf(document, 'response')
  const marked = requests.find(
    ({ primary, config }) => primary === true || (isObject(config) && config.primary === true),
  )
  return requests.length > 1 && typeof marked?.id === 'string' ? marked.id : undefined
}

function isSameDecoded(peer: Json | undefined, here: Json | undefined): boolean {
  return typeof peer === 'string' && typeof here === 'string' && decoded(peer) === decoded(here)
}

function decoded(url: string): string {
  const text = url.replaceAll('+', ' ')
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether the body of a call is the XML of the JSON that the peer sent. */
function isSentAsXml(path: string, { peer, here }: Comparison): boolean {
  const [, part, id = '', at, body] = path.split('/')
  const sent = peer.calls?.[id]?.[Number(at)]?.body
  if (part !== 'calls' || body !== 'body' || sent === undefined) return false
  try {
    const xml = Buffer.from(codecOfFormat('XML').build(sent))
    return isSame(readBody(xml, mediaTypeOf(MEDIA_TYPES.XML)).value, here.calls?.[id]?.[Number(at)]?.body)
  } catch (thrown) {
    if (thrown instanceof Unwritable) return false
    throw thrown
  }
}

/** Whether the lookup of the peer failed, and that of this service did not. */
function isLookupFailure(comparison: Comparison): boolean {
  const error = errorOfPeer(comparison) ?? ''
  return (
    /Incorrect status code|No response from lookup|unescaped characters/.test(error) &&
    failureCodeOf(comparison.here.answer) === undefined
  )
}

/** Whether a value of the message that goes into the path of a URL has a character that a path cannot hold. */
function hasValueToEncode(comparison: Comparison): boolean {
  const { document } = comparison
  if (document === undefined) return false
  return [...requestsOf(document, 'lookup'), ...requestsOf(document, 'response')].some(({ config }) => {
    const url = isObject(config) && isObject(config.params) && isObject(config.params.url) ? config.params.url : {}
    return Object.values(url).some((parameter) => {
      const value = isObject(parameter) ? valueOfPath(String(parameter.path), comparison) : undefined
      return typeof value === 'string' && NOT_IN_A_SEGMENT.test(value)
    })
  })
}

/** What a path of dotted names reads in the body or the query. */
function valueOfPath(path: string, comparison: Comparison): Json | undefined {
  const [root = '', ...names] = path.split('.')
  if (root === 'query') return valueAt(comparison.message.query as JsonObject, names)
  return root === 'payload' || root === 'requestBody' ? valueAt(bodyOf(comparison), names) : undefined
}

type ExplainsValue = (difference: Difference, place: BodyPlace, comparison: Comparison) => boolean

/** Explains differences within bodies, of answers and of calls, only. */
const inBodies =
  (explains: ExplainsValue): DeliberateRule['explains'] =>
  (difference, comparison) => {
    const place = bodyPlace(difference.path, comparison)
    return place !== undefined && explains(difference, place, comparison)
  }

export const VALUE_RULES = {
  'time-of-message': {
    reason: 'Both are the time at which each service ran the message.',
    explains: inBodies(({ peer, here }, _place, comparison) => isTimeOfMessage(peer, here, comparison)),
  },
  'random-values': {
    reason: 'Both are what an expression with "$random" or "$shuffle" gave, each time another value.',
    explains: inBodies(
      ({ peer, here }, { segments }, comparison) => typeof peer === typeof here && isRandom(segments, comparison),
    ),
  },
  'empty-parents': {
    reason: 'A missing value adds no field; the peer adds the empty objects and arrays that lead to it.',
    explains: inBodies((difference, place, comparison) => isEmptyParent(difference, place, isXml(comparison))),
  },
  'null-targets': {
    reason:
      'A target that ends in "?" keeps a null, and writes nothing for a missing value; the peer writes null for both.',
    explains: inBodies(
      ({ peer, here }, { segments }, comparison) =>
        peer === null &&
        here === undefined &&
        mappingEntries(comparison).some(([, target]) => JSON.stringify(target).includes(`${segments.at(-1)}?"`)),
    ),
  },
  'nested-arrays': {
    reason:
      'Lists within lists are joined where a path reads their elements, and kept where the value is copied; the peer does either by what it finds.',
    explains: inBodies(isJoinedOtherwise),
  },
  'shared-constants': {
    reason:
      '"oneToAllElements" gives each element a copy; the peer gives all the same object, so that each has the value that was written last, in this or an earlier message.',
    explains: inBodies((_difference, place, comparison) => isSharedValue(place, comparison)),
  },
  'changed-constants': {
    reason:
      'A mapping never changes a constant; the peer writes into constants that were copied whole, so that values stay for later elements and messages.',
    explains: inBodies(
      ({ peer }, { segments }, { document }) =>
        peer !== undefined && document !== undefined && isInShared(segments, sharedConstants(document)),
    ),
  },
  'wildcard-places': {
    reason:
      '"*" gives a list with a place for every field; the peer leaves out those without the value, and gives no empty list.',
    explains: inBodies(
      ({ peer, here }, _place, comparison) =>
        peer === undefined && isHollow(here) && mappingEntries(comparison).some(([source]) => source.includes('*')),
    ),
  },
  'empty-answers': {
    reason:
      'An empty answer of another system, or a list without values in a query, is nothing; the peer takes it for an empty text.',
    explains: inBodies(
      ({ peer, here }, { segments }, comparison) =>
        peer === '' && (here ?? null) === null && isOfOthers(segments[0] ?? '', comparison),
    ),
  },
  'xml-white-space': {
    reason: 'White space is trimmed also from an element that has nothing else.',
    explains: inBodies(
      ({ peer, here }) => typeof peer === 'string' && peer !== '' && peer.trim() === '' && here === '',
    ),
  },
} as const satisfies Readonly<Record<string, DeliberateRule>>

/** Whether an entry writes a value of such an expression to this name. */
function isRandom(segments: readonly string[], comparison: Comparison): boolean {
  const inputTransforms = comparison.document?.inputTransforms
  const name = segments.findLast((segment) => !/^\d+$/.test(segment))
  if (!isObject(inputTransforms) || name === undefined) return false
  const random = Object.entries(inputTransforms).filter(([, text]) => /\$(?:random|shuffle)\b/.test(String(text)))
  return mappingEntries(comparison).some(
    ([source, target]) =>
      random.some(([transform]) => source === `transforms.${transform}`) && JSON.stringify(target).includes(`${name}"`),
  )
}

const isInShared = (segments: readonly string[], shared: readonly SharedConstant[]): boolean => {
  const names = segments.filter((segment) => !/^\d+$/.test(segment))
  return shared.some((one) => one.names.every((name, index) => name === names[index]))
}

/** Whether the place is empty with the peer and missing here, or elements of an array around it are. */
function isEmptyParent({ peer, here }: Difference, place: BodyPlace, xml: boolean): boolean {
  if ((here ?? null) === null && isEmptyContainer(peer, xml)) return true
  return around(place).some(([list, own]) => {
    if (!Array.isArray(list) || !Array.isArray(own) || !list.some((one) => isEmptyContainer(one, xml))) return false
    return isSame(withoutHollow(list, xml), withoutHollow(own, xml))
  })
}

const isEmptyContainer = (value: Json | undefined, xml: boolean): boolean =>
  (typeof value === 'object' && value !== null && isHollow(value, xml)) || (xml && value === '')

/** The values of both services at a place and at those around it, from the nearest. */
const around = ({ peer, here, segments }: BodyPlace): readonly (readonly [Json | undefined, Json | undefined])[] =>
  Array.from({ length: segments.length + 1 }, (_, up) => {
    const place = segments.slice(0, segments.length - up)
    return [valueAt(peer, place), valueAt(here, place)] as const
  })

function withoutHollow(value: Json, xml: boolean): Json {
  if (Array.isArray(value)) return value.filter((one) => !isHollow(one, xml)).map((one) => withoutHollow(one, xml))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([, one]) => one === null || !isHollow(one, xml))
  return Object.fromEntries(kept.map(([name, one]) => [name, withoutHollow(one, xml)]))
}

/** Whether an array around the place has the same elements in both, or the message has arrays within arrays. */
function isJoinedOtherwise({ peer, here }: Difference, place: BodyPlace, comparison: Comparison): boolean {
  const isSameJoined = ([list, own]: readonly [Json | undefined, Json | undefined]) =>
    Array.isArray(list) && Array.isArray(own) && isSame(joined(list), joined(own))
  if (around(place).some(isSameJoined)) return true
  const isInList = place.segments.some((segment) => /^\d+$/.test(segment)) || [peer, here].some(Array.isArray)
  return isInList && hasNestedArray(bodyOf(comparison))
}

/** Whether the elements of a list all have the same value at the place with the peer, and the mapping shares one among them. */
function isSharedValue({ peer, segments }: BodyPlace, comparison: Comparison): boolean {
  const at = segments.findIndex((segment) => /^\d+$/.test(segment))
  const list = at === -1 ? undefined : valueAt(peer, segments.slice(0, at))
  if (!Array.isArray(list)) return false
  const values = list.map((one) => valueAt(one, segments.slice(at + 1)))
  if (values[0] === undefined || !values.every((one) => isSame(one, values[0]))) return false
  return mappingEntries(comparison).some(
    ([source, target]) => source.startsWith('constants.') && JSON.stringify(target).includes('"oneToAllElements"'),
  )
}

const joined = (list: readonly Json[]): readonly Json[] =>
  list.flatMap((one) => (Array.isArray(one) ? joined(one) : [one]))

function hasNestedArray(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value) && value.some(Array.isArray)) return true
  return Object.values(value).some(hasNestedArray)
}

/** Whether a field of the output holds what a lookup or a response request answered. */
function isOfOthers(field: string, comparison: Comparison): boolean {
  const { document } = comparison
  if (document === undefined) return false
  if (requestsOf(document, 'response').length > 0) return true
  const entries = mappingEntries(comparison)
  if (entries.length === 0) return field === 'lookupRequests'
  return entries.some(
    ([source, target]) => source.startsWith('lookupRequests') && JSON.stringify(target).includes(`"${field}`),
  )
}

/** How far the clock of the peer may be off. */
const CLOCKS_DIFFER_MS = 5_000

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/

/** Whether each of the two is a time, as ISO 8601 or in milliseconds, at which its service ran the message. */
export function isTimeOfMessage(peer: Json | undefined, here: Json | undefined, comparison: Comparison): boolean {
  return isWithin(peer, comparison.peer) && isWithin(here, comparison.here)
}

function isWithin(value: Json | undefined, { times }: ComparedSide): boolean {
  const time = timeOf(value)
  return time >= times.sentAt - CLOCKS_DIFFER_MS && time <= times.answeredAt + CLOCKS_DIFFER_MS
}

/** NaN if the value is no time. */
function timeOf(value: Json | undefined): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(value) : Number.NaN
}

/** The ids are stable, and docs/moving-over.md has a row for each. The first rule that explains a difference counts. */
export const DELIBERATE_DIFFERENCES = { ...FAILURE_RULES, ...ACCEPTED_RULES, ...REQUEST_RULES, ...VALUE_RULES }

export type DeliberateId = keyof typeof DELIBERATE_DIFFERENCES

/** `deliberate`: the id of the rule that explains the difference; undefined if none does. */
export type JudgedDifference = Difference & Readonly<{ deliberate: DeliberateId | undefined }>

const RULES = Object.entries(DELIBERATE_DIFFERENCES) as readonly (readonly [DeliberateId, DeliberateRule])[]

/** All differences of a message. `ignored`: JSON Pointers within the body; what is at or below them is not compared. */
export const judge = (comparison: Comparison, ignored: readonly string[] = []): readonly JudgedDifference[] =>
  differencesBetween(comparison)
    .filter(({ path }) => !ignored.some((pointer) => `${path}/`.startsWith(`/body${pointer}/`)))
    .map((difference) => ({
      ...difference,
      deliberate: RULES.find(([, rule]) => rule.explains(difference, comparison))?.[0],
    }))
