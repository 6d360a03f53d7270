/** Texts made of other texts: another case, slices, and joins with constant parts. */
import type { Json } from '../../../core/json.ts'
import { MIN_SHOWN, textLiteral } from './rules.ts'
import type { Search } from './search.ts'
import { type Column, spend, type View } from './source-values.ts'

/** As `$trim` does it: spaces within become one. */
const trim = (text: string): string => text.replace(/[ \t\n\r]+/g, ' ').replace(/^ | $/g, '')
const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase()

const CASES: readonly (readonly [apply: (text: string) => string, write: (path: string) => string])[] = [
  [trim, (path) => `$trim(${path})`],
  [(text) => text.toLowerCase(), (path) => `$lowercase(${path})`],
  [(text) => text.toUpperCase(), (path) => `$uppercase(${path})`],
  [capitalize, (path) => `$uppercase($substring(${path}, 0, 1)) & $lowercase($substring(${path}, 1))`],
  [(text) => trim(text).toLowerCase(), (path) => `$lowercase($trim(${path}))`],
  [(text) => trim(text).toUpperCase(), (path) => `$uppercase($trim(${path}))`],
]

export function findCases(search: Search): void {
  for (const column of search.likeTexts()) {
    for (const [apply, write] of CASES) search.tryText(column, 'text', (text) => apply(text), write)
  }
}

const SEPARATORS = [' ', ', ', ',', '-', '/', '|', ':', ';', '^', '.', '_', '@', '#', '&', '=']

export function findSlices(search: Search): void {
  const wanted = search.targetText(search.sample)
  if (wanted === undefined || wanted === '') return
  for (const [column, text] of search.texts()) {
    if (text.length <= wanted.length || !text.includes(wanted) || !spend(search.budget, 20)) continue
    const at = text.indexOf(wanted)
    for (const separator of SEPARATORS) {
      if (!text.includes(separator)) continue
      const parts = text.split(separator)
      const index = parts.indexOf(wanted)
      if (index === -1) continue
      const quoted = textLiteral(separator)
      const reading = isSettled(search, column) ? undefined : `parts between ${quoted}`
      const trySlice = (apply: (text: string) => string | undefined, write: (path: string) => string) =>
        search.tryText(column, 'slice', apply, write, undefined, reading)
      if (index === 0) {
        trySlice(partAt(separator, 0), (path) => `$substringBefore(${path}, ${quoted})`)
      } else {
        if (parts.length === 2) {
          trySlice(
            (given) => (given.includes(separator) ? given.slice(given.indexOf(separator) + separator.length) : given),
            (path) => `$substringAfter(${path}, ${quoted})`,
          )
        }
        trySlice(partAt(separator, index), (path) => `$split(${path}, ${quoted})[${index}]`)
      }
      const fromEnd = index - parts.length
      trySlice(partAt(separator, fromEnd), (path) => `$split(${path}, ${quoted})[${fromEnd}]`)
    }
    const { length } = wanted
    const reading = search.target.ids.length < MIN_SHOWN ? 'positions' : undefined
    for (let from = at, tries = 0; from !== -1 && tries < 4; from = text.indexOf(wanted, from + 1), tries++) {
      const start = from
      const trySlice = (apply: (text: string) => string | undefined, write: (path: string) => string) =>
        search.tryText(column, 'slice', apply, write, undefined, reading)
      if (start + length === text.length) {
        trySlice(
          (given) => given.slice(start) || undefined,
          (path) => `$substring(${path}, ${start})`,
        )
        trySlice(
          (given) => given.slice(-length),
          (path) => `$substring(${path}, -${length})`,
        )
      }
      trySlice(
        (given) => given.slice(start, start + length) || undefined,
        (path) => `$substring(${path}, ${start}, ${length})`,
      )
    }
  }
}

/** The parts stand nowhere else: seen often enough, in numbers of fixed lengths, as in dates, or with one rest around them. */
function isSettled(search: Search, column: Column): boolean {
  const { ids } = search.target
  if (ids.length >= MIN_SHOWN) return true
  const shapes = new Set<string>()
  const rests = new Set<string>()
  for (const [row, id] of ids.entries()) {
    const text = search.textAt(column, row)
    const wanted = search.values.value(id)
    if (text === undefined || typeof wanted !== 'string') continue
    shapes.add(text.replace(/\d/g, '9'))
    rests.add(text.replace(wanted, ''))
  }
  const [shape = ''] = shapes
  return rests.size === 1 || (shapes.size === 1 && /^[9\W_]+$/.test(shape))
}

const partAt =
  (separator: string, index: number) =>
  (text: string): string | undefined =>
    text.split(separator).at(index)

