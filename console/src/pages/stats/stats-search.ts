/** The search parameters of the statistics of an endpoint. */
import { asOneOf, readSearch, type SearchOf } from '../../ui/search-params.ts'

export const PERIODS = ['hour', 'day'] as const

const PARAMETERS = { period: asOneOf(PERIODS) }

export const readStatsSearch = readSearch(PARAMETERS)
export type StatsSearch = SearchOf<typeof PARAMETERS>
