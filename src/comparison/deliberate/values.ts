/** Deliberate differences in what mappings read and write. */
import { isObject, type Json } from '../../domain/json.ts'
import type { Comparison } from '../compare-answers.ts'
import { type Difference, isSame } from '../differences.ts'
import { requestsOf } from '../endpoint-documents.ts'
import {
  bodyOf,
  bodySegments,
  type DeliberateRule,
  inputMappingOf,
  isHollow,
  isIn,
  isXml,
  valueAt,
} from './deliberate-rule.ts'
import { isTimeOfMessage } from './times-of-message.ts'

export const VALUE_RULES = {
  'time-of-message': {
    reason: 'Both are the time at which each service ran the message.',
    explains: ({ path, peer, here }, comparison) => isIn(path, '/body') && isTimeOfMessage(peer, here, comparison),
  },
  'empty-parents': {
    reason: 'A missing value adds no field; the peer adds the empty objects and arrays that lead to it.',
    explains: (difference, comparison) => isIn(difference.path, '/body') && isEmptyParent(difference, comparison),
  },
  'null-targets': {
    reason:
      'A target that ends in "?" keeps a null, and writes nothing for a missing value; the peer writes null for both.',
    explains: ({ path, peer, here }, { document }) =>
      peer === null &&
      here === undefined &&
      JSON.stringify(Object.values(inputMappingOf(document))).includes(`${bodySegments(path).at(-1)}?"`),
  },
  'lists-of-one': {
    reason:
      'A path with "[]" gives a list also if it finds a single value, as an XML element that occurs once; the peer gives the value.',
    explains: ({ path, peer, here }) =>
      isIn(path, '/body') && peer !== undefined && Array.isArray(here) && here.length === 1 && isSame(peer, here[0]),
  },
  'nested-arrays': {
    reason:
      'Lists within lists are joined where a path reads their elements, and kept where the value is copied; the peer does either by what it finds.',
    explains: (difference, comparison) => isIn(difference.path, '/body') && isJoinedOtherwise(difference, comparison),
  },
  'wildcard-places': {
    reason:
      '"*" gives a list with a place for every field; the peer leaves out those without the value, and gives no empty list.',
    explains: ({ path, peer, here }, { document }) =>
      isIn(path, '/body') &&
      peer === undefined &&
      isHollow(here) &&
      Object.keys(inputMappingOf(document)).some((source) => source.includes('*')),
  },
  'empty-answers': {
    reason:
      'An empty answer of another system, or a list without values in a query, is nothing; the peer takes it for an empty text.',
    explains: ({ path, peer, here }, comparison) =>
      isIn(path, '/body') && peer === '' && (here === undefined || here === null) && isOfOthers(path, comparison),
  },
  'xml-white-space': {
    reason: 'White space is trimmed also from an element that has nothing else.',
    explains: ({ peer, here }) => typeof peer === 'string' && peer !== '' && peer.trim() === '' && here === '',
  },
} as const satisfies Readonly<Record<string, DeliberateRule>>

/** Whether the place is empty with the peer and missing here, or elements of an array around it are. */
function isEmptyParent({ path, peer, here }: Difference, comparison: Comparison): boolean {
  const xml = isXml(comparison)
  if ((here ?? null) === null && isEmptyContainer(peer, xml)) return true
  return placesAround(path).some((place) => {
    const [list, own] = valuesAt(place, comparison)
    if (!Array.isArray(list) || !Array.isArray(own) || !list.some((one) => isEmptyContainer(one, xml))) return false
    return isSame(withoutHollow(list, xml), withoutHollow(own, xml))
  })
}

const isEmptyContainer = (value: Json | undefined, xml: boolean): boolean =>
  (typeof value === 'object' && value !== null && isHollow(value, xml)) || (xml && value === '')

/** The pointers' segments of the values around a place, from the nearest. */
function placesAround(path: string): readonly (readonly string[])[] {
  const segments = bodySegments(path)
  return segments.map((_, at) => segments.slice(0, segments.length - 1 - at))
}

const valuesAt = (place: readonly string[], { peer, here }: Comparison): readonly (Json | undefined)[] => [
  valueAt(peer.answer.value, place),
  valueAt(here.answer.value, place),
]

function withoutHollow(value: Json, xml: boolean): Json {
  if (Array.isArray(value)) return value.filter((one) => !isHollow(one, xml)).map((one) => withoutHollow(one, xml))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([, one]) => one === null || !isHollow(one, xml))
  return Object.fromEntries(kept.map(([name, one]) => [name, withoutHollow(one, xml)]))
}

/** Whether an array around the place has the same elements in both answers, or the message has arrays within arrays there. */
function isJoinedOtherwise({ path, peer, here }: Difference, comparison: Comparison): boolean {
  const lists = [bodySegments(path), ...placesAround(path)].map((place) => valuesAt(place, comparison))
  const isSameJoined = lists.some((pair) => pair.every(Array.isArray) && isSame(joined(pair[0]), joined(pair[1])))
  if (isSameJoined) return true
  const isInList = bodySegments(path).some((segment) => /^\d+$/.test(segment)) || [peer, here].some(Array.isArray)
  return isInList && hasNestedArray(bodyOf(comparison))
}

const joined = (list: Json | undefined): Json => (Array.isArray(list) ? list.flat(Number.POSITIVE_INFINITY) : [])

function hasNestedArray(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value) && value.some(Array.isArray)) return true
  return Object.values(value).some(hasNestedArray)
}

/** Whether the place holds what a lookup or a response request answered. */
function isOfOthers(path: string, { document }: Comparison): boolean {
  if (document === undefined) return false
  if (requestsOf(document, 'response').length > 0) return true
  const [field = ''] = bodySegments(path)
  const entries = Object.entries(inputMappingOf(document))
  if (entries.length === 0) return field === 'lookupRequests'
  return entries.some(
    ([source, target]) => source.startsWith('lookupRequests') && JSON.stringify(target).includes(`"${field}`),
  )
}
