/** The search parameters of the statistics of an endpoint. */
import { asChoice, readSearch, type SearchValues } from '../../ui/search-params.ts'

export const PERIODS = ['hour', 'day'] as const

const PARAMETERS = { period: asChoice(PERIODS) }

export const readStatsSearch = readSearch(PARAMETERS)
export type StatsSearch = SearchValues<typeof PARAMETERS>
