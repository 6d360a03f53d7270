/** Deliberate differences in what mappings read and write. */
import { isObject, type Json } from '../../domain/json.ts'
import { type SharedConstant, sharedConstants } from '../../language/mapping/shared-constants.ts'
import type { Comparison } from '../compare-answers.ts'
import { type Difference, isSame } from '../differences.ts'
import { requestsOf } from '../endpoint-documents.ts'
import {
  type BodyPlace,
  bodyOf,
  bodyPlace,
  type DeliberateRule,
  isHollow,
  isXml,
  mappingEntries,
  valueAt,
} from './deliberate-rule.ts'
import { isTimeOfMessage } from './times-of-message.ts'

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
