/** Tells the deliberate differences between openhim-mediator-mapping ("the peer") and this service from all others. */

import { type FailureCode, kindForCode } from '../../src/core/failure-table.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { Unwritable } from '../../src/formats/body-faults.ts'
import { CODECS } from '../../src/formats/codecs.ts'
import { listNestedEntries } from '../../src/language/mapping/nested-entries.ts'
import { attempt } from '../attempt.ts'
import { listRequestPaths } from '../import/lookup-forms.ts'
import { sharedConstants } from '../import/shared-constants.ts'
import {
  type ComparedSide,
  type Comparison,
  type Difference,
  differencesBetween,
  type EndpointDocument,
  findFailureCode,
  isSame,
  listRequests,
  readBody,
  readMediaType,
} from './comparison.ts'

/** One difference with what both services did with the message. */
type Case = Difference &
  Readonly<{
    comparison: Comparison
    /** The sentence of a failure of the peer; empty if its answer is none. */
    error: string
    /** The code of a failure of this service. */
    code: FailureCode | undefined
    /** The value of the message's body. */
    sent: Json | undefined
    /** The entries of the mapping of the endpoint, and of the endpoints of this service that it calls. */
    mapping: readonly (readonly [source: string, target: Json])[]
    /** The bodies of the answer or call that the difference is in, and the segments of its place in them. */
    location: BodyLocation | undefined
  }>

type BodyLocation = Readonly<{ peer: Json | undefined; here: Json | undefined; segments: readonly string[] }>

/** Every rule is recognised in what both services did, so that every other difference stays unexplained. All conditions hold. */
type DeliberateRule = Readonly<{
  /** One sentence for people. */
  reason: string
  /** `answer`: its status, media type or body; `bodies`: of the answer and of calls. */
  within: 'answer' | 'bodies' | 'everything'
  /** The message failed here with this code, and not there. */
  failsHere?: FailureCode
  /** The message failed there with this sentence, and not here. */
  failsThere?: RegExp
  where?(one: Case, location: BodyLocation): boolean
}>

