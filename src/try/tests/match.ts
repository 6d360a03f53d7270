/** Compares what a message did with what its test expects: plain values by equality, operators by their own rules. */
import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import { pointerTo } from '../../core/lint.ts'
import type { Pattern } from '../../language/re2-pattern.ts'
import { compiled, contains, isNear, memberNames, type OperatorName, parseOperator, readMember } from './operators.ts'
import type { Mismatch } from './test-file.ts'

/** How a value is compared; one matcher for a test, since it counts the work. */
export type Matcher = Readonly<{
  /** Undefined `actual`: there is no value. Out: the places that differ, none if the value is as expected. */
  mismatches(expected: Json, actual: Json | undefined, location: MatchLocation): readonly Mismatch[]
}>

export type MatchLocation = Readonly<{
  /** JSON Pointer for mismatches. */
  pointer: string
  /** The text that the value was parsed from, for `$text`. */
  text?: string | undefined
  /** Whether objects may have more members than are expected. */
  isPartial?: boolean
  /** The places below that are not compared. */
  ignored?: IgnoredPaths | undefined
}>

/** A place on the way. Most values are as expected, so its pointer is made only when a mismatch names it. */
type Within = Omit<MatchLocation, 'pointer'> & {
  pointer?: string
  /** Where it is; undefined for the whole. */
  readonly above?: Within
  readonly name?: string | number
  /** Whether a mismatch only means that another value is tried. */
  readonly isTried?: boolean
}

/**
 * About the nanoseconds that one matcher may take, since other work waits for it: `$contains` compares each item with each
 * other one, and a pattern may take long for each character.
 */
const MAX_WORK = 40_000_000
const WORK = { comparison: 100, scalar: 10, choice: 3, name: 50, mismatch: 1_000 } as const
/** The owner of an item that no expectation has taken. */
const NO_OWNER = -1
/** Compared, or searched for another text. */
const CHARACTERS = { compared: 0.2, searched: 5 } as const

export class TooManyComparisons extends Error {
  override readonly name = 'TooManyComparisons'
  override readonly message =
    'Comparing what is expected here takes too many steps; expect less, use fewer alternatives, or simpler patterns.'
  /** JSON Pointer. */
  readonly pointer: string
  constructor(pointer: string) {
    super()
    this.pointer = pointer
  }
}

