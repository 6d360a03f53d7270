/** Dates and times in another form, cut to the date, or in another zone. */
import type { Json } from '../../../core/json.ts'
import { hasForm, isNumber } from './guards.ts'
import { textLiteral } from './rules.ts'
import type { Search } from './search.ts'
import { type Column, spend } from './source-values.ts'

/** Each part has a fixed width, so that a form also says where its parts stand. */
const WIDTHS = { Y: 4, M: 2, D: 2, H: 2, m: 2, s: 2, f: 3 } as const
type Part = keyof typeof WIDTHS

const DATES = ['Y-M-D', 'YMD', 'D.M.Y', 'D/M/Y', 'M/D/Y', 'Y/M/D', 'D-M-Y', 'M-D-Y', 'Y.M.D']
const TIMES = ['', 'TH:m', 'TH:m:s', 'TH:m:s.f', ' H:m', ' H:m:s', 'Hm', 'Hms', 'THms']
/** `z`: +02:00 or Z; `o`: +0200. */
const ZONES = ['', 'z', 'o']

type Form = Readonly<{ name: string; pattern: RegExp; parts: readonly string[] }>

const FORMS: readonly Form[] = DATES.flatMap((date) =>
  TIMES.flatMap((time) =>
    (time === '' ? [''] : ZONES).map((zone) => {
      const parts = [...date, ...time, ...zone]
      const patterns = parts.map((part) => {
        if (part === 'z') return '(Z|[+-]\\d\\d:\\d\\d)'
        if (part === 'o') return '([+-]\\d{4})'
        return isPart(part) ? `(\\d{${WIDTHS[part]}})` : part === '.' ? '\\.' : part
      })
      return { name: parts.join(''), pattern: new RegExp(`^${patterns.join('')}$`), parts }
    }),
  ),
)

function isPart(part: string): part is Part {
  return Object.hasOwn(WIDTHS, part)
}

type Moment = Readonly<Record<string, string>>

/** The parts of a text in a form, by their letters; undefined if it has another form or there is no such day. */
function readMoment(form: Form, text: string): Moment | undefined {
  const found = form.pattern.exec(text)
  if (found === null) return undefined
  const letters = form.parts.filter((part) => isPart(part) || part === 'z' || part === 'o')
  const moment = Object.fromEntries(letters.map((letter, at) => [letter, found[at + 1] ?? '']))
  const { Y, M, D, H = '00', m = '00', s = '00' } = moment
  const day = new Date(`${Y}-${M}-${D}T00:00:00Z`)
  if (Number.isNaN(day.getTime()) || day.getUTCDate() !== Number(D)) return undefined
  return Number(H) < 24 && Number(m) < 60 && Number(s) < 60 ? moment : undefined
}

/** Minutes ahead of UTC; without a zone the time counts as UTC, as JSONata reads it. */
function zoneMinutes({ z, o }: Moment): number {
  const text = (z ?? o ?? 'Z').replace(':', '')
  if (text === 'Z') return 0
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(3))
  return text.startsWith('-') ? -minutes : minutes
}

const toMillis = (moment: Moment): number => {
  const { Y, M, D, H = '00', m = '00', s = '00', f = '000' } = moment
  return Date.parse(`${Y}-${M}-${D}T${H}:${m}:${s}.${f}Z`) - zoneMinutes(moment) * 60_000
}

function formatMoment(form: Form, millis: number, zone: number): string {
  const [date = '', time = ''] = new Date(millis + zone * 60_000).toISOString().split('T')
  const [Y = '', M = '', D = ''] = date.split('-')
  const [H = '', m = '', s = '', f = ''] = time.slice(0, -1).split(/[:.]/)
  const hours = String(Math.floor(Math.abs(zone) / 60)).padStart(2, '0')
  const minutes = String(Math.abs(zone) % 60).padStart(2, '0')
  const sign = zone < 0 ? '-' : '+'
  const o = `${sign}${hours}${minutes}`
  const z = zone === 0 ? 'Z' : `${sign}${hours}:${minutes}`
  const known: Moment = { Y, M, D, H, m, s, f, z, o }
  return form.parts.map((part) => known[part] ?? part).join('')
}

/** As `$fromMillis` and `$toMillis` take it. */
const picture = ({ parts }: Form): string =>
  parts
    .map((part) => {
      if (part === 'z') return '[Z01:01t]'
      if (part === 'o') return '[Z0101]'
      if (part === 'f') return '[f001]'
      return isPart(part) ? `[${part}${part === 'Y' ? '0001' : '01'}]` : part
    })
    .join('')

