/** Values as they are, converted, counted, picked from a list, translated by codes, and constants. */
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import type { PathStep } from '../../../core/path-step.ts'
import { isTooLong } from '../../../language/paths/path-tree.ts'
import { isAbbreviated } from './names.ts'
import { isNumberText } from './number-rules.ts'
import { type Candidate, expressionPath, NAMED, type Rule, textLiteral } from './rules.ts'
import { looseText, type Search } from './search.ts'
import { ABSENT, type Column, type Place, spend } from './source-values.ts'

export function findPaths(search: Search): void {
  for (const column of search.equal()) {
    const rule: Rule = { kind: 'path', place: column.place }
    if (search.try('path', [column.place], rule, (row) => search.at(column, row))) continue
    search.tryGuarded(
      'function',
      [column],
      [(path) => `${path} != ""`],
      (_row, [value]) => value,
      ([path = '']) => path,
      { describe: ([path = '']) => `${path} unless it is empty` },
    )
  }
}

const CONVERSIONS: Readonly<Record<string, (value: Json) => Json | undefined>> = {
  stringify: (value) => (typeof value === 'string' ? value : typeof value === 'object' ? undefined : String(value)),
  numberify: (value) => {
    if (typeof value === 'number') return value
    return typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/.test(value)
      ? Number(value)
      : undefined
  },
  booleanify: (value) => {
    if (typeof value === 'string') return !['', '0', 'false'].includes(value.trim().toLowerCase())
    return typeof value === 'number' ? value !== 0 : typeof value === 'boolean' ? value : undefined
  },
  dateTimeToDate: (value) => (typeof value === 'string' ? value.split('T')[0] : undefined),
  booleanFlip: (value) => (typeof value === 'boolean' ? !value : undefined),
}

/** A list of scalars is converted element by element. */
const convert = (apply: (value: Json) => Json | undefined, value: Json | undefined): Json | undefined => {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) return apply(value)
  return value.map((item: Json) => (item === null ? null : (apply(item) ?? null)))
}

export function findConversions(search: Search): void {
  const { value } = search
  const first = Array.isArray(value) ? (value as readonly Json[])[0] : value
  const fits: Readonly<Record<string, boolean>> = {
    stringify: typeof value === 'string',
    numberify: typeof first === 'number',
    booleanify: typeof first === 'boolean',
    dateTimeToDate: typeof first === 'string' && /^\d{4}-\d\d-\d\d$/.test(first),
    booleanFlip: typeof first === 'boolean',
  }
  for (const [transform, apply] of Object.entries(CONVERSIONS)) {
    if (fits[transform] !== true) continue
    const isAlike = transform === 'stringify' || (transform === 'numberify' && !Array.isArray(value))
    for (const column of isAlike ? search.likeTexts() : search.columns()) {
      const given = search.at(column, search.sample)
      const one = Array.isArray(given) ? (given as readonly Json[])[0] : given
      if (transform === 'booleanify' && typeof one === 'boolean') continue
      if (transform === 'dateTimeToDate' && (typeof one !== 'string' || !one.includes('T'))) continue
      if (one === undefined || Array.isArray(given) !== Array.isArray(value)) continue
      if (transform === 'numberify' && hasOtherTexts(search, column)) {
        search.tryGuarded(
          'function',
          [column],
          [isNumberText],
          (_row, [text]) => (typeof text === 'string' ? apply(text) : undefined),
          ([path]) => `$number(${path})`,
        )
        continue
      }
      const rule: Rule = { kind: 'path', place: column.place, transform }
      search.try('function', [column.place], rule, (row) => convert(apply, search.at(column, row)))
    }
  }
}

/** Texts that are no numbers fail a message where a function makes numbers of them. */
const hasOtherTexts = (search: Search, column: Column): boolean =>
  search.target.ids.some((_id, row) => {
    const text = search.at(column, row)
    return typeof text === 'string' && CONVERSIONS.numberify?.(text) === undefined
  })

/** A path with a value for messages without it. */
export function findDefaults(search: Search): void {
  const { ids } = search.target
  for (let sample = 0, tries = 0; sample < ids.length && tries < 3; sample++) {
    if (ids[sample] === ABSENT || ids.indexOf(ids[sample] as number) !== sample) continue
    tries += 1
    for (const column of search.columns()) {
      const given = search.at(column, sample)
      if (given === undefined || given === null || search.values.id(given) !== ids[sample]) continue
      const missing = ids.findIndex((_id, row) => (search.at(column, row) ?? null) === null)
      const value = search.values.value(ids[missing] ?? ABSENT)
      if (missing === -1 || value === undefined) continue
      const rule: Rule = { kind: 'path', place: column.place, default: value }
      search.try('default', [column.place], rule, (row) => search.at(column, row) ?? value)
    }
  }
}

