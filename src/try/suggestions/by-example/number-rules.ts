/** Numbers computed from one or two others: another unit, a product, a sum, a difference. */
import type { Json } from '../../../core/json.ts'
import { hasForm, isNumber } from './guards.ts'
import type { Search } from './search.ts'
import { ABSENT, type Column, spend } from './source-values.ts'

const NUMBER_TEXT = /^-?\d{1,15}(?:\.\d{1,15})?$/

const WITH_POINT = /^-?\d+(\.\d+)?$/
const WITH_COMMA = /^-?\d+(,\d+)?$/
export const isNumberText = hasForm(WITH_POINT)

const toNumber = (value: Json | undefined): number | undefined => {
  if (typeof value === 'number') return value
  return typeof value === 'string' && NUMBER_TEXT.test(value) ? Number(value) : undefined
}

const withPoint = (text: string): string => text.replace(',', '.')
const NUMBER_WITH_COMMA = /^-?\d{1,15}(?:,\d{1,15})?$/

/** Numbers with a decimal comma as numbers or texts with a point, and the other way round. */
export function findDecimals(search: Search): void {
  const { value } = search
  if (search.isConstant || typeof value === 'object' || typeof value === 'boolean') return
  const isToComma = typeof value === 'string' && value.includes(',')
  if (!(isToComma ? NUMBER_WITH_COMMA : NUMBER_TEXT).test(String(value))) return
  for (const [column, text] of search.texts(true)) {
    if (Number(withPoint(text)) !== Number(withPoint(String(value))) || !spend(search.budget, 5)) continue
    const isText = typeof search.at(column, search.sample) === 'string'
    const [pattern, from, to] = isToComma
      ? ([NUMBER_TEXT, '.', ','] as const)
      : ([NUMBER_WITH_COMMA, ',', '.'] as const)
    if (!isToComma && !isText) continue
    search.tryGuarded(
      'text',
      [column],
      [isText ? hasForm(isToComma ? WITH_POINT : WITH_COMMA) : isNumber],
      (_row, [given]) => {
        if (typeof given !== (isText ? 'string' : 'number') || !pattern.test(String(given))) return undefined
        const replaced = String(given).replace(from, to)
        return typeof value === 'number' ? Number(replaced) : replaced
      },
      ([path = '']) => {
        const replaced = `$replace(${isText ? path : `$string(${path})`}, "${from}", "${to}")`
        return typeof value === 'number' ? `$number(${replaced})` : replaced
      },
    )
  }
}

/** Columns that two are taken of. */
const MAX_PAIRED = 40

type Points = readonly (readonly [x: number, y: number])[]

export function findNumbers(search: Search): void {
  if (typeof search.value !== 'number' || search.isConstant) return
  const columns: Column[] = []
  for (const column of search.columns()) {
    if (
      toNumber(search.at(column, search.sample)) === undefined ||
      !spend(search.budget, 20 + search.target.ids.length)
    )
      continue
    columns.push(column)
    const points = pointsOf(search, column)
    if (points !== undefined) tryLine(search, column, points)
  }
  const paired = columns
    .map((column) => ({ column, score: search.scoreOf(column.place) }))
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_PAIRED)
  for (const { column: one } of paired) {
    for (const { column: other } of paired) if (one !== other) tryTwo(search, one, other)
  }
}

/** Of different numbers; undefined if a row has a result without a number. */
function pointsOf(search: Search, column: Column): Points | undefined {
  const points = new Map<number, number>()
  for (const [row, id] of search.target.ids.entries()) {
    if (id === ABSENT) continue
    const x = toNumber(search.at(column, row))
    const y = search.values.value(id)
    if (y === null || y === '') continue
    if (x === undefined || typeof y !== 'number' || (points.has(x) && points.get(x) !== y)) return undefined
    points.set(x, y)
  }
  return [...points].sort(([one], [other]) => one - other)
}

const decimalsOf = (values: Points): number =>
  Math.max(...values.map(([, y]) => (String(y).includes('e') ? 15 : (String(y).split('.')[1]?.length ?? 0))))

