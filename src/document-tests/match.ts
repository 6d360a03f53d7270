/** Compares what a message did with what its test expects: plain values by equality, operators by their own rules. */
import { isObject, type Json, type JsonObject, typeName } from '../domain/json.ts'
import { compilePattern, type Pattern } from '../language/re2-pattern.ts'
import { nearOf, type OperatorName, operatorOf, timeOf } from './operators.ts'
import type { Mismatch } from './test-report.ts'

/** How a value is compared; one matcher for a test, since it counts the work. */
export type Matcher = Readonly<{
  /** Undefined `actual`: there is no value. Out: the places that differ, none if the value is as expected. */
  mismatches(expected: Json, actual: Json | undefined, place: Place): readonly Mismatch[]
}>

export type Place = Readonly<{
  /** JSON Pointer for mismatches. */
  pointer: string
  /** The text that the value was parsed from, for `$text`. */
  text?: string | undefined
  /** Whether objects may have more members than are expected. */
  isPartial?: boolean
  /** Whether the value at this pointer is not compared. */
  ignores?: ((pointer: string) => boolean) | undefined
}>

/** Comparisons of two values in one test: `$contains` compares each item with each other one. */
const MOST_COMPARISONS = 2_000_000

export class TooManyComparisons extends Error {
  override readonly name = 'TooManyComparisons'
  override readonly message =
    `Comparing takes more than ${MOST_COMPARISONS.toLocaleString('en')} steps; expect less, or use a shorter "$contains".`
}

/** A method of the matcher throws TooManyComparisons. */
export function createMatcher(): Matcher {
  const patterns = new Map<string, Pattern>()
  let left = MOST_COMPARISONS

  const mismatches: Matcher['mismatches'] = (expected, actual, place) => {
    left -= 1
    if (left < 0) throw new TooManyComparisons()
    if (place.ignores?.(place.pointer)) return []
    const operator = operatorOf(expected)
    if (operator !== undefined) return byOperator[operator.name](operator.operand, actual, place)
    if (actual === undefined) return [missing(expected, place)]
    if (Array.isArray(expected)) return listMismatches(expected, actual, place)
    if (isObject(expected)) return objectMismatches(expected, actual, place)
    // `===` takes -0 for 0, as JSON does.
    return expected === actual ? [] : [wrong(expected, actual, place)]
  }

  function listMismatches(expected: readonly Json[], actual: Json, place: Place): readonly Mismatch[] {
    if (!Array.isArray(actual)) return [wrong(expected, actual, place)]
    const common = Math.min(expected.length, actual.length)
    const differing = expected
      .slice(0, common)
      .flatMap((item, index) => mismatches(item, actual[index], inside(place, index)))
    const lacking = expected.slice(common).flatMap((item, index) => {
      const at = inside(place, common + index)
      return place.ignores?.(at.pointer) ? [] : [missing(item, at)]
    })
    const extra = actual.slice(common).flatMap((item: Json, index) => unexpected(item, inside(place, common + index)))
    return [...differing, ...lacking, ...extra]
  }

  function objectMismatches(expected: JsonObject, actual: Json, place: Place): readonly Mismatch[] {
    if (!isObject(actual)) return [wrong(expected, actual, place)]
    const differing = Object.entries(expected).flatMap(([name, value]) =>
      mismatches(value, Object.hasOwn(actual, name) ? actual[name] : undefined, inside(place, name)),
    )
    if (place.isPartial) return differing
    const extra = Object.entries(actual).flatMap(([name, value]) =>
      Object.hasOwn(expected, name) ? [] : unexpected(value, inside(place, name)),
    )
    return [...differing, ...extra]
  }

  const isAsExpected = (expected: Json, actual: Json | undefined, place: Place): boolean =>
    mismatches(expected, actual, place).length === 0

  const present =
    (check: (operand: Json, actual: Json, place: Place) => readonly Mismatch[]): Check =>
    (operand, actual, place) =>
      actual === undefined ? [missing(operand, place)] : check(operand, actual, place)

  type Check = (operand: Json, actual: Json | undefined, place: Place) => readonly Mismatch[]

  const byOperator: Readonly<Record<OperatorName, Check>> = {
    $any: (_operand, actual, place) => (actual === undefined ? [missing(undefined, place)] : []),
    $absent: (_operand, actual, place) => (actual === undefined ? [] : unexpected(actual, place)),
    $literal: (operand, actual, place) => literalMismatches(operand, actual, place),
    $contains: present((operand, actual, place) => {
      const partial = { ...place, isPartial: true }
      if (typeof operand === 'string') {
        if (typeof actual !== 'string') return [wrong({ $contains: operand }, actual, place)]
        return actual.includes(operand)
          ? []
          : [
              {
                ...wrong({ $contains: operand }, actual, place),
                message: 'The text does not contain what is expected.',
              },
            ]
      }
      if (!Array.isArray(operand)) return mismatches(operand, actual, partial)
      if (!Array.isArray(actual)) return [wrong({ $contains: operand }, actual, place)]
      return unmatchedItems(operand, actual, partial, isAsExpected).map((item) => ({
        path: place.pointer,
        expected: item,
        message: 'No item of the array is as expected, or each such item already stands for another one.',
      }))
    }),
    $items: present((operand, actual, place) =>
      Array.isArray(actual)
        ? actual.flatMap((item: Json, index) => mismatches(operand, item, inside(place, index)))
        : [wrong({ $items: operand }, actual, place)],
    ),
    $type: present((operand, actual, place) => {
      const types: readonly Json[] = Array.isArray(operand) ? operand : [operand]
      const type = typeName(actual)
      const isKnown = types.includes(type) || (types.includes('integer') && Number.isInteger(actual))
      return isKnown ? [] : [{ ...wrong({ $type: operand }, actual, place), message: `The value is ${article(type)}.` }]
    }),
    $matches: present((operand, actual, place) => {
      const isMatch = typeof actual === 'string' && patternOf(operand).test(actual)
      return isMatch
        ? []
        : [{ ...wrong({ $matches: operand }, actual, place), message: 'The value does not match the pattern.' }]
    }),
    $oneOf: (operand, actual, place) => {
      const isOne = (operand as readonly Json[]).some((option) => isAsExpected(option, actual, place))
      if (isOne) return []
      return [{ ...difference({ $oneOf: operand }, actual, place), message: 'The value is none of those expected.' }]
    },
    $near: present((operand, actual, place) =>
      isNear(operand, actual)
        ? []
        : [{ ...wrong({ $near: operand }, actual, place), message: 'The value is not near the expected one.' }],
    ),
    $text: present((operand, actual, place) => {
      const text = place.text ?? (typeof actual === 'string' ? actual : JSON.stringify(actual))
      return mismatches(operand, text, { pointer: place.pointer, ignores: place.ignores })
    }),
  }

  /** The names of operators are plain names here, and no member may be missing or too many. */
  const literalMismatches: Check = (expected, actual, place) => {
    left -= 1
    if (left < 0) throw new TooManyComparisons()
    if (place.ignores?.(place.pointer)) return []
    if (actual === undefined) return [missing(expected, place)]
    const names = memberNames(expected, actual)
    if (names === undefined) return expected === actual ? [] : [wrong(expected, actual, place)]
    return names.flatMap((name) => {
      const [wanted, found] = [memberOf(expected, name), memberOf(actual, name)]
      const at = inside(place, name)
      if (wanted === undefined) return found === undefined ? [] : unexpected(found, at)
      return literalMismatches(wanted, found, at)
    })
  }

  const patternOf = (source: Json): Pattern => {
    const known = patterns.get(source as string)
    if (known !== undefined) return known
    const compiled = compilePattern(source as string)
    if (!compiled.ok) throw new TypeError(compiled.message)
    patterns.set(source as string, compiled.value)
    return compiled.value
  }

  return { mismatches }
}