/** The ids are stable, and docs/moving-over.md has a row for each. The first rule that explains a difference counts. */
export const DELIBERATE_DIFFERENCES = {
  // What fails, and how a failure is answered.
  'failure-status': {
    reason: 'The status of a failure says who must act; the peer answers most of them with 400.',
    within: 'answer',
    where: (one) => one.path === '/status' && isOtherStatus(one),
  },
  'failure-body': {
    reason: 'The body of a failure has a code and the place in the document beside its sentence.',
    within: 'answer',
    where: (one) =>
      one.path !== '/status' &&
      one.code !== undefined &&
      (one.comparison.peer.answer.status === one.comparison.here.answer.status || isOtherStatus(one)) &&
      isPeerFailure(one.comparison.peer.answer.value),
  },
  'route-matching': {
    reason: 'A last "/" does not count, parameters are decoded, patterns match whole paths, another method is a 405.',
    within: 'answer',
    where: ({ code, comparison: { peer } }) =>
      isUnknownRoute(peer) || (peer.answer.status < 400 && code === 'ROUTE_UNKNOWN'),
  },
  'stored-requests': {
    reason:
      'A response request with "delivery" is stored, and the message is answered with 202 before the request is sent.',
    within: 'answer',
    where: ({ comparison: { document, here } }) => {
      const requests = document === undefined ? [] : listRequests(document, 'response')
      return (
        here.answer.status === 202 && requests.length > 0 && requests.every(({ delivery }) => delivery !== undefined)
      )
    },
  },
  'xml-values': {
    reason: 'An output that XML cannot hold is a failure; the peer writes the text of the object or array.',
    within: 'answer',
    failsHere: 'SERIALISE_FAILED',
  },
  'computed-keys': {
    reason:
      'A computed key of an object in an expression that finds nothing leaves its field out (JSONata 2); the peer fails (JSONata 1.8).',
    within: 'answer',
    // The sentence of JSONata's code T1003.
    failsThere: /[Kk]ey in object structure must evaluate to a string/,
  },
  'mapping-failed': {
    reason:
      'A value that its function cannot convert, and an entry that would replace another shape, end the message; the peer leaves a value out.',
    within: 'answer',
    failsHere: 'MAPPING_FAILED',
  },
  'empty-message': {
    reason: 'A message without a body is an empty object; the peer answers with 204, or finds nothing to validate.',
    within: 'answer',
    where: ({ error, comparison: { message, peer, here } }) =>
      (message.body?.length ?? 0) === 0 &&
      here.answer.status === 200 &&
      (peer.answer.status === 204 || error === 'No data to validate'),
  },

  // Messages that this service accepts and the peer refuses, or reads less of.
  'missing-values': {
    reason:
      'An entry of the mapping that finds nothing adds nothing; the peer fails where it reads an element of it or appends it.',
    within: 'answer',
    failsThere: /^Input transform error: Object mapping schema invalid: (?:Cannot read|.* is not iterable)/,
  },
  'transform-targets': {
    reason:
      '"appendArray" and "oneToAllElements" take any target; the peer refuses every message that runs one whose target has no "[]".',
    within: 'answer',
    failsThere: /^Input transform error: Object mapping schema invalid: Invalid Transform Key(?: value)?: /,
  },
  nullable: {
    reason: '"nullable" in a schema accepts null; the peer reads it only with VALIDATION_ACCEPT_NULL_VALUES.',
    within: 'answer',
    failsThere: /^Validation failed: /,
    where: isAllNull,
  },
  'appended-texts': {
    reason:
      '"appendArray" appends a text or number as one element; the peer appends each character of a text, and fails for others.',
    within: 'answer',
    where: appendsText,
  },
  'paths-over-arrays': {
    reason:
      'A name on an array reads that field of every element, at each place of a path; the peer finds nothing there, or fails.',
    within: 'answer',
    where: (one) =>
      readsThroughArray(one) &&
      ((/forEach\.items could not be found/.test(one.error) && one.code === undefined) ||
        (isIn(one.path, '/body') && isHollow(one.peer) && one.here !== undefined)),
  },

  // Requests to other systems, and what becomes of their answers.
  'url-values': {
    reason:
      'A URL parameter without a value, or with one that a URL cannot hold, is a failure; the peer sends the request all the same.',
    within: 'everything',
    where: ({ path, code, here }) => code === 'PARAMETER_INVALID' && (isOfAnswer(path) || here === undefined),
  },
  'url-encoding': {
    reason:
      'Values are percent-encoded in URLs, so that none can add a segment or a parameter; the peer writes them as they are.',
    within: 'everything',
    where: (one) =>
      /^\/calls\/.*\/url$/.test(one.path)
        ? typeof one.peer === 'string' && typeof one.here === 'string' && decoded(one.peer) === decoded(one.here)
        : isOfAnswer(one.path) &&
          one.code === undefined &&
          /Incorrect status code|No response from lookup|unescaped characters/.test(one.error) &&
          hasValueToEncode(one),
  },
  primary: {
    reason: 'The answer of the response request that is marked as primary is returned alone; the peer drops the mark.',
    within: 'answer',
    where: ({ comparison: { document, peer, here } }) => {
      const id = document && findPrimary(document)
      const inner = id === undefined ? undefined : valueAt(peer.answer.value, [id])
      return inner !== undefined && isSame(inner, here.answer.value)
    },
  },
  'failed-response': {
    reason:
      'Of several response requests, one without an answer holds an "error" with a sentence; with the peer it is a text.',
    within: 'answer',
    where: ({ path, peer, here, comparison }) =>
      comparison.here.answer.headers['x-crosswalk-status'] === 'partial' &&
      /^\/body\/[^/]+$/.test(path) &&
      typeof peer === 'string' &&
      isObject(here) &&
      typeof here.error === 'string',
  },
  'sent-type': {
    reason: 'Response requests get the output in the type of the endpoint; the peer sends JSON, whatever the type is.',
    within: 'bodies',
    where: ({ path }, { peer, here }) => isIn(path, '/calls') && isSentAsXml(peer, here),
  },
  'lookup-texts': {
    reason: 'A text that a lookup is answered with is under "text"; with the peer it is the text itself.',
    within: 'bodies',
    where: ({ peer, here }) => typeof peer === 'string' && isSame({ text: peer }, here),
  },
  'answer-type': {
    reason: 'The media type is that of the answer; the peer declares its output type for any text.',
    within: 'answer',
    where: ({ path, comparison: { peer, here } }) =>
      path === '/contentType' && peer.answer.isUnread && isSame(peer.answer.value, here.answer.value),
  },

  // What mappings read and write.
  'time-of-message': {
    reason: 'Both are the time at which each service ran the message.',
    within: 'bodies',
    where: ({ peer, here, comparison }) => isTimeOfRun(peer, comparison.peer) && isTimeOfRun(here, comparison.here),
  },
  'random-values': {
    reason: 'Both are what an expression with "$random" or "$shuffle" gave, each time another value.',
    within: 'bodies',
    where: (one, { segments }) => typeof one.peer === typeof one.here && isRandom(segments, one),
  },
  'empty-parents': {
    reason: 'A missing value adds no field; the peer adds the empty objects and arrays that lead to it.',
    within: 'bodies',
    where: isEmptyParent,
  },
  'null-targets': {
    reason:
      'A target that ends in "?" keeps a null, and writes nothing for a missing value; the peer writes null for both.',
    within: 'bodies',
    where: ({ peer, here, mapping }, { segments }) =>
      peer === null && here === undefined && mapping.some(writes(`${segments.at(-1)}?"`)),
  },
  'nested-arrays': {
    reason:
      'Lists within lists are joined where a path reads their elements, and kept where the value is copied; the peer does either by what it finds.',
    within: 'bodies',
    where: isJoinedOtherwise,
  },
  'shared-constants': {
    reason:
      '"oneToAllElements" gives each element a copy; the peer gives all the same object, so that each has the value that was written last, in this or an earlier message.',
    within: 'bodies',
    where: isSharedValue,
  },
  'changed-constants': {
    reason:
      'A mapping never changes a constant; the peer writes into constants that were copied whole, so that values stay for later elements and messages.',
    within: 'bodies',
    where: ({ peer, comparison: { document } }, { segments }) => {
      const names = segments.filter((segment) => !isIndex(segment))
      const shared = peer === undefined || document === undefined ? [] : sharedConstants(document)
      return shared.some((one) => one.names.every((name, index) => name === names[index]))
    },
  },
  'wildcard-places': {
    reason:
      '"*" gives a list with a place for every field; the peer leaves out those without the value, and gives no empty list.',
    within: 'bodies',
    where: ({ peer, here, mapping }) =>
      peer === undefined && isHollow(here) && mapping.some(([source]) => source.includes('*')),
  },
  'empty-answers': {
    reason:
      'An empty answer of another system, or a list without values in a query, is nothing; the peer takes it for an empty text.',
    within: 'bodies',
    where: (one, { segments }) => one.peer === '' && (one.here ?? null) === null && isOfOthers(segments[0] ?? '', one),
  },
  'xml-white-space': {
    reason: 'White space is trimmed also from an element that has nothing else.',
    within: 'bodies',
    where: ({ peer, here }) => typeof peer === 'string' && peer !== '' && peer.trim() === '' && here === '',
  },
} as const satisfies Readonly<Record<string, DeliberateRule>>

