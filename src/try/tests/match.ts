/** Compares what a message did with what its test expects: plain values by equality, operators by their own rules. */
import { isObject, type Json, type JsonObject, typeName } from '../../core/json.ts'
import { pointerTo } from '../../core/lint.ts'
import type { Pattern } from '../../language/re2-pattern.ts'
import { compiled, contains, isNear, memberNames, memberOf, type OperatorName, operatorOf } from './operators.ts'
import type { Mismatch } from './test-file.ts'

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
  /** The places below that are not compared. */
  ignored?: IgnoredPlaces | undefined
}>

/** A place on the way. Most values are as expected, so its pointer is made only when a mismatch names it. */
type Within = Omit<Place, 'pointer'> & {
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
const MOST_WORK = 40_000_000
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
  const operators = new Map<Json, ReturnType<typeof operatorOf>>()
  const texts = new Map<Json, string>()
  let left = MOST_WORK

  const spend = (work: number, place: Within): void => {
    left -= work
    if (left < 0) throw new TooManyComparisons(pointerOf(place))
  }

  const report = (place: Within, message: string, values: Omit<Mismatch, 'path' | 'message'> = {}): Mismatch => {
    if (place.isTried) return { path: '', message }
    spend(WORK.mismatch, place)
    return { path: pointerOf(place), ...values, message }
  }
  const wrong = (expected: Json, actual: Json, place: Within, message?: string): Mismatch =>
    report(place, message ?? (place.isTried ? '' : otherValue(expected, actual)), { expected, actual })
  const missing = (expected: Json | undefined, place: Within): Mismatch =>
    report(place, 'There is no value.', expected === undefined ? {} : { expected })
  const unexpected = (actual: Json, place: Within): readonly Mismatch[] =>
    place.ignored?.isWhole ? [] : [report(place, 'The value is not expected.', { actual })]

  const mismatches = (expected: Json, actual: Json | undefined, place: Within): readonly Mismatch[] => {
    spend(WORK.comparison, place)
    if (place.ignored?.isWhole) return []
    const operator = knownOperator(expected)
    if (operator !== undefined) return byOperator[operator.name](operator.operand, actual, place)
    if (actual === undefined) return [missing(expected, place)]
    if (Array.isArray(expected)) return listMismatches(expected, actual, place)
    if (isObject(expected)) return objectMismatches(expected, actual, place)
    return isSame(expected, actual, place) ? [] : [wrong(expected, actual, place)]
  }

  /** An object is compared many times, and may have many members. */
  const knownOperator = (expected: Json): ReturnType<typeof operatorOf> => {
    if (!isObject(expected)) return undefined
    if (!operators.has(expected)) operators.set(expected, operatorOf(expected))
    return operators.get(expected)
  }

  const otherValue = (expected: Json, actual: Json): string => {
    const [wanted, found] = [typeName(expected), typeName(actual)]
    const isOtherType = wanted !== found && knownOperator(expected) === undefined
    return isOtherType ? `The value is ${article(found)}, not ${article(wanted)}.` : 'The value is another one.'
  }

  const isSame = (expected: Json, actual: Json, place: Within): boolean => {
    const isText = typeof expected === 'string' && typeof actual === 'string' && expected.length === actual.length
    if (isText) spend(expected.length * CHARACTERS.compared, place)
    // `===` takes -0 for 0, as JSON does.
    return expected === actual
  }

  function listMismatches(expected: readonly Json[], actual: Json, place: Within): readonly Mismatch[] {
    if (!Array.isArray(actual)) return [wrong(expected, actual, place)]
    const common = Math.min(expected.length, actual.length)
    const differing = expected
      .slice(0, common)
      .flatMap((item, index) => mismatches(item, actual[index], inside(place, index)))
    const lacking = expected.slice(common).flatMap((item, index) => {
      const at = inside(place, common + index)
      return at.ignored?.isWhole ? [] : [missing(item, at)]
    })
    spend((actual.length - common) * WORK.comparison, place)
    const extra = actual.slice(common).flatMap((item: Json, index) => unexpected(item, inside(place, common + index)))
    return [...differing, ...lacking, ...extra]
  }

  function objectMismatches(expected: JsonObject, actual: Json, place: Within): readonly Mismatch[] {
    if (!isObject(actual)) return [wrong(expected, actual, place)]
    const members = Object.entries(expected)
    spend(members.length * WORK.name, place)
    const differing = members.flatMap(([name, value]) =>
      mismatches(value, Object.hasOwn(actual, name) ? actual[name] : undefined, inside(place, name)),
    )
    if (place.isPartial) return differing
    const found = Object.entries(actual)
    spend(found.length * WORK.name, place)
    const extra = found.flatMap(([name, value]) =>
      Object.hasOwn(expected, name) ? [] : unexpected(value, inside(place, name)),
    )
    return [...differing, ...extra]
  }

  const isAsExpected = (expected: Json, actual: Json | undefined, place: Within): boolean =>
    mismatches(expected, actual, { ...place, isTried: true }).length === 0

  const present =
    (check: (operand: Json, actual: Json, place: Within) => readonly Mismatch[]): Check =>
    (operand, actual, place) =>
      actual === undefined ? [missing(operand, place)] : check(operand, actual, place)

  type Check = (operand: Json, actual: Json | undefined, place: Within) => readonly Mismatch[]

  const byOperator: Readonly<Record<OperatorName, Check>> = {
    $any: (_operand, actual, place) => (actual === undefined ? [missing(undefined, place)] : []),
    $absent: (_operand, actual, place) => (actual === undefined ? [] : unexpected(actual, place)),
    $literal: (operand, actual, place) => literalMismatches(operand, actual, place),
    $contains: present((operand, actual, place) => {
      if (typeof operand === 'string') {
        if (typeof actual !== 'string') return [wrong({ $contains: operand }, actual, place)]
        spend((actual.length + operand.length) * CHARACTERS.searched, place)
        if (contains(actual, operand)) return []
        return [wrong({ $contains: operand }, actual, place, 'The text does not contain what is expected.')]
      }
      const partial = { ...place, isPartial: true }
      if (!Array.isArray(operand)) return mismatches(operand, actual, partial)
      if (!Array.isArray(actual)) return [wrong({ $contains: operand }, actual, place)]
      const message = 'No item of the array is as expected, or each such item already stands for another one.'
      return unmatchedItems(operand, actual, partial).map((expected) => report(place, message, { expected }))
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
      return isKnown ? [] : [wrong({ $type: operand }, actual, place, `The value is ${article(type)}.`)]
    }),
    $matches: present((operand, actual, place) => {
      const isMatch = typeof actual === 'string' && matches(operand as string, actual, place)
      return isMatch ? [] : [wrong({ $matches: operand }, actual, place, 'The value does not match the pattern.')]
    }),
    $oneOf: (operand, actual, place) => {
      const isOne = (operand as readonly Json[]).some((option) => isAsExpected(option, actual, place))
      if (isOne) return []
      const values = { expected: { $oneOf: operand }, ...(actual === undefined ? {} : { actual }) }
      return [report(place, 'The value is none of those expected.', values)]
    },
    $near: present((operand, actual, place) => {
      if (typeof actual === 'string') spend(actual.length * CHARACTERS.searched, place)
      return isNear(operand, actual)
        ? []
        : [wrong({ $near: operand }, actual, place, 'The value is not near the expected one.')]
    }),
    $text: present((operand, actual, place) => {
      const text = place.text ?? (typeof actual === 'string' ? actual : writeJson(actual, place))
      return mismatches(operand, text, { ...place, text: undefined, isPartial: false })
    }),
  }

  /** The names of operators are plain names here, and no member may be missing or too many. */
  const literalMismatches: Check = (expected, actual, place) => {
    spend(WORK.comparison, place)
    if (place.ignored?.isWhole) return []
    if (actual === undefined) return [missing(expected, place)]
    const names = memberNames(expected, actual)
    if (names === undefined) return isSame(expected, actual, place) ? [] : [wrong(expected, actual, place)]
    spend(names.length * WORK.name, place)
    return names.flatMap((name) => {
      const [wanted, found] = [memberOf(expected, name), memberOf(actual, name)]
      const at = inside(place, name)
      if (wanted === undefined) return found === undefined ? [] : unexpected(found, at)
      return literalMismatches(wanted, found, at)
    })
  }

  const matches = (source: string, text: string, place: Within): boolean => {
    const pattern = patterns.get(source) ?? compiled(source)
    patterns.set(source, pattern)
    spend(text.length * pattern.mostUnitsPerCharacter, place)
    return pattern.test(text)
  }

  const writeJson = (value: Json, place: Within): string => {
    const text = texts.get(value) ?? JSON.stringify(value)
    texts.set(value, text)
    spend(text.length * CHARACTERS.compared, place)
    return text
  }

  /**
   * The expected items for which no item is left. Each takes another item of `actual`: an earlier one gives its item up if it
   * can take another (augmenting paths), so that the order of the expectations does not count.
   */
  function unmatchedItems(expected: readonly Json[], actual: readonly Json[], place: Within): readonly Json[] {
    // Equal texts and numbers share one list.
    const lists = new Map<Json, readonly number[]>()
    const fits = expected.map((item) => {
      const list = lists.get(item) ?? fittingItems(item, actual, place)
      lists.set(item, list)
      return list
    })
    const owners = new Int32Array(actual.length).fill(NO_OWNER)
    const take = (item: number, tried: Set<number>): boolean => {
      const own = fits[item] ?? []
      spend(own.length * WORK.choice, place)
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

  function fittingItems(expected: Json, actual: readonly Json[], place: Within): readonly number[] {
    const fitting: number[] = []
    const isScalar = (typeof expected !== 'object' || expected === null) && place.ignored === undefined
    if (isScalar) spend(actual.length * WORK.scalar, place)
    for (let index = 0; index < actual.length; index += 1) {
      const item = actual[index] ?? null
      if (isScalar ? isSame(expected, item, place) : isAsExpected(expected, item, inside(place, index)))
        fitting.push(index)
    }
    return fitting
  }

  return { mismatches }
}

const inside = (place: Within, name: string | number): Within => ({
  above: place,
  name,
  isPartial: place.isPartial ?? false,
  isTried: place.isTried ?? false,
  ignored: place.ignored?.inner.get(String(name)),
})

function pointerOf(place: Within): string {
  place.pointer ??= place.above === undefined ? '' : pointerTo(pointerOf(place.above), place.name ?? '')
  return place.pointer
}

const article = (type: string): string => (type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`)

// The places of a body that tests do not compare (`ignore`), as a tree: they are looked up at each step on the way.

/** Places by the names that lead to them. */
type IgnoredPlaces = Readonly<{ isWhole: boolean; inner: ReadonlyMap<string, IgnoredPlaces> }>

/** In: JSON Pointers. Out: undefined if there are none. */
export function ignoredPlaces(pointers: readonly string[]): IgnoredPlaces | undefined {
  return ignoredBelow(
    pointers.map((pointer) =>
      pointer
        .split('/')
        .slice(1)
        .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')),
    ),
  )
}

function ignoredBelow(paths: readonly (readonly string[])[]): IgnoredPlaces | undefined {
  if (paths.length === 0) return undefined
  const inner = new Map<string, IgnoredPlaces>()
  const longer = paths.filter((path) => path.length > 0)
  for (const [name, some] of Map.groupBy(longer, ([first = '']) => first)) {
    const below = ignoredBelow(some.map((path) => path.slice(1)))
    if (below !== undefined) inner.set(name, below)
  }
  return { isWhole: longer.length < paths.length, inner }
}