/** The members of both, if both are objects or both arrays. */
function memberNames(one: Json, other: Json): readonly string[] | undefined {
  const isBoth = (isObject(one) && isObject(other)) || (Array.isArray(one) && Array.isArray(other))
  return isBoth ? [...new Set([...Object.keys(one), ...Object.keys(other)])] : undefined
}

const memberOf = (value: Json, name: string): Json | undefined =>
  Object.hasOwn(value as JsonObject, name) ? (value as JsonObject)[name] : undefined

/**
 * The expected items for which no item is left. Each takes another item of `actual`: an earlier one gives its item up if it
 * can take another (augmenting paths), so that the order of the expectations does not count.
 */
function unmatchedItems(
  expected: readonly Json[],
  actual: readonly Json[],
  place: Place,
  isAsExpected: (expected: Json, actual: Json, place: Place) => boolean,
): readonly Json[] {
  const fits = expected.map((item) =>
    actual.flatMap((candidate, index) => (isAsExpected(item, candidate, inside(place, index)) ? [index] : [])),
  )
  const takenBy = new Map<number, number>()
  const take = (item: number, tried: Set<number>): boolean => {
    for (const index of fits[item] ?? []) {
      if (tried.has(index)) continue
      tried.add(index)
      const owner = takenBy.get(index)
      if (owner === undefined || take(owner, tried)) {
        takenBy.set(index, item)
        return true
      }
    }
    return false
  }
  return expected.filter((_item, index) => !take(index, new Set()))
}

/** XML has texts only, so a text that is written as a number counts as one. Both ends count. */
function isNear(operand: Json, actual: Json): boolean {
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

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const inside = ({ text: _text, ...place }: Place, name: string | number): Place => ({
  ...place,
  pointer: `${place.pointer}/${escaped(String(name))}`,
})

const article = (type: string): string => (type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`)

const difference = (expected: Json, actual: Json | undefined, { pointer }: Place) => ({
  path: pointer,
  expected,
  ...(actual === undefined ? {} : { actual }),
})

function wrong(expected: Json, actual: Json, place: Place): Mismatch {
  const [wanted, found] = [typeName(expected), typeName(actual)]
  const isOtherType = wanted !== found && operatorOf(expected) === undefined
  const message = isOtherType ? `The value is ${article(found)}, not ${article(wanted)}.` : 'The value is another one.'
  return { ...difference(expected, actual, place), message }
}

const missing = (expected: Json | undefined, { pointer }: Place): Mismatch => ({
  path: pointer,
  ...(expected === undefined ? {} : { expected }),
  message: 'There is no value.',
})

const unexpected = (actual: Json, { pointer, ignores }: Place): readonly Mismatch[] =>
  ignores?.(pointer) ? [] : [{ path: pointer, actual, message: 'The value is not expected.' }]