export type DeliberateId = keyof typeof DELIBERATE_DIFFERENCES

/** `deliberate`: the id of the rule that explains the difference. */
export type JudgedDifference = Difference & Readonly<{ deliberate: DeliberateId | undefined }>

const RULES = Object.entries(DELIBERATE_DIFFERENCES) as readonly (readonly [DeliberateId, DeliberateRule])[]

/** All differences of a message. `ignored`: JSON Pointers within the body; what is at or below them is not compared. */
export function judge(comparison: Comparison, ignored: readonly string[] = []): readonly JudgedDifference[] {
  const { message, document, called, peer, here } = comparison
  const { status, value } = peer.answer
  const about = {
    comparison,
    error: status >= 400 && isObject(value) && typeof value.error === 'string' ? value.error : '',
    code: findFailureCode(here.answer),
    sent: message.body && readBody(message.body, readMediaType(message.headers['content-type'])).value,
    mapping: [document, ...called].flatMap((one) =>
      one !== undefined && isObject(one.inputMapping)
        ? listNestedEntries(one.inputMapping).map(({ path, source, declared }) => [path ?? source, declared] as const)
        : [],
    ),
  }
  return differencesBetween(comparison)
    .filter(({ path }) => !ignored.some((pointer) => `${path}/`.startsWith(`/body${pointer}/`)))
    .map((difference) => {
      const one = { ...about, ...difference, location: locateBody(difference.path, comparison) }
      return { ...difference, deliberate: RULES.find(([, rule]) => explains(rule, one))?.[0] }
    })
}

