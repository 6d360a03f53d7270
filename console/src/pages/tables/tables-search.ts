/** The search parameters of the pages of tables. */
import { asText, asWhole, readSearch } from '../../ui/search-params.ts'

export const readRowsSearch = readSearch({ search: asText })
/** The two versions that are compared. */
export const readTableVersionsSearch = readSearch({ from: asWhole, to: asWhole })
/** `endpoint`: its id. */
export const readUnmappedSearch = readSearch({ table: asText, endpoint: asText })
