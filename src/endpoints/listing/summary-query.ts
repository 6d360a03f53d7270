/** Reads the query of `GET /endpoints?view=summary`. */
import { Failure } from '../../core/failure.ts'
import { didYouMean } from '../../core/nearest.ts'
import { readPlaceCursor, type SortedPlace } from '../../core/records/message-record.ts'

/** The fields that summaries can be sorted by. A `-` before the name sorts descending. */
export const SUMMARY_SORTS = ['name', 'pattern', 'method', 'createdAt', 'updatedAt'] as const
export type SummarySort = (typeof SUMMARY_SORTS)[number]

export const SUMMARY_DEFAULT_LIMIT = 50
export const SUMMARY_LARGEST_LIMIT = 200
export const MAX_SEARCH_CHARACTERS = 200

export type SummaryQuery = Readonly<{
  /** Texts in lower case, all of which a summary must contain. */
  words: readonly string[]
  sort: SummarySort
  descending: boolean
  limit: number
  /** Whether only endpoints with faults are listed. */
  isFaulty: boolean
  /** Where the page before ended. */
  after: SortedPlace | undefined
  /** Field paths with the values that they must have, as in the list of documents. */
  filters: readonly (readonly [path: string, values: readonly string[]])[]
}>

const RESERVED = ['view', 'q', 'sort', 'limit', 'cursor', 'faults']

/** In: each query parameter with its values. Fails with FILTER_INVALID. */
export function readSummaryQuery(texts: ReadonlyMap<string, readonly string[]>): SummaryQuery {
  const sorted = once(texts, 'sort') ?? 'name'
  const descending = sorted.startsWith('-')
  const sort = descending ? sorted.slice(1) : sorted
  if (!isSort(sort)) {
    throw invalid(`sort cannot be "${sorted}"${didYouMean(sort, SUMMARY_SORTS)} It is ${SORTS}.`)
  }
  const after = readPlaceCursor(texts.get('cursor'), sorted)
  return {
    words: wordsOf(once(texts, 'q') ?? ''),
    sort,
    descending,
    limit: limitOf(once(texts, 'limit')),
    isFaulty: isTrue(once(texts, 'faults')),
    after,
    filters: [...texts].filter(([name]) => !RESERVED.includes(name)),
  }
}

const SORTS = `one of ${SUMMARY_SORTS.join(', ')}, with "-" before it for descending`

const isSort = (text: string): text is SummarySort => SUMMARY_SORTS.some((sort) => sort === text)

const invalid = (sentence: string): Failure => new Failure('FILTER_INVALID', sentence)

function isTrue(text: string | undefined): boolean {
  if (text === undefined || text === 'true') return text === 'true'
  throw invalid(`faults is "true" or left out, not "${text}".`)
}

function once(texts: ReadonlyMap<string, readonly string[]>, name: string): string | undefined {
  const [text, ...more] = texts.get(name) ?? []
  if (more.length > 0) throw invalid(`${name} can be given once only.`)
  return text
}

function wordsOf(text: string): readonly string[] {
  if (text.length > MAX_SEARCH_CHARACTERS) throw invalid(`q can have at most ${MAX_SEARCH_CHARACTERS} characters.`)
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return SUMMARY_DEFAULT_LIMIT
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= SUMMARY_LARGEST_LIMIT) return limit
  throw invalid(`limit cannot be "${text}"; it is a whole number from 1 to ${SUMMARY_LARGEST_LIMIT}.`)
}
