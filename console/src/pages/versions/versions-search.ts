/** The search parameters of the versions of an endpoint: the two that are compared. */
import { asWhole, readSearch, type SearchValues } from '../../ui/search-params.ts'

const PARAMETERS = { from: asWhole, to: asWhole }

export const readVersionsSearch = readSearch(PARAMETERS)
export type VersionsSearch = SearchValues<typeof PARAMETERS>
