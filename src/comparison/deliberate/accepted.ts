/** Deliberate differences in messages that this service accepts and the peer refuses, or reads less of. */
import { isObject, type Json } from '../../domain/json.ts'
import type { Comparison } from '../compare-answers.ts'
import { failureCodeOf } from '../received-answer.ts'
import {
  bodyOf,
  type DeliberateRule,
  errorOfPeer,
  isHollow,
  isIn,
  isOfAnswer,
  mappingEntries,
  valueAt,
} from './deliberate-rule.ts'

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
