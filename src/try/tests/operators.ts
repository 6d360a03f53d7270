/**
 * The operators of expectations. An object whose only member has one of these names is an operator; beside other members
 * such a name is a plain member.
 */
import { readMoment } from '../../core/iso-time.ts'
import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { nearest } from '../../core/nearest.ts'
import { compilePattern, type Pattern } from '../../language/re2-pattern.ts'

const OPERATORS = [
  '$contains',
  '$items',
  '$type',
  '$matches',
  '$any',
  '$absent',
  '$oneOf',
  '$near',
  '$text',
  '$literal',
] as const

export type OperatorName = (typeof OPERATORS)[number]

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const

/** The operator that the value is; undefined if it is plain. */
export function parseOperator(value: Json): Readonly<{ name: OperatorName; operand: Json }> | undefined {
  if (!isObject(value)) return undefined
  const [name, ...others] = Object.keys(value)
  if (name === undefined || others.length > 0) return undefined
  const known = OPERATORS.find((operator) => operator === name)
  return known && { name: known, operand: value[known] as Json }
}

/** Instructions that the patterns of one file may still have; other work waits while they are compiled. */
export type PatternRoom = { left: number }
const PATTERN_INSTRUCTIONS = 20_000
/** One that is refused may have been compiled in part. */
const REFUSED_INSTRUCTIONS = 1_000
export const newPatternRoom = (): PatternRoom => ({ left: PATTERN_INSTRUCTIONS })

/** Lints the operators in an expectation: operands that they do not take, and names that were probably meant as operators. */
export function lintExpectation(expected: Json, lint: LintSink, room = newPatternRoom()): void {
  const operator = parseOperator(expected)
  if (operator !== undefined) lintOperand(operator.name, operator.operand, lint.at(operator.name), room)
  else if (Array.isArray(expected)) lintItems(expected, lint, room)
  else if (isObject(expected)) lintMembers(expected, lint, room)
}

function lintItems(expected: readonly Json[], lint: LintSink, room: PatternRoom): void {
  for (const [index, item] of expected.entries()) lintExpectation(item, lint.at(index), room)
}

function lintMembers(expected: JsonObject, lint: LintSink, room: PatternRoom): void {
  const names = Object.keys(expected)
  for (const [name, value] of Object.entries(expected)) {
    const sink = lint.at(name)
    if (OPERATORS.some((operator) => operator === name)) {
      sink.warning(
        `"${name}" has other members next to it, so it is a plain name; an operator is the only member of its object.`,
      )
    } else if (names.length === 1 && name.startsWith('$') && name.length > 1) {
      const meant = nearest(name, OPERATORS)
      if (meant !== undefined) {
        sink.error(
          `There is no operator "${name}"; did you mean "${meant}"? For a member of this name, write it in "$literal".`,
        )
      }
    }
    lintExpectation(value, sink, room)
  }
}

function lintOperand(name: OperatorName, operand: Json, lint: LintSink, room: PatternRoom): void {
  const accepts = OPERANDS[name](operand, lint, room)
  if (accepts !== undefined) lint.error(`"${name}" takes ${accepts}, not ${described(operand)}.`)
}

const described = (operand: Json): string =>
  typeof operand === 'string' && operand.length <= 40 ? JSON.stringify(operand) : `this ${typeName(operand)}`

type CheckOperand = (operand: Json, lint: LintSink, room: PatternRoom) => string | undefined

const ONLY_TRUE: CheckOperand = (operand) => (operand === true ? undefined : 'true')

