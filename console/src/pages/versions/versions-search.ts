/** The search parameters of the versions of an endpoint: the two that are compared. */
import { asWhole, readSearch, type SearchOf } from '../../ui/search-params.ts'

const PARAMETERS = { from: asWhole, to: asWhole }

export const readVersionsSearch = readSearch(PARAMETERS)
export type VersionsSearch = SearchOf<typeof PARAMETERS>