/** A picture does not read the Z of UTC; without one, ISO 8601 is read, of which a time without a zone is a local one. */
const readMillis = (form: Form, path: string): string =>
  /^Y-M-D(?:T.*z)?$/.test(form.name) ? `$toMillis(${path})` : `$toMillis(${path}, ${textLiteral(picture(form))})`

function formsOf({ values, budget }: Search, text: string): readonly Form[] {
  if (text.length < 8 || text.length > 29 || !/^\d\d/.test(text)) return []
  const known = values.forms.get(text) as readonly Form[] | undefined
  if (known !== undefined) return known
  const forms = spend(budget, 100) ? FORMS.filter((form) => readMoment(form, text)) : []
  values.forms.set(text, forms)
  return forms
}

/** Milliseconds since 1970 from 1980 to 2100, or seconds. */
const EPOCHS = [
  { unit: 1, least: 3e11, most: 4.1e12 },
  { unit: 1_000, least: 3e8, most: 4.1e9 },
]

/** Days and months, or zones, that are the same in every pair. */
const READING = 'date'
/** A zone that dates of one half of a year show: in the other, it may be another. */
export const HALF_YEAR = 'half a year'

export function findDates(search: Search): void {
  const { value } = search
  const wanted = typeof value === 'string' ? formsOf(search, value) : []
  const epochs = EPOCHS.filter(({ least, most }) => typeof value === 'number' && value > least && value < most)
  if (wanted.length === 0 && epochs.length === 0) return
  for (const column of search.columns()) {
    const given = search.at(column, search.sample)
    if (typeof given === 'number') tryEpochs(search, column, given, wanted)
    if (typeof given !== 'string' || !spend(search.budget, 2)) continue
    for (const from of formsOf(search, given)) {
      const moment = readMoment(from, given)
      if (moment === undefined || !isNear(toMillis(moment), value, wanted) || !spend(search.budget, 50)) continue
      for (const to of wanted) {
        const isFound = (to !== from && tryParts(search, column, from, to)) || tryZones(search, column, from, to)
        if (!isFound && to !== from) tryParts(search, column, from, to, readMoment(to, String(value)))
      }
      for (const { unit } of epochs) {
        search.tryText(
          column,
          'date',
          (text) => {
            const moment = readMoment(from, text)
            return moment && toMillis(moment) / unit
          },
          (path) => `${readMillis(from, path)}${unit === 1 ? '' : ` / ${unit}`}`,
          hasForm(bare(from.pattern)),
          READING,
        )
      }
    }
  }
}

/** Zones are less than a day and two hours apart. */
const NEAR_MS = 26 * 3_600_000

const isNear = (millis: number, value: Json | undefined, forms: readonly Form[]): boolean => {
  if (typeof value === 'number') return EPOCHS.some(({ unit }) => Math.abs(value * unit - millis) < NEAR_MS)
  return forms.some((form) => {
    const moment = readMoment(form, String(value))
    return moment !== undefined && Math.abs(toMillis(moment) - millis) <= NEAR_MS
  })
}

/** The pattern as people write it. */
const bare = ({ source }: RegExp): RegExp =>
  new RegExp(
    source.replace(/\((\\d\{\d\})\)/g, '$1').replace(/(?:\\d\{\d\}){2,}/g, (digits) => {
      const widths = digits.match(/\d(?=\})/g) ?? []
      return `\\d{${widths.reduce((sum, width) => sum + Number(width), 0)}}`
    }),
  )

/**
 * The same parts in other places: slices, which leave the time in its zone. `wanted`: gives what a time lacks, no seconds and
 * the zone that it is in.
 */