/** A method of the matcher throws TooManyComparisons. */
export function createMatcher(): Matcher {
  const patterns = new Map<string, Pattern>()
  const operators = new Map<Json, ReturnType<typeof parseOperator>>()
  const texts = new Map<Json, string>()
  let left = MAX_WORK

  const spend = (work: number, location: Within): void => {
    left -= work
    if (left < 0) throw new TooManyComparisons(toPointer(location))
  }

  const report = (location: Within, message: string, values: Omit<Mismatch, 'path' | 'message'> = {}): Mismatch => {
    if (location.isTried) return { path: '', message }
    spend(WORK.mismatch, location)
    return { path: toPointer(location), ...values, message }
  }
  const wrong = (expected: Json, actual: Json, location: Within, message?: string): Mismatch =>
    report(location, message ?? (location.isTried ? '' : otherValue(expected, actual)), { expected, actual })
  const missing = (expected: Json | undefined, location: Within): Mismatch =>
    report(location, 'There is no value.', expected === undefined ? {} : { expected })
  const unexpected = (actual: Json, location: Within): readonly Mismatch[] =>
    location.ignored?.isWhole ? [] : [report(location, 'The value is not expected.', { actual })]

  const mismatches = (expected: Json, actual: Json | undefined, location: Within): readonly Mismatch[] => {
    spend(WORK.comparison, location)
    if (location.ignored?.isWhole) return []
    const operator = knownOperator(expected)
    if (operator !== undefined) return byOperator[operator.name](operator.operand, actual, location)
    if (actual === undefined) return [missing(expected, location)]
    if (Array.isArray(expected)) return listMismatches(expected, actual, location)
    if (isObject(expected)) return objectMismatches(expected, actual, location)
    return isSame(expected, actual, location) ? [] : [wrong(expected, actual, location)]
  }

  /** An object is compared many times, and may have many members. */
  const knownOperator = (expected: Json): ReturnType<typeof parseOperator> => {
    if (!isObject(expected)) return undefined
    if (!operators.has(expected)) operators.set(expected, parseOperator(expected))
    return operators.get(expected)
  }

  const otherValue = (expected: Json, actual: Json): string => {
    const [wanted, found] = [typeName(expected), typeName(actual)]
    const isOtherType = wanted !== found && knownOperator(expected) === undefined
    return isOtherType ? `The value is ${article(found)}, not ${article(wanted)}.` : 'The value differs.'
  }

  const isSame = (expected: Json, actual: Json, location: Within): boolean => {
    const isText = typeof expected === 'string' && typeof actual === 'string' && expected.length === actual.length
    if (isText) spend(expected.length * CHARACTERS.compared, location)
    // `===` takes -0 for 0, as JSON does.
    return expected === actual
  }

  function listMismatches(expected: readonly Json[], actual: Json, location: Within): readonly Mismatch[] {
    if (!Array.isArray(actual)) return [wrong(expected, actual, location)]
    const common = Math.min(expected.length, actual.length)
    const differing = expected
      .slice(0, common)
      .flatMap((item, index) => mismatches(item, actual[index], inside(location, index)))
    const lacking = expected.slice(common).flatMap((item, index) => {
      const at = inside(location, common + index)
      return at.ignored?.isWhole ? [] : [missing(item, at)]
    })
    spend((actual.length - common) * WORK.comparison, location)
    const extra = actual
      .slice(common)
      .flatMap((item: Json, index) => unexpected(item, inside(location, common + index)))
    return [...differing, ...lacking, ...extra]
  }

  function objectMismatches(expected: JsonObject, actual: Json, location: Within): readonly Mismatch[] {
    if (!isObject(actual)) return [wrong(expected, actual, location)]
    const members = Object.entries(expected)
    spend(members.length * WORK.name, location)
    const differing = members.flatMap(([name, value]) =>
      mismatches(value, Object.hasOwn(actual, name) ? actual[name] : undefined, inside(location, name)),
    )
    if (location.isPartial) return differing
    const found = Object.entries(actual)
    spend(found.length * WORK.name, location)
    const extra = found.flatMap(([name, value]) =>
      Object.hasOwn(expected, name) ? [] : unexpected(value, inside(location, name)),
    )
    return [...differing, ...extra]
  }

  const isAsExpected = (expected: Json, actual: Json | undefined, location: Within): boolean =>
    mismatches(expected, actual, { ...location, isTried: true }).length === 0

  const present =
    (check: (operand: Json, actual: Json, location: Within) => readonly Mismatch[]): Check =>
    (operand, actual, location) =>
      actual === undefined ? [missing(operand, location)] : check(operand, actual, location)

  type Check = (operand: Json, actual: Json | undefined, location: Within) => readonly Mismatch[]

  const byOperator: Readonly<Record<OperatorName, Check>> = {
    $any: (_operand, actual, location) => (actual === undefined ? [missing(undefined, location)] : []),
    $absent: (_operand, actual, location) => (actual === undefined ? [] : unexpected(actual, location)),
    $literal: (operand, actual, location) => literalMismatches(operand, actual, location),
    $contains: present((operand, actual, location) => {
      if (typeof operand === 'string') {
        if (typeof actual !== 'string') return [wrong({ $contains: operand }, actual, location)]
        spend((actual.length + operand.length) * CHARACTERS.searched, location)
        if (contains(actual, operand)) return []
        return [wrong({ $contains: operand }, actual, location, 'The text does not contain what is expected.')]
      }
      const partial = { ...location, isPartial: true }
      if (!Array.isArray(operand)) return mismatches(operand, actual, partial)
      if (!Array.isArray(actual)) return [wrong({ $contains: operand }, actual, location)]
      const message = 'No item of the array matches, or each matching item is already used for another.'
      return unmatchedItems(operand, actual, partial).map((expected) => report(location, message, { expected }))
    }),
    $items: present((operand, actual, location) =>
      Array.isArray(actual)
        ? actual.flatMap((item: Json, index) => mismatches(operand, item, inside(location, index)))
        : [wrong({ $items: operand }, actual, location)],
    ),
    $type: present((operand, actual, location) => {
      const types: readonly Json[] = Array.isArray(operand) ? operand : [operand]
      const type = typeName(actual)
      const isKnown = types.includes(type) || (types.includes('integer') && Number.isInteger(actual))
      return isKnown ? [] : [wrong({ $type: operand }, actual, location, `The value is ${article(type)}.`)]
    }),
    $matches: present((operand, actual, location) => {
      const isMatch = typeof actual === 'string' && matches(operand as string, actual, location)
      return isMatch ? [] : [wrong({ $matches: operand }, actual, location, 'The value does not match the pattern.')]
    }),
    $oneOf: (operand, actual, location) => {
      const isOne = (operand as readonly Json[]).some((option) => isAsExpected(option, actual, location))
      if (isOne) return []
      const values = { expected: { $oneOf: operand }, ...(actual === undefined ? {} : { actual }) }
      return [report(location, 'The value is none of those expected.', values)]
    },
    $near: present((operand, actual, location) => {
      if (typeof actual === 'string') spend(actual.length * CHARACTERS.searched, location)
      return isNear(operand, actual)
        ? []
        : [wrong({ $near: operand }, actual, location, 'The value is not near the expected one.')]
    }),
    $text: present((operand, actual, location) => {
      const text = location.text ?? (typeof actual === 'string' ? actual : writeJson(actual, location))
      return mismatches(operand, text, { ...location, text: undefined, isPartial: false })
    }),
  }

  /** The names of operators are plain names here, and no member may be missing or too many. */
  const literalMismatches: Check = (expected, actual, location) => {
    spend(WORK.comparison, location)
    if (location.ignored?.isWhole) return []
    if (actual === undefined) return [missing(expected, location)]
    const names = memberNames(expected, actual)
    if (names === undefined) return isSame(expected, actual, location) ? [] : [wrong(expected, actual, location)]
    spend(names.length * WORK.name, location)
    return names.flatMap((name) => {
      const [wanted, found] = [readMember(expected, name), readMember(actual, name)]
      const at = inside(location, name)
      if (wanted === undefined) return found === undefined ? [] : unexpected(found, at)
      return literalMismatches(wanted, found, at)
    })
  }

  const matches = (source: string, text: string, location: Within): boolean => {
    const pattern = patterns.get(source) ?? compiled(source)
    patterns.set(source, pattern)
    spend(text.length * pattern.maxUnitsPerCharacter, location)
    return pattern.test(text)
  }

  const writeJson = (value: Json, location: Within): string => {
    const text = texts.get(value) ?? JSON.stringify(value)
    texts.set(value, text)
    spend(text.length * CHARACTERS.compared, location)
    return text
  }

  /**
   * The expected items for which no item is left. Each takes another item of `actual`: an earlier one gives its item up if it
   * can take another (augmenting paths), so that the order of the expectations does not count.
   */
  function unmatchedItems(expected: readonly Json[], actual: readonly Json[], location: Within): readonly Json[] {
    // Equal texts and numbers share one list.
    const lists = new Map<Json, readonly number[]>()
    const fits = expected.map((item) => {
      const list = lists.get(item) ?? fittingItems(item, actual, location)
      lists.set(item, list)
      return list
    })
    const owners = new Int32Array(actual.length).fill(NO_OWNER)
    const take = (item: number, tried: Set<number>): boolean => {
      const own = fits[item] ?? []
      spend(own.length * WORK.choice, location)
      const free = own.find((index) => owners[index] === NO_OWNER)
      if (free !== undefined) {
        owners[free] = item
        return true
      }
      for (const index of own) {
        if (tried.has(index)) continue
        tried.add(index)
        if (!take(owners[index] as number, tried)) continue
        owners[index] = item
        return true
      }
      return false
    }
    return expected.filter((_item, index) => !take(index, new Set()))
  }

  function fittingItems(expected: Json, actual: readonly Json[], location: Within): readonly number[] {
    const fitting: number[] = []
    const isScalar = (typeof expected !== 'object' || expected === null) && location.ignored === undefined
    if (isScalar) spend(actual.length * WORK.scalar, location)
    for (let index = 0; index < actual.length; index += 1) {
      const item = actual[index] ?? null
      if (isScalar ? isSame(expected, item, location) : isAsExpected(expected, item, inside(location, index)))
        fitting.push(index)
    }
    return fitting
  }

  return { mismatches }
}