type Aggregate = readonly [name: string, apply: (values: readonly Json[]) => Json | undefined]

const numeric = (apply: (values: readonly number[]) => number): Aggregate[1] => {
  return (values) => {
    const numbers = values.filter((value) => value !== null)
    return numbers.length > 0 && numbers.every((value) => typeof value === 'number') ? apply(numbers) : undefined
  }
}

const AGGREGATES: readonly Aggregate[] = [
  ['$sum', numeric((values) => values.reduce((sum, value) => sum + value, 0))],
  ['$max', numeric((values) => Math.max(...values))],
  ['$min', numeric((values) => Math.min(...values))],
  ['$average', numeric((values) => values.reduce((sum, value) => sum + value, 0) / values.length)],
]
const JOINTS = [', ', ',', ' ', '; ', ';', '|', '-', '/', '\n', '']

/** A rule of one place as a whole. */
function tryList(
  search: Search,
  place: Place,
  write: (path: string) => string,
  give: (row: number) => Json | undefined,
): void {
  search.try('list', [place], { kind: 'expression', places: [place], write: (read) => write(read(place)) }, give)
}

/** Of a list: how many elements it has, the sum and the like of their values, their texts as one, whether there is any. */
export function findListValues(search: Search): void {
  const { value } = search
  if (typeof value === 'number') {
    for (const [{ place }, at] of search.lists()) {
      tryList(
        search,
        place,
        (path) => `$count(${path})`,
        (row) => at(row)?.length ?? 0,
      )
      tryList(
        search,
        place,
        (path) => `$exists(${path}) ? $count(${path})`,
        (row) => at(row)?.length,
      )
    }
  }
  if (typeof value === 'boolean') {
    for (const { place, ids } of search.columns()) {
      if (place.steps.length < 2 || !ids.includes(ABSENT)) continue
      const column = { place, ids }
      tryList(
        search,
        place,
        (path) => `$exists(${path})`,
        (row) => search.at(column, row) !== undefined,
      )
      tryList(
        search,
        place,
        (path) => `$not($exists(${path}))`,
        (row) => search.at(column, row) === undefined,
      )
    }
  }
  if (typeof value === 'boolean' && !search.isConstant) findMarks(search)
  if (typeof value !== 'number' && typeof value !== 'string') return
  for (const column of search.columns()) {
    const { place } = column
    if (!place.steps.some(({ kind }) => kind === 'each')) {
      const plain = search.at(column, search.sample)
      if (!Array.isArray(plain) || typeof (plain as readonly Json[])[0] === 'object') continue
    }
    const listAt = (row: number): readonly Json[] | undefined => {
      const list = search.at(column, row)
      return Array.isArray(list) ? list : undefined
    }
    const sampled = listAt(search.sample)
    if (sampled === undefined || !spend(search.budget, 1 + (sampled.length >> 3))) continue
    if (typeof value === 'string' && !value.startsWith(String(sampled.find((item) => item !== null)))) continue
    if (typeof value === 'number') {
      for (const [name, apply] of AGGREGATES) {
        const give = (row: number) => apply(listAt(row) ?? [])
        tryList(search, place, (path) => `${name}(${path})`, give)
        if (name === '$sum')
          tryList(
            search,
            place,
            (path) => `${name}([${path}])`,
            (row) => give(row) ?? 0,
          )
        const giveRounded = (row: number) => {
          const sum = give(row)
          return typeof sum === 'number' ? Math.round(sum * 100) / 100 : undefined
        }
        tryList(search, place, (path) => `$round(${name}(${path}), 2)`, giveRounded)
      }
    } else {
      for (const joint of JOINTS) {
        const give = (row: number) => {
          const texts = listAt(row)?.filter((item) => item !== null)
          return texts !== undefined && texts.length > 0 ? texts.join(joint) : undefined
        }
        tryList(search, place, (path) => `$join(${path}, ${textLiteral(joint)})`, give)
      }
    }
  }
}

/** Whether a list has an element with a certain value. */
function findMarks(search: Search): void {
  for (const [{ place }, at] of search.lists()) {
    const seen = new Set<string>()
    for (const element of search.target.ids.flatMap((_id, row) => (at(row) ?? []).slice(0, 10)).slice(0, 50)) {
      for (const [key, code] of isObject(element) ? innerPaths(element) : []) {
        const condition = `${expressionPath('', key)} = ${JSON.stringify(code)}`
        if (!isKey(code) || seen.has(condition) || seen.size > 40 || !spend(search.budget, 5)) continue
        seen.add(condition)
        const rule: Rule = {
          kind: 'expression',
          places: [place, { ...place, steps: [...place.steps, ...key] }],
          write: (read) => `$exists(${read(place)}[${condition}])`,
        }
        search.try('list', [place], rule, (row) => (at(row) ?? []).some((one) => readSteps(one, key) === code))
      }
    }
  }
}