function tryParts(search: Search, column: Column, from: Form, to: Form, wanted?: Moment): boolean {
  const isLocal = from.parts.includes('H') && !from.parts.includes('z') && !from.parts.includes('o')
  const lacking = (part: string): string | undefined => {
    const text = wanted?.[part]
    return part === 'z' || part === 'o' ? (isLocal ? text : undefined) : /^0+$/.test(text ?? '') ? text : undefined
  }
  const places = new Map<string, readonly [start: number, width: number]>()
  let at = 0
  for (const part of from.parts) {
    const width = isPart(part) ? WIDTHS[part] : part === 'z' ? 6 : part === 'o' ? 5 : 1
    places.set(part, [at, width])
    at += width
  }
  const zone = from.parts.includes('o') ? 'o' : 'z'
  const pieces: (readonly [start: number, width: number] | string)[] = []
  for (const part of to.parts) {
    const last = pieces.at(-1)
    const place = places.get(part)
    const isLiteral = !isPart(part) && part !== 'z' && part !== 'o'
    const literal = isLiteral ? part : place === undefined && 'sfzo'.includes(part) ? lacking(part) : undefined
    if (literal !== undefined) {
      if (typeof last === 'string') pieces[pieces.length - 1] = last + literal
      else pieces.push(literal)
    } else if (place !== undefined) {
      if (Array.isArray(last) && last[0] + last[1] === place[0])
        pieces[pieces.length - 1] = [last[0], last[1] + place[1]]
      else pieces.push(place)
    } else if (part === 'z' && zone === 'o' && places.has('o')) {
      const [start] = places.get('o') as readonly [number, number]
      const before = Array.isArray(last) && last[0] + last[1] === start
      if (before) pieces[pieces.length - 1] = [last[0], last[1] + 3]
      else pieces.push([start, 3])
      pieces.push(':', [start + 3, 2])
    } else return false
  }
  const zoneWritten = to.parts.flatMap((part) =>
    places.has(part) ? [] : (part === 'z' || part === 'o') && lacking(part) ? [lacking(part)] : [],
  )
  const isOfHalfYear =
    zoneWritten.some((text) => text !== undefined && !/^(?:Z|.00:?00)$/.test(text)) &&
    !showsBothHalves(search, column, from)
  // Of a date alone, the time behind it does not matter.
  const whole = bare(from.pattern)
  const start = to.parts.includes('H') ? whole : new RegExp(whole.source.slice(0, -1))
  return search.tryText(
    column,
    'date',
    (text) =>
      readMoment(from, start.exec(text)?.[0] ?? '') &&
      pieces.map((piece) => (typeof piece === 'string' ? piece : text.slice(piece[0], piece[0] + piece[1]))).join(''),
    (path) =>
      pieces
        .map((piece) =>
          typeof piece === 'string' ? textLiteral(piece) : `$substring(${path}, ${piece[0]}, ${piece[1]})`,
        )
        .join(' & '),
    hasForm(start),
    isOfHalfYear ? HALF_YEAR : READING,
  )
}

/** Another zone, the same in every example. */
function tryZones(search: Search, column: Column, from: Form, to: Form): boolean {
  const { value } = search
  const given = readMoment(from, String(search.at(column, search.sample)))
  const wanted = readMoment(to, String(value))
  if (given === undefined || wanted === undefined) return false
  const before = search.found.length
  // Without a zone in the target, it is the difference that is left, in quarters of an hour.
  const left = (toMillis({ ...wanted, z: 'Z' }) - toMillis(given)) / 60_000
  const zone = to.parts.includes('H') ? Math.round(left / 15) * 15 : undefined
  for (const minutes of zone === undefined ? [0, 60, 120, 180, 330, -300] : [zone]) {
    if (Math.abs(minutes) > 14 * 60) continue
    const isOfHalfYear = minutes !== 0 && !showsBothHalves(search, column, from)
    const zoneText = formatMoment(ZONE_ONLY, 0, minutes)
    const zoneArgument = minutes === 0 ? '' : `, ${textLiteral(zoneText)}`
    search.tryText(
      column,
      'date',
      (text) => {
        const moment = readMoment(from, text)
        return moment && formatMoment(to, toMillis(moment), minutes)
      },
      (path) => `$fromMillis(${readMillis(from, path)}, ${textLiteral(picture(to))}${zoneArgument})`,
      hasForm(bare(from.pattern)),
      isOfHalfYear ? HALF_YEAR : READING,
    )
  }
  return search.found.length > before
}

/** Daylight saving time would show. */
function showsBothHalves(search: Search, column: Column, from: Form): boolean {
  const months = search.target.ids.map((_id, row) => Number(readMoment(from, search.textAt(column, row) ?? '')?.M))
  return months.some((month) => month >= 4 && month <= 9) && months.some((month) => month >= 11 || month <= 2)
}

const ZONE_ONLY: Form = { name: 'o', pattern: /^([+-]\d{4})$/, parts: ['o'] }

function tryEpochs(search: Search, column: Column, given: number, wanted: readonly Form[]): void {
  for (const { unit, least, most } of EPOCHS) {
    if (given < least || given > most) continue
    for (const to of wanted) {
      const times = unit === 1 ? '' : ` * ${unit}`
      search.tryGuarded(
        'date',
        [column],
        [isNumber],
        (_row, [value]) =>
          typeof value === 'number' && Math.abs(value) < 8e15 / unit ? formatMoment(to, value * unit, 0) : undefined,
        ([path]) => `$fromMillis(${path}${times}, ${textLiteral(picture(to))})`,
        { reading: READING },
      )
    }
  }
}