const inside = (location: Within, name: string | number): Within => ({
  above: location,
  name,
  isPartial: location.isPartial ?? false,
  isTried: location.isTried ?? false,
  ignored: location.ignored?.inner.get(String(name)),
})

function toPointer(location: Within): string {
  location.pointer ??= location.above === undefined ? '' : pointerTo(toPointer(location.above), location.name ?? '')
  return location.pointer
}

const article = (type: string): string => (type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`)

// The places of a body that tests do not compare (`ignore`), as a tree: they are looked up at each step on the way.

/** Places by the names that lead to them. */
type IgnoredPaths = Readonly<{ isWhole: boolean; inner: ReadonlyMap<string, IgnoredPaths> }>

/** In: JSON Pointers. Out: undefined if there are none. */
export function ignoredPaths(pointers: readonly string[]): IgnoredPaths | undefined {
  return ignoredBelow(
    pointers.map((pointer) =>
      pointer
        .split('/')
        .slice(1)
        .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')),
    ),
  )
}

function ignoredBelow(paths: readonly (readonly string[])[]): IgnoredPaths | undefined {
  if (paths.length === 0) return undefined
  const inner = new Map<string, IgnoredPaths>()
  const longer = paths.filter((path) => path.length > 0)
  for (const [name, some] of Map.groupBy(longer, ([first = '']) => first)) {
    const below = ignoredBelow(some.map((path) => path.slice(1)))
    if (below !== undefined) inner.set(name, below)
  }
  return { isWhole: longer.length < paths.length, inner }
}