function explains({ within, failsHere, failsThere, where = () => true }: DeliberateRule, one: Case): boolean {
  if (within === 'answer' && !isOfAnswer(one.path)) return false
  if (within === 'bodies' && one.location === undefined) return false
  if (failsHere !== undefined && (one.code !== failsHere || one.comparison.peer.answer.status >= 400)) return false
  if (failsThere !== undefined && (one.code !== undefined || !failsThere.test(one.error))) return false
  return where(one, one.location ?? NO_LOCATION)
}

const NO_LOCATION: BodyLocation = { peer: undefined, here: undefined, segments: [] }

const isIn = (path: string, location: string): boolean => path === location || path.startsWith(`${location}/`)

const isOfAnswer = (path: string): boolean => !isIn(path, '/calls')

const isIndex = (segment: string): boolean => /^\d+$/.test(segment)

/** True if an entry of a mapping has a text in its target. */
const writes =
  (text: string) =>
  ([, target]: readonly [string, Json]): boolean =>
    JSON.stringify(target).includes(text)

/** True if a value has no leaf but null; in XML an empty element is an empty text. */
function isHollow(value: Json | undefined, isXml = false): boolean {
  if (typeof value !== 'object') return value === undefined || (isXml && value === '')
  return value === null || Object.values(value).every((one) => isHollow(one, isXml))
}

/** The value at a JSON Pointer's segments. */
function valueAt(value: Json | undefined, [first, ...rest]: readonly string[]): Json | undefined {
  if (first === undefined) return value
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, first)) return undefined
  return valueAt((value as JsonObject)[first], rest)
}

function locateBody(path: string, { peer, here }: Comparison): BodyLocation | undefined {
  const [, part, ...segments] = path.split('/').map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (part === 'body') return { peer: peer.answer.value, here: here.answer.value, segments }
  const [id = '', at, body, ...inner] = segments
  if (part !== 'calls' || body !== 'body') return undefined
  return { peer: peer.calls?.[id]?.[Number(at)]?.body, here: here.calls?.[id]?.[Number(at)]?.body, segments: inner }
}

/** The statuses with which the peer answers what is a failure of a code here, where the two differ. */
const STATUSES_OF_PEER: Readonly<Partial<Record<FailureCode, number>>> = {
  METHOD_NOT_ALLOWED: 404,
  MEDIA_TYPE_WRONG: 400,
  BODY_TOO_LARGE: 400,
  LOOKUP_INVALID: 400,
  LOOKUP_UNREACHABLE: 400,
  LOOKUP_TIMED_OUT: 400,
  LOOKUP_CIRCUIT_OPEN: 400,
  TRANSFORM_FAILED: 400,
  MAPPING_FAILED: 400,
  SERIALISE_FAILED: 400,
  RESPONSE_UNREACHABLE: 500,
  RESPONSE_TIMED_OUT: 500,
  RESPONSE_CIRCUIT_OPEN: 500,
}

/** Both may have called an endpoint of their own, whose failure has another status there. */
function isOtherStatus({ code, error, comparison: { peer } }: Case): boolean {
  if (code === undefined) return false
  const there = STATUSES_OF_PEER[code]
  if (there !== undefined) return there === peer.answer.status
  return kindForCode(code).lookup === 'unusable' && error.includes('Incorrect status code')
}

/** `{ "error": … }`, which is the root element in XML, or the text of the error of an unreachable primary. */
const isPeerFailure = (value: Json | undefined): boolean =>
  typeof value === 'string' || (isObject(value) && typeof value.error === 'string' && Object.keys(value).length === 1)

