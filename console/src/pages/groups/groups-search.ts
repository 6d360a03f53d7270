/** The search parameters of /groups. */
import { asOneOf, asText, asTexts, readSearch, type SearchOf } from '../../ui/search-params.ts'

const PARAMETERS = {
  state: asOneOf(['open', 'acknowledged', 'ignored', 'all']),
  endpoint: asTexts,
  outcome: asTexts,
  code: asTexts,
  from: asText,
  to: asText,
}

export const readGroupsSearch = readSearch(PARAMETERS)
export type GroupsSearch = SearchOf<typeof PARAMETERS>
