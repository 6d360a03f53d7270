/** Deliberate differences in what mappings read and write. */
import type { Json } from '../../domain/json.ts'
import { parseMediaType } from '../../formats/media-type.ts'
import type { Comparison } from '../compare-answers.ts'
import { type Difference, isSame } from '../differences.ts'
import { requestsOf } from '../endpoint-documents.ts'
import { readBody } from '../received-answer.ts'
import { bodySegments, type DeliberateRule, inputMappingOf, isHollow, isIn, isXml, valueAt } from './deliberate-rule.ts'
import { isTimeOfMessage } from './times-of-message.ts'

export const VALUE_RULES = {
  'time-of-message': {
    reason: 'Both are the time at which each service ran the message.',
    explains: ({ path, peer, here }, comparison) => isIn(path, '/body') && isTimeOfMessage(peer, here, comparison),
  },
  'empty-parents': {
    reason: 'A missing value adds no field; the peer adds the empty objects and arrays that lead to it.',
    explains: ({ path, peer, here }, comparison) =>
      isIn(path, '/body') && (here ?? null) === null && peer !== undefined && isHollow(peer, isXml(comparison)),
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

/** Whether an array around the place has the same elements in both answers, or the message has arrays within arrays there. */
function isJoinedOtherwise({ path, peer, here }: Difference, { message, ...sides }: Comparison): boolean {
  const segments = bodySegments(path)
  for (let length = segments.length; length >= 0; length--) {
    const place = segments.slice(0, length)
    const lists = [valueAt(sides.peer.answer.value, place), valueAt(sides.here.answer.value, place)]
    if (lists.every(Array.isArray) && isSame(joined(lists[0]), joined(lists[1]))) return true
  }
  const isInList = segments.some((segment) => /^\d+$/.test(segment)) || Array.isArray(peer) || Array.isArray(here)
  if (!isInList || message.body === undefined) return false
  return hasNestedArray(readBody(message.body, parseMediaType(message.headers['content-type'] ?? '')).value)
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
