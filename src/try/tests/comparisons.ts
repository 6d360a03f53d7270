/** What matchers need to compare two values, beside `===`. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { compilePattern, type Pattern } from '../../language/re2-pattern.ts'
import { nearOf, timeOf } from './operators.ts'

/** Up to so many pairs of characters the engine may compare. */
const MOST_PAIRS = 1_000_000

/** Whether a text contains another one. The search of the engine takes up to the product of both lengths: tens of seconds for texts of a megabyte. */
export function contains(text: string, part: string): boolean {
  if (text.length * part.length <= MOST_PAIRS) return text.includes(part)
  // Knuth, Morris and Pratt (1977): how much of the part still matches where its next character does not.
  const matched = new Uint32Array(part.length)
  let length = 0
  for (let at = 1; at < part.length; at += 1) {
    while (length > 0 && part.charCodeAt(at) !== part.charCodeAt(length)) length = matched[length - 1] ?? 0
    if (part.charCodeAt(at) === part.charCodeAt(length)) length += 1
    matched[at] = length
  }
  length = 0
  for (let at = 0; at < text.length; at += 1) {
    while (length > 0 && text.charCodeAt(at) !== part.charCodeAt(length)) length = matched[length - 1] ?? 0
    if (text.charCodeAt(at) === part.charCodeAt(length)) length += 1
    if (length === part.length) return true
  }
  return false
}

/** XML has texts only, so a text that is written as a number counts as one. Both ends count. */
export function isNear(operand: Json, actual: Json): boolean {
  const near = nearOf(operand)
  if (near === undefined) return false
  const value = near.isTime ? (typeof actual === 'string' ? timeOf(actual) : undefined) : numberOf(actual)
  if (value === undefined) return false
  // The difference of two decimal fractions is rarely exact.
  const slack = Number.EPSILON * (Math.abs(value) + Math.abs(near.value))
  return Math.abs(value - near.value) <= near.within + slack
}

function numberOf(value: Json): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) return undefined
  return Number(value)
}

/** The members of both, if both are objects or both arrays. */
export function memberNames(one: Json, other: Json): readonly string[] | undefined {
  const isBoth = (isObject(one) && isObject(other)) || (Array.isArray(one) && Array.isArray(other))
  return isBoth ? [...new Set([...Object.keys(one), ...Object.keys(other)])] : undefined
}

export const memberOf = (value: Json, name: string): Json | undefined =>
  Object.hasOwn(value as JsonObject, name) ? (value as JsonObject)[name] : undefined

/** The tests were checked before they run. */
export function compiled(source: string): Pattern {
  const pattern = compilePattern(source)
  if (!pattern.ok) throw new TypeError(pattern.message)
  return pattern.value
}