/** `x * a + b` with numbers that people write, exact or rounded. Two points always lie on a line: it takes a third to see one. */
function tryLine(search: Search, column: Column, points: Points): void {
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined || points.length < 2) return
  const slope = (last[1] - first[1]) / (last[0] - first[0])
  if (!Number.isFinite(slope) || slope === 0) return
  const decimals = decimalsOf(points)
  const slack = 10 ** -decimals / Math.abs(last[0] - first[0])
  const ratio = Math.abs(last[0]) > 0 ? last[1] / last[0] : Number.NaN
  const factors: readonly (readonly [number, string])[] = [
    ...niceFactors(ratio, Math.max(10 ** -decimals / Math.abs(last[0]), 1e-12)),
    ...(points.length > 2 ? niceFactors(slope, Math.max(slack, 1e-12)) : []),
    [1, ''],
  ]
  for (const [factor, written] of factors) {
    const offsets = factor === 1 || points.length > 2 ? niceOffsets(points, factor, decimals) : [0]
    for (const offset of offsets) tryFormula(search, column, points, { factor, written, offset, decimals })
  }
}

/** Whole numbers, fractions of small ones and their inverses, such as 1000, 9/5, 0.001. */
function niceFactors(value: number, slack: number): readonly (readonly [number, string])[] {
  if (!Number.isFinite(value) || value === 0) return []
  const fractions: (readonly [number, string])[] = []
  for (let below = 1; below <= 12; below++) {
    const above = Math.round(value * below)
    if (above === 0 || Math.abs(above / below - value) > slack || fractions.some(([known]) => known === above / below))
      continue
    const times = above === 1 && below === 1 ? '' : ` * ${above}`
    fractions.push([above / below, below === 1 ? times : ` * ${above} / ${below}`])
  }
  if (fractions.length > 0) {
    return fractions.sort(([one], [other]) => Math.abs(one - value) - Math.abs(other - value)).slice(0, 5)
  }
  const inverse = Math.round(1 / value)
  if (Math.abs(1 / inverse - value) <= Math.min(slack, Math.abs(value) * 0.01)) return [[1 / inverse, ` / ${inverse}`]]
  const decimal = Number(value.toPrecision(4))
  return Math.abs(decimal - value) <= slack ? [[decimal, ` * ${decimal}`]] : []
}

/** Added before the factor (as 32 is taken away from degrees Fahrenheit) or behind it. */
function niceOffsets([first]: Points, factor: number, decimals: number): readonly number[] {
  if (first === undefined) return []
  const rest = first[1] - first[0] * factor
  return [0, Number(rest.toFixed(Math.min(decimals, 4)))]
}

type Formula = Readonly<{ factor: number; written: string; offset: number; decimals: number }>

function tryFormula(
  search: Search,
  column: Column,
  points: Points,
  { factor, written, offset, decimals }: Formula,
): void {
  if (!spend(search.budget, 10 + points.length)) return
  const [, , above, , below] = written.split(' ')
  const multiply = (x: number): number => {
    if (written.startsWith(' / ')) return x / Math.round(1 / factor)
    if (below !== undefined) return (x * Number(above)) / Number(below)
    return x * factor
  }
  const before = offset === 0 ? 0 : Math.round(offset / factor)
  const variants: readonly (readonly [apply: (x: number) => number, write: (x: string) => string])[] = [
    ...(before !== 0 && written !== ''
      ? [[(x: number) => multiply(x + before), (x: string) => `(${x}${signed(before)})${written}`] as const]
      : []),
    [(x) => multiply(x) + offset, (x) => `${x}${written}${offset === 0 ? '' : signed(offset)}`],
  ]
  const isText = typeof search.at(column, search.sample) === 'string'
  for (const [apply, write] of variants) {
    // Cents and grams have no digits behind the point, though 79.29 * 100 has some: which of both is meant may be asked.
    const isWhole = Number.isInteger(factor) && factor >= 10
    let isFound = false
    for (const digits of isWhole ? [decimals, undefined] : [undefined, decimals]) {
      if (digits === undefined ? written === '' && offset === 0 && !isText : digits > 6) continue
      const isRounding = points.some(([x, y]) => isRounded(apply(x), y))
      for (const { round, writeRound } of digits === undefined ? [EXACT] : isRounding ? ROUNDINGS : [TO_EVEN]) {
        isFound =
          search.tryGuarded(
            'number',
            [column],
            [isText ? isNumberText : isNumber],
            (_row, [value]) => {
              const x = toNumber(value)
              return x === undefined ? undefined : round(apply(x), digits ?? 0)
            },
            ([path = '']) => writeRound(write(isText ? `$number(${path})` : path), digits ?? 0),
          ) || isFound
      }
    }
    if (isFound) return
  }
}