/** By its own code, or by its router, which knows fewer characters of paths. */
const isUnknownRoute = ({ answer: { status, value } }: ComparedSide): boolean =>
  status === 404 &&
  (value === 'Not Found' ||
    (isObject(value) && typeof value.error === 'string' && value.error.startsWith('Unknown Endpoint')))

/** True if each value that the peer calls wrong is null in the message. */
function isAllNull({ error, sent }: Case): boolean {
  const faults = error.replace(/^Validation failed: /, '').split(', ')
  return faults.every((text) => {
    const [, location] = /^data\/requestBody\/(\S+) should /.exec(text) ?? []
    return location !== undefined && valueAt(sent, location.split('/')) === null
  })
}

/** The names of a path below `requestBody`; undefined if it has another root. */
function splitBodyPath(path: string): readonly string[] | undefined {
  const [root, ...names] = path.split('.')
  return root === 'requestBody' || root === 'payload' ? names : undefined
}

function appendsText({ mapping, sent }: Case): boolean {
  return mapping.filter(writes('"appendArray"')).some(([source]) => {
    const names = splitBodyPath(source.replace(/\[\]$/, ''))
    const value = names && valueAt(sent, names)
    return typeof value === 'string' || typeof value === 'number'
  })
}

/** True if a path of the mapping, or of a request, reads a name of an array in the message. */
function readsThroughArray({ mapping, sent, comparison: { document } }: Case): boolean {
  const paths = [...mapping.map(([source]) => source), ...listRequestPaths(document?.requests)]
  return paths.some((path) => passesArray(sent, splitBodyPath(path) ?? []))
}

