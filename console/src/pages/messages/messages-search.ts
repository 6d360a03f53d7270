/** The search parameters of /messages and /messages/:id: the filters of the API under their own names. */
import type { MessageFilters } from '../../api/record-types.ts'
import { asOneOf, asText, asTexts, readSearch, type SearchOf } from '../../ui/search-params.ts'

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
  replayed: asOneOf(['true', 'false']),
  from: asText,
  to: asText,
  /** Of a message: the body that is open. */
  body: asText,
}

export const readMessagesSearch = readSearch(PARAMETERS)
export type MessagesSearch = SearchOf<typeof PARAMETERS>

/** For links from one message to another. */
export const withoutBody = ({ body, ...others }: MessagesSearch): MessagesSearch => others

/** What narrows a search by the text of errors, so that the service need not read all failures. */
const NARROW = ['endpoint', 'code', 'path', 'group', 'id', 'from'] as const

/**
 * In: search parameters as somebody changed them. Out: those that the API takes together: a search in the text of errors is one
 * of the last day unless something else narrows it, and a version or a path that has lost its endpoint goes.
 */
export function soundSearch(search: MessagesSearch): MessagesSearch {
  const { version, ...others } = search
  const kept = search.endpoint === undefined && search.group === undefined ? others : search
  if (kept.error === undefined || NARROW.some((name) => kept[name] !== undefined)) return kept
  return { ...kept, from: '-24h' }
}

/** The filters of the API that a URL has. */
export function filtersOf({ body, ...filters }: MessagesSearch): MessageFilters {
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

/** In: the text of a field. Out: the values of its parameter; undefined if there are none. */
export function valuesOfText(name: string, text: string): readonly string[] | undefined {
  const values = LISTS.has(name) ? text.split(',').map((one) => one.trim()) : [text.trim()]
  const given = values.filter((one) => one !== '')
  return given.length === 0 ? undefined : given
}

/** In: the values of a parameter. Out: the text of its field; several values that could hold commas are not shown in it. */
export function textOfValues(name: string, values: string | readonly string[] | undefined): string | undefined {
  if (values === undefined || typeof values === 'string') return values
  return values.length === 1 || LISTS.has(name) ? values.join(', ') : undefined
}