const signed = (offset: number): string => (offset < 0 ? ` - ${-offset}` : ` + ${offset}`)

type Rounding = Readonly<{
  round: (value: number, digits: number) => number
  writeRound: (text: string, digits: number) => string
}>

const EXACT: Rounding = { round: (value) => value, writeRound: (text) => text }

/** As `$round` does it: a half goes to the even neighbour. */
const TO_EVEN: Rounding = {
  round: (value, digits) => {
    const shifted = shift(value, digits)
    const nearest = Math.round(shifted)
    const isOdd = Math.abs(nearest - shifted) === 0.5 && nearest % 2 !== 0
    return shift(isOdd ? nearest - 1 : nearest, -digits) + 0
  },
  writeRound: (text, digits) => `$round(${text}, ${digits})`,
}

/** As people do it. */
const HALF_UP: Rounding = {
  round: (value, digits) => Math.floor(value * 10 ** digits + 0.5) / 10 ** digits,
  writeRound: (text, digits) => {
    if (digits === 0) return `$floor(${text} + 0.5)`
    return `$floor(${text.includes(' ') ? `(${text})` : text} * ${10 ** digits} + 0.5) / ${10 ** digits}`
  },
}

const ROUNDINGS = [TO_EVEN, HALF_UP]

const shift = (value: number, by: number): number => {
  const [digits, exponent = '0'] = String(value).split('e')
  return Number(`${digits}e${Number(exponent) + by}`)
}

/** By more than what computers do to numbers with a point. */
const isRounded = (value: number, wanted: Json | undefined): boolean =>
  typeof wanted === 'number' && Math.abs(value - wanted) > 1e-6

const OPERATIONS: readonly (readonly [sign: string, apply: (one: number, other: number) => number])[] = [
  ['*', (one, other) => one * other],
  ['+', (one, other) => one + other],
  ['-', (one, other) => one - other],
  ['/', (one, other) => one / other],
]

function tryTwo(search: Search, one: Column, other: Column): void {
  if (!spend(search.budget, 4)) return
  const isText = (column: Column) => typeof search.at(column, search.sample) === 'string'
  for (const [sign, apply] of OPERATIONS) {
    const isSymmetric = sign === '*' || sign === '+'
    if (isSymmetric && one.place.steps.length > other.place.steps.length) continue
    const compute = (values: readonly (Json | undefined)[]) => {
      const [x, y] = values.map(toNumber)
      const result = x === undefined || y === undefined ? Number.NaN : apply(x, y)
      return Number.isFinite(result) ? result : undefined
    }
    const exact = (row: number) => compute([search.at(one, row), search.at(other, row)])
    const { sample } = search
    const isNear = Math.abs((exact(sample) ?? Number.NaN) - Number(search.value)) < 0.006
    if (typeof search.value === 'number' && exact(sample) !== undefined && !isNear) continue
    const { ids } = search.target
    const isRounding = ids.some((id, row) => isRounded(exact(row) ?? Number.NaN, search.values.value(id)))
    for (const { round, writeRound } of [EXACT, ...(isRounding ? ROUNDINGS : [TO_EVEN])]) {
      // A quotient hardly ever ends with a half.
      const reading = isRounding && sign !== '/' ? 'rounding' : undefined
      search.tryGuarded(
        'number',
        [one, other],
        [one, other].map((column) => (isText(column) ? isNumberText : isNumber)),
        (_row, values) => {
          const result = compute(values)
          return result === undefined ? undefined : round(result, 2)
        },
        (paths) => {
          const [x, y] = [one, other].map((column, at) => (isText(column) ? `$number(${paths[at]})` : paths[at]))
          return writeRound(`${x} ${sign} ${y}`, 2)
        },
        { reading },
      )
    }
  }
}