function passesArray(value: Json | undefined, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const own = name.replace(/\[.*$/, '')
  const inner = valueAt(value, [own])
  return (own !== name && Array.isArray(inner) ? inner : [inner]).some((one: Json | undefined) =>
    passesArray(one, rest),
  )
}

function findPrimary(document: EndpointDocument): string | undefined {
  const requests = listRequests(document, 'response')
  const marked = requests.find(
    ({ primary, config }) => primary === true || (isObject(config) && config.primary === true),
  )
  return requests.length > 1 && typeof marked?.id === 'string' ? marked.id : undefined
}

function decoded(url: string): string {
  const text = url.replaceAll('+', ' ')
  return attempt(() => decodeURIComponent(text)) ?? text
}

/** True if the body of a call is the XML of the JSON that the peer sent. */
function isSentAsXml(peer: Json | undefined, here: Json | undefined): boolean {
  if (peer === undefined) return false
  try {
    const xml = Buffer.from(CODECS.xml.build(peer))
    return isSame(readBody(xml, readMediaType(CODECS.xml.mediaType)).value, here)
  } catch (thrown) {
    if (thrown instanceof Unwritable) return false
    throw thrown
  }
}

/** RFC 3986 section 3.3: any other character than those of a segment. */
const NOT_IN_A_SEGMENT = /[^A-Za-z0-9\-._~!$&'()*+,;=:@]/

/** True if a value of the message that goes into the path of a URL has a character that a path cannot hold. */
function hasValueToEncode({ sent, comparison: { document, message } }: Case): boolean {
  if (document === undefined) return false
  return [...listRequests(document, 'lookup'), ...listRequests(document, 'response')].some(({ config }) => {
    const url = isObject(config) && isObject(config.params) && isObject(config.params.url) ? config.params.url : {}
    return Object.values(url)
      .filter(isObject)
      .some(({ path }) => {
        const [root, ...names] = String(path).split('.')
        const own = root === 'query' ? (message.query as JsonObject) : sent
        const value = root === 'query' || splitBodyPath(String(path)) ? valueAt(own, names) : undefined
        return typeof value === 'string' && NOT_IN_A_SEGMENT.test(value)
      })
  })
}

/** How far the clock of the peer may be off. */
const CLOCKS_DIFFER_MS = 5_000

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/

/** True if a value is a time, as ISO 8601 or in milliseconds, at which a service ran the message. */
function isTimeOfRun(value: Json | undefined, { times }: ComparedSide): boolean {
  const time = typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(value) : value
  if (typeof time !== 'number') return false
  return time >= times.sentAt - CLOCKS_DIFFER_MS && time <= times.answeredAt + CLOCKS_DIFFER_MS
}

/** True if an entry writes a value of such an expression to this name. */
function isRandom(segments: readonly string[], { mapping, comparison: { document } }: Case): boolean {
  const transforms = document?.inputTransforms
  const name = segments.findLast((segment) => !isIndex(segment))
  if (!isObject(transforms) || name === undefined) return false
  return mapping.filter(writes(`${name}"`)).some(([source]) => {
    const [, transform] = /^transforms\.(.*)$/s.exec(source) ?? []
    const text = transform !== undefined && Object.hasOwn(transforms, transform) ? transforms[transform] : ''
    return /\$(?:random|shuffle)\b/.test(String(text))
  })
}

/** True if the place is empty with the peer and missing here, or elements of an array around it are. */
function isEmptyParent({ peer, here, comparison }: Case, location: BodyLocation): boolean {
  const isXml = comparison.peer.answer.mediaType === CODECS.xml.mediaType
  const isEmpty = (value: Json | undefined) =>
    (typeof value === 'object' && value !== null && isHollow(value, isXml)) || (isXml && value === '')
  if ((here ?? null) === null && isEmpty(peer)) return true
  return around(location).some(
    ([list, own]) =>
      Array.isArray(list) &&
      Array.isArray(own) &&
      list.some(isEmpty) &&
      isSame(withoutHollow(list, isXml), withoutHollow(own, isXml)),
  )
}

/** The values of both services at a place and at those around it, from the nearest. */
const around = ({ peer, here, segments }: BodyLocation): readonly (readonly [Json | undefined, Json | undefined])[] =>
  Array.from({ length: segments.length + 1 }, (_, up) => {
    const location = segments.slice(0, segments.length - up)
    return [valueAt(peer, location), valueAt(here, location)] as const
  })

function withoutHollow(value: Json, xml: boolean): Json {
  if (Array.isArray(value)) return value.filter((one) => !isHollow(one, xml)).map((one) => withoutHollow(one, xml))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([, one]) => one === null || !isHollow(one, xml))
  return Object.fromEntries(kept.map(([name, one]) => [name, withoutHollow(one, xml)]))
}

/** True if an array around the place has the same elements in both, or the message has arrays within arrays. */
function isJoinedOtherwise({ peer, here, sent }: Case, location: BodyLocation): boolean {
  const isSameJoined = ([list, own]: readonly [Json | undefined, Json | undefined]) =>
    Array.isArray(list) && Array.isArray(own) && isSame(joined(list), joined(own))
  if (around(location).some(isSameJoined)) return true
  return (location.segments.some(isIndex) || [peer, here].some(Array.isArray)) && hasNestedArray(sent)
}

const joined = (list: readonly Json[]): readonly Json[] =>
  list.flatMap((one) => (Array.isArray(one) ? joined(one) : [one]))

function hasNestedArray(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value) && value.some(Array.isArray)) return true
  return Object.values(value).some(hasNestedArray)
}

/** True if the elements of a list all have the same value at the place with the peer, and the mapping shares one among them. */
function isSharedValue({ mapping }: Case, { peer, segments }: BodyLocation): boolean {
  const at = segments.findIndex(isIndex)
  const list = at === -1 ? undefined : valueAt(peer, segments.slice(0, at))
  if (!Array.isArray(list)) return false
  const [first, ...others] = list.map((one: Json) => valueAt(one, segments.slice(at + 1)))
  if (first === undefined || !others.every((one) => isSame(one, first))) return false
  return mapping.filter(writes('"oneToAllElements"')).some(([source]) => source.startsWith('constants.'))
}

/** True if a field of the output holds what a lookup or a response request answered. */
function isOfOthers(field: string, { mapping, comparison: { document } }: Case): boolean {
  if (document === undefined) return false
  if (listRequests(document, 'response').length > 0) return true
  if (mapping.length === 0) return field === 'lookupRequests'
  return mapping.filter(writes(`"${field}`)).some(([source]) => source.startsWith('lookupRequests'))
}
