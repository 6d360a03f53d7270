/** The search parameters of /audit: the filters of the API. */
import { asText, asTexts, readSearch, type SearchValues } from '../../ui/search-params.ts'

const PARAMETERS = { who: asTexts, what: asTexts, from: asText, to: asText }

export const readAuditSearch = readSearch(PARAMETERS)
export type AuditSearch = SearchValues<typeof PARAMETERS>