/** What the operator takes, if the operand is something else. */
const OPERANDS: Readonly<Record<OperatorName, CheckOperand>> = {
  $contains: (operand, lint, room) => {
    if (typeof operand === 'string') return undefined
    if (!isObject(operand) && !Array.isArray(operand)) return 'an object, an array or a string'
    lintExpectation(operand, lint, room)
    return undefined
  },
  $items: (operand, lint, room) => void lintExpectation(operand, lint, room),
  $type: (operand) => {
    const names: readonly Json[] = Array.isArray(operand) ? operand : [operand]
    const isKnown = names.length > 0 && names.every((one) => TYPES.some((type) => type === one))
    return isKnown ? undefined : `one of ${TYPES.map((type) => `"${type}"`).join(', ')}, or an array of these`
  },
  $matches: (operand, lint, room) => {
    if (typeof operand !== 'string') return 'a regular expression as a string'
    if (room.left < 0) return undefined
    const pattern = compilePattern(operand)
    if (!pattern.ok) lint.error(`In "${lint.path}", ${pattern.message}`)
    room.left -= pattern.ok ? pattern.value.size : REFUSED_INSTRUCTIONS
    if (room.left >= 0) return undefined
    const max = PATTERN_INSTRUCTIONS.toLocaleString('en')
    lint.error(
      `The patterns up to here have more than ${max} instructions; use fewer, or lower the counts of their repeats.`,
    )
    return undefined
  },
  $any: ONLY_TRUE,
  $absent: ONLY_TRUE,
  $oneOf: (operand, lint, room) => {
    if (!Array.isArray(operand) || operand.length === 0) return 'an array with at least one expectation'
    lintItems(operand, lint, room)
    return undefined
  },
  $near: (operand) => (parseNear(operand) === undefined ? NEAR : undefined),
  $text: (operand, lint, room) => {
    if (typeof operand === 'string') return undefined
    const { name = undefined } = parseOperator(operand) ?? {}
    if (name === undefined) return 'a string, or an operator on strings such as { "$matches": "…" }'
    lintExpectation(operand, lint, room)
    return undefined
  },
  $literal: () => undefined,
}

const NEAR =
  '{ "value": …, "within": … }: a number and how far from it, or a time (ISO 8601 with an offset) and milliseconds'

/** A number, or a time in milliseconds since the epoch. */
type Near = Readonly<{ value: number; within: number; isTime: boolean }>

function parseNear(operand: Json): Near | undefined {
  if (!isObject(operand) || Object.keys(operand).length !== 2) return undefined
  const { value, within } = operand
  if (typeof within !== 'number' || within < 0) return undefined
  if (typeof value === 'number') return { value, within, isTime: false }
  const ms = typeof value === 'string' ? parseTime(value) : undefined
  return ms === undefined ? undefined : { value: ms, within, isTime: true }
}

/** Milliseconds since the epoch; undefined for a text that is no time with an offset, which would depend on the time zone. */
export const parseTime = (text: string): number | undefined => (text.includes('T') ? readMoment(text) : undefined)

// What matchers need to compare two values, beside `===`.

/** Up to so many pairs of characters the engine may compare. */
const MAX_PAIRS = 1_000_000

/** Whether a text contains another one. The search of the engine takes up to the product of both lengths: tens of seconds for texts of a megabyte. */
export function contains(text: string, part: string): boolean {
  if (text.length * part.length <= MAX_PAIRS) return text.includes(part)
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
  const near = parseNear(operand)
  if (near === undefined) return false
  const value = near.isTime ? (typeof actual === 'string' ? parseTime(actual) : undefined) : parseNumber(actual)
  if (value === undefined) return false
  // The difference of two decimal fractions is rarely exact.
  const slack = Number.EPSILON * (Math.abs(value) + Math.abs(near.value))
  return Math.abs(value - near.value) <= near.within + slack
}

function parseNumber(value: Json): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) return undefined
  return Number(value)
}

/** The members of both, if both are objects or both arrays. */
export function memberNames(one: Json, other: Json): readonly string[] | undefined {
  const isBoth = (isObject(one) && isObject(other)) || (Array.isArray(one) && Array.isArray(other))
  return isBoth ? [...new Set([...Object.keys(one), ...Object.keys(other)])] : undefined
}

export const readMember = (value: Json, name: string): Json | undefined =>
  Object.hasOwn(value as JsonObject, name) ? (value as JsonObject)[name] : undefined

/** The tests were checked before they run. */
export function compiled(source: string): Pattern {
  const pattern = compilePattern(source)
  if (!pattern.ok) throw new TypeError(pattern.message)
  return pattern.value
}