/** Templates that one search looks at. */
const MAX_TEMPLATES = 300
const MAX_STEPS = 1_500
const MIN_PIECE = 2

type Piece = Readonly<{ at: number; literal: string }>

/** What the target has of a place: its text in another case, or the texts of its list one after the other. */
function views(search: Search, wanted: string): readonly (readonly [Column, string])[] {
  const found: (readonly [Column, string])[] = []
  for (const { place, ids } of search.columns()) {
    const value = search.at({ place, ids }, search.sample)
    for (const view of value === undefined ? [] : viewsOf(value, wanted)) {
      const text = view.give(value as Json)
      if (text !== undefined && text !== value && wanted.includes(text)) found.push([{ place, ids, view }, text])
    }
  }
  return found
}

const IN_CASES: readonly View[] = [
  {
    give: (value) => (typeof value === 'string' ? value.toUpperCase() : undefined),
    write: (path) => `$uppercase(${path})`,
  },
  {
    give: (value) => (typeof value === 'string' ? value.toLowerCase() : undefined),
    write: (path) => `$lowercase(${path})`,
  },
]

function viewsOf(value: Json, wanted: string): readonly View[] {
  if (!Array.isArray(value)) return typeof value === 'string' && value.length > 1 ? IN_CASES : []
  const [first, second] = value.filter((one: Json) => typeof one === 'string' && one !== '') as string[]
  if (first === undefined || !wanted.includes(first)) return []
  const joint = second === undefined ? ' ' : wanted.slice(wanted.indexOf(first) + first.length).split(second)[0]
  if (joint === undefined || joint === '' || joint.length > 3) return []
  const give = (list: Json) =>
    Array.isArray(list) && list.length > 0 ? list.filter((one: Json) => one !== null).join(joint) : undefined
  return [{ give, write: (path) => `$join(${path}, ${textLiteral(joint)})` }]
}

/** Texts joined from the values of several places and constant parts; a place may be a number. */
export function findJoins(search: Search): void {
  const wanted = search.targetText(search.sample)
  if (wanted === undefined || wanted.length < MIN_PIECE || wanted.length > 2_000) return
  const other = search.targetText(search.other)
  const pieces = [...search.texts(true), ...views(search, wanted)]
    .filter(([column, text]) => {
      return text !== '' && wanted.includes(text) && (text.length >= MIN_PIECE || search.isVarying(column))
    })
    .map(([column, text]) => ({ column, text, score: search.scoreOf(column.place) }))
    .sort((one, next) => next.text.length - one.text.length || next.score - one.score)
    .slice(0, 60)
  if (pieces.length === 0) return
  let left = MAX_TEMPLATES
  let steps = MAX_STEPS
  /** Both positions have the same rest to explain; `literal`: the constant text before them that no piece has yet. */
  const extend = (from: number, otherFrom: number, literal: string, parts: readonly Piece[]): boolean => {
    steps -= 1
    if (left <= 0 || steps <= 0 || !spend(search.budget, pieces.length)) return true
    if (from === wanted.length) {
      left -= 1
      if (parts.length === 0 || (other !== undefined && otherFrom !== other.length)) return false
      return tryTemplate(parts, literal)
    }
    for (const [at, { column, text }] of pieces.entries()) {
      if (!wanted.startsWith(text, from)) continue
      const second = other === undefined ? '' : (search.textAt(column, search.other) ?? '')
      if (other !== undefined && !other.startsWith(second, otherFrom)) continue
      if (extend(from + text.length, otherFrom + second.length, '', [...parts, { at, literal }])) return true
    }
    const char = wanted.charAt(from)
    if (other !== undefined && other.charAt(otherFrom) !== char) return false
    return extend(from + 1, otherFrom + 1, literal + char, parts)
  }
  const tryTemplate = (parts: readonly Piece[], tail: string): boolean => {
    // One value alone is a default's business.
    if (parts.length === 1 && tail === '' && parts[0]?.literal === '' && pieces[parts[0].at]?.column.view === undefined)
      return false
    const used = parts.map(({ at, literal }) => ({ literal, column: (pieces[at] as (typeof pieces)[number]).column }))
    const write = (read: (at: number) => string): string =>
      [
        ...used.flatMap(({ literal }, at) => [...(literal === '' ? [] : [textLiteral(literal)]), read(at)]),
        ...(tail === '' ? [] : [textLiteral(tail)]),
      ].join(' & ')
    const join = (texts: readonly string[]): string =>
      used.map(({ literal }, at) => literal + texts[at]).join('') + tail
    return search.tryJoin(
      used.map(({ column }) => column),
      join,
      write,
    )
  }
  extend(0, 0, '', [])
}