/** Paths of scalars within an element, with names and first elements alone. */
export function* innerPaths(
  value: Json,
  steps: readonly PathStep[] = [],
): Iterable<readonly [readonly PathStep[], Json]> {
  if (Array.isArray(value)) {
    if (value.length > 0) yield* innerPaths(value[0] as Json, [...steps, { kind: 'index', index: 0 }])
  } else if (isObject(value)) {
    if (steps.length > 4) return
    for (const [name, inner] of Object.entries(value)) {
      if (name !== '' && !isTooLong(steps, name)) yield* innerPaths(inner, [...steps, { kind: 'name', name }])
    }
  } else if (steps.length > 0 && value !== null) yield [steps, value]
}

export const readSteps = (value: Json | undefined, steps: readonly PathStep[]): Json | undefined =>
  steps.reduce<Json | undefined>((at, step) => {
    if (step.kind === 'index') return Array.isArray(at) ? (at[step.index] as Json | undefined) : at
    return step.kind === 'name' && isObject(at) && Object.hasOwn(at, step.name) ? at[step.name] : undefined
  }, value)

const isKey = (value: Json | undefined): value is string | number | boolean =>
  (typeof value === 'string' && value.length <= 100) || typeof value === 'number' || typeof value === 'boolean'

/** A value of the first element of a list whose other value is a certain one: `identifiers[type = "NID"].value`. */
export function findPicks(search: Search, isMeant?: (place: Place) => boolean): void {
  const wanted = looseText(search.value)
  if (wanted === undefined) return
  for (const [{ place }, at] of search.lists()) {
    if (isMeant?.(place) === false) continue
    const elements = at(search.sample) ?? []
    for (const element of elements.slice(0, 20)) {
      if (!isObject(element) || !spend(search.budget, 10)) continue
      const paths = [...innerPaths(element)].slice(0, 40)
      for (const [field, value] of paths) {
        if (looseText(value) !== wanted) continue
        for (const [key, code] of paths) {
          if (
            key === field ||
            !isKey(code) ||
            (isMeant !== undefined && !mayBeCode(code) && !IDENTIFIER.test(String(code)))
          )
            continue
          tryPick(search, place, at, { key, code, field })
        }
      }
    }
  }
}

/** Of a system of codes, as elements are chosen by. */
const IDENTIFIER = /^(?:urn:|https?:\/\/)\S+$/

type Pick = Readonly<{ key: readonly PathStep[]; code: Json; field: readonly PathStep[] }>

function tryPick(
  search: Search,
  place: Place,
  at: (row: number) => readonly Json[] | undefined,
  { key, code, field }: Pick,
): void {
  const whole: Place = { level: place.level, steps: [...place.steps, ...field] }
  const write = (read: (place: Place) => string): string => {
    const [keyPath, fieldPath] = [key, field].map((steps) => expressionPath('', steps))
    return `${read(place)}[${keyPath} = ${JSON.stringify(code)}][0].${fieldPath}`
  }
  const rule: Rule = { kind: 'expression', places: [whole, { ...place, steps: [...place.steps, ...key] }], write }
  search.try('pick', [whole], rule, (row) => {
    const element = at(row)?.find((one) => readSteps(one, key) === code)
    return element === undefined ? undefined : readSteps(element, field)
  })
}

/** What pairs show of a code list. */
export type Codes = ReadonlyMap<string, Json>

