/** The query of `GET /endpoints?view=summary`. */
import { didYouMean } from '../core/nearest.ts'
import { decodePositionCursor, POSITION_CURSOR_FAULT, type SortPosition } from '../core/records/cursor.ts'
import { constant, described, enumSchema, extend, noted, pageLimit, type QueryOf, text } from '../core/schema.ts'

/** The fields that summaries can be sorted by. A `-` before the name sorts descending. */
const SORTS = ['name', 'pattern', 'method', 'createdAt', 'updatedAt'] as const
export type SummarySort = (typeof SORTS)[number]

const DEFAULT_LIMIT = 50

export const SUMMARY_QUERY = {
  view: noted(described(constant('summary'), 'A page of rows with counts instead of whole documents.'), {
    joined: true,
    fault: (view) => `view cannot be "${view}"; it is "summary".`,
  }),
  q: extend(text, {
    maxLength: 200,
    description: 'Of the summary: words, all in the name, description, pattern, labels or id.',
  }),
  sort: noted(
    described(
      enumSchema(SORTS.flatMap((sort) => [sort, `-${sort}` as const])),
      'Of the summary: by name unless given; "-" sorts descending.',
    ),
    {
      fault: (sort) =>
        `sort cannot be "${sort}"${didYouMean(sort.replace(/^-/, ''), SORTS)} It is one of ${SORTS.join(', ')}, with "-" before it for descending.`,
    },
  ),
  limit: pageLimit(200, DEFAULT_LIMIT, 'Of the summary: rows of a page.'),
  faults: noted(described(constant('true'), 'Of the summary: only endpoints that have a `reason`.'), {
    fault: (faults) => `faults is "true" or left out, not "${faults}".`,
  }),
  cursor: noted(described(text, 'Of the summary: `next` of the page before, with the same sort.'), {
    is: () => true,
    fault: POSITION_CURSOR_FAULT,
  }),
}

export type SummaryQuery = Readonly<{
  /** Texts in lower case, all of which a summary must contain. */
  words: readonly string[]
  sort: SummarySort
  descending: boolean
  limit: number
  /** Only endpoints with faults are listed. */
  isFaulty: boolean
  /** Where the page before ended. */
  after: SortPosition | undefined
}>

/** Fails with FILTER_INVALID for a cursor of another sort. */
export function readSummaryQuery(query: QueryOf<typeof SUMMARY_QUERY>): SummaryQuery {
  const { q = '', sort = 'name', limit = DEFAULT_LIMIT, faults, cursor } = query
  const words = q.toLowerCase().split(/\s+/)
  return {
    words: words.filter((word) => word !== ''),
    sort: sort.replace(/^-/, '') as SummarySort,
    descending: sort.startsWith('-'),
    limit,
    isFaulty: faults === 'true',
    after: decodePositionCursor(cursor, sort),
  }
}
