/** The search parameters of the page of examples. */
import { asText, asTexts, readSearch } from '../../ui/search-params.ts'

export const readByExampleSearch = readSearch({
  /** The id of the endpoint whose draft is filled; without it, there is a new endpoint. */
  endpoint: asText,
  /** Ids of recorded messages, each a pair. */
  message: asTexts,
})
