/** The search parameters of /messages and /messages/:id: the filters of the API under their own names. */
import type { MessageFilters } from '../../api/records/record-types.ts'
import { asChoice, asText, asTexts, readSearch, type SearchValues } from '../../ui/search-params.ts'

const PARAMETERS = {
  endpoint: asTexts,
  outcome: asTexts,
  code: asTexts,
  stage: asTexts,
  path: asTexts,
  error: asTexts,
  version: asTexts,
  group: asText,
  id: asTexts,
  source: asTexts,
  key: asTexts,
  status: asTexts,
  replayOf: asTexts,
  replayed: asChoice(['true', 'false']),
  captured: asChoice(['true', 'false']),
  missed: asTexts,
  from: asText,
  to: asText,
  /** New messages are shown as they come. */
  live: asChoice(['on']),
  /** Of a message: the body that is open. */
  body: asText,
}

export const readMessagesSearch = readSearch(PARAMETERS)
export type MessagesSearch = SearchValues<typeof PARAMETERS>

/** For links from one message to another. */
export const withoutBody = ({ body, ...others }: MessagesSearch): MessagesSearch => others

/** What narrows a search by the text of errors, so that the service need not read all failures. */
const LAST_DAY = '-24h'
const NARROW = ['endpoint', 'code', 'path', 'group', 'id', 'from'] as const

/**
 * In: search parameters as somebody changed them. Out: those that the API takes together: a search in the text of errors is one
 * of the last day unless something else narrows it, and a version or a path that has lost its endpoint goes.
 */
export function soundSearch(search: MessagesSearch): MessagesSearch {
  const { version, ...others } = search
  const kept = search.endpoint === undefined && search.group === undefined ? others : search
  if (kept.error === undefined || NARROW.some((name) => kept[name] !== undefined)) return kept
  return { ...kept, from: LAST_DAY }
}

/** True if a search in the text of errors is narrowed to the last day by nothing but the text. */
export const isOfLastDay = (search: MessagesSearch): boolean =>
  search.error !== undefined &&
  search.from === LAST_DAY &&
  NARROW.every((name) => name === 'from' || search[name] === undefined)

/** The filters of the API that a URL has. */
export function toFilters({ body, live, ...filters }: MessagesSearch): MessageFilters {
  return filters
}

/** Filters whose values hold no commas: several are written with commas between them. */
const LISTS: ReadonlySet<string> = new Set([
  'outcome',
  'code',
  'stage',
  'version',
  'id',
  'source',
  'status',
  'replayOf',
])

/** In: the text of a field. Out: the values of its parameter. */
export function splitFilterValues(name: string, text: string): readonly string[] | undefined {
  const values = LISTS.has(name) ? text.split(',').map((one) => one.trim()) : [text.trim()]
  const given = values.filter((one) => one !== '')
  return given.length === 0 ? undefined : given
}

/** In: the values of a parameter. Out: the text of its field; several values that could hold commas are not shown in it. */
export function joinValues(name: string, values: string | readonly string[] | undefined): string | undefined {
  if (values === undefined || typeof values === 'string') return values
  return values.length === 1 || LISTS.has(name) ? values.join(', ') : undefined
}

/** In: a time of the API (RFC 3339, a date, or such as `-1h`). Out: the local time of a datetime field; '' if it is none. */
export function localTime(text: string | undefined, nowMs: number): string {
  const ms = text === undefined ? Number.NaN : readMs(text, nowMs)
  if (Number.isNaN(ms)) return ''
  const date = new Date(ms)
  return new Date(ms - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)
}

/** In: the value of a datetime field. Out: the same time as the API takes it; undefined if the field is empty. */
export function apiTime(local: string): string | undefined {
  const ms = Date.parse(local)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

const MINUTE_MS = 60_000
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: 3_600_000, d: 86_400_000 }

function readMs(text: string, nowMs: number): number {
  const [, count, unit = ''] = /^-(\d+)([smhd])$/.exec(text) ?? []
  return count === undefined ? Date.parse(text) : nowMs - Number(count) * (UNIT_MS[unit] ?? 0)
}