export function findCodes(search: Search): void {
  const { ids } = search.target
  if (search.isConstant || typeof search.value === 'object') return
  for (const column of search.columns()) {
    if (isFieldCount(column.place)) continue
    if (!spend(search.budget, 8 + (ids.length >> 1))) return
    const codes = relate(search, column)
    if (codes === undefined) continue
    const { size } = codes
    const rows = ids.reduce((sum, id) => sum + (id === ABSENT ? 0 : 1), 0)
    if (size < 2 || new Set(codes.values()).size < 2) continue
    if ([...codes].every(([code, value]) => code === String(value))) continue
    const isTold = [...codes].every(([code, value]) => isCode(code) && isCode(value))
    const isNumbered = [...codes].every(([code, value]) => (isCode(code) || NUMBERED_CODE.test(code)) && isCode(value))
    const isShort = [...codes.keys()].every((code) => code.length <= 4)
    // Of codes that are hardly seen twice, only those that look like codes.
    if (rows < 2 * size && !isNumbered) continue
    const isNamed = search.scoreOf(column.place) >= NAMED || isAbbreviated(column.place.steps, search.target.steps)
    if (rows < 2 * size && !isNamed && size === rows && !(isShort && isTold)) continue
    const isBoolean = typeof search.at(column, search.sample) === 'boolean' && typeof search.value !== 'boolean'
    const isNames = [...codes.keys()].every((code) => NAME_OF_PEOPLE.test(code))
    const isStart = [...codes].every(([code, value]) => String(value).toLowerCase().startsWith(code.toLowerCase()))
    // The fewer codes, the more often each was seen.
    const rank =
      size +
      (isNumbered ? 0 : 20) +
      (isNamed ? -2 : 0) +
      (isBoolean ? 1.5 : 0) +
      (isShort ? 0 : 0.5) +
      (isStart ? -1 : 0) +
      (isNames && !isNamed ? 3 : 0)
    const sorted = Object.fromEntries([...codes].sort(([one], [other]) => (one < other ? -1 : 1)))
    const parameters: JsonObject = sorted
    const rule: Rule = { kind: 'path', place: column.place, transform: 'mapCodes', parameters, default: null }
    const give = (row: number) => {
      const code = search.at(column, row)
      return code === undefined || code === null ? undefined : codes.get(String(code))
    }
    const at = search.found.length
    if (search.try('codes', [column.place], rule, give)) search.found[at] = { ...(search.found[at] as Candidate), rank }
  }
}

/** `A01`, `P-2`. */
const NUMBERED_CODE = /^[A-Za-z]{1,3}[-_.]?\d{1,3}$/
const NAME_OF_PEOPLE = /^\p{Lu}[\p{L}'-]*\p{Ll}[\p{L}' -]*$/u

/** How many fields a segment of HL7 v2 has, which says nothing about them. */
const isFieldCount = ({ steps }: Place): boolean => {
  const last = steps.at(-1)
  return last?.kind === 'name' && last.name === '|'
}

/** As codes are: a word, a digit, true or false. */
export const isCode = (value: Json | undefined): boolean =>
  typeof value === 'boolean' || /^(?:[A-Za-z][A-Za-z_-]{0,19}|\d)$/.test(String(value))

const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/
const DATE_OR_TIME = /^(?:\d{4}-\d\d(?:-\d\d)?(?:T.*)?|\d{1,2}[.-]\d{1,2}[.-]\d{2,4}|\d\d?:\d\d(?::\d\d)?)$/

/** Codes with digits too, such as `E11`, `8302-2` and `2.16.840.1`; plain numbers, dates and times are none. */
export const mayBeCode = (value: Json | undefined): boolean =>
  isCode(value) ||
  (typeof value === 'string' &&
    /^(?=.*\d)[\w.:-]{1,64}$/.test(value) &&
    !PLAIN_NUMBER.test(value) &&
    !DATE_OR_TIME.test(value))

/** Undefined if one code has two values, or a value has no code. A code without a value is left out, as an unknown one is. */
function relate(search: Search, column: Column): Codes | undefined {
  const codes = new Map<string, Json>()
  const leftOut = new Set<string>()
  for (let row = 0; row < search.target.ids.length; row++) {
    const code = search.at(column, row)
    const id = search.target.ids[row] ?? ABSENT
    if (id === ABSENT) {
      if (code !== undefined && code !== null) leftOut.add(String(code))
      continue
    }
    const value = search.values.value(id) as Json
    if (!isKey(code) || String(code) === 'default' || String(code) === 'null') return undefined
    const known = codes.get(String(code))
    if (known !== undefined && known !== value) return undefined
    codes.set(String(code), value)
  }
  return [...leftOut].some((code) => codes.has(code)) ? undefined : codes
}

/** Any code of a place that has one, so that a constant is written where the place is. */
const ANY_CODE = 'default'

/** One value in every row; or where a place of the message has a value, and nowhere else. */
export function findConstants(search: Search): void {
  const { value } = search
  if (!search.isConstant || value === undefined) return
  if (search.try('constant', [], { kind: 'constant', value }, () => value)) return
  if (value === null || typeof value === 'object') return
  const parameters = { [ANY_CODE]: value, null: null }
  let left = 2_000
  for (const column of search.columns()) {
    const { place } = column
    const given = search.at(column, search.sample)
    if (isFieldCount(place) || (place.level === 0 && place.steps.length < 2)) continue
    if (given === undefined || Array.isArray(given) || left-- <= 0) continue
    const rule: Rule = { kind: 'path', place, transform: 'mapCodes', parameters }
    search.try('constant', [place], rule, (row) => ((search.at(column, row) ?? null) === null ? undefined : value))
  }
}
