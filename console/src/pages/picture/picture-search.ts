/** The search parameters of the map of all endpoints. */
import { asText, readSearch, type SearchValues } from '../../ui/search-params.ts'

const PARAMETERS = {
  /** Words in names, labels, routes, topics, systems and tables. */
  q: asText,
  /** The id of the node whose neighbours are shown. */
  focus: asText,
}

export const readPictureSearch = readSearch(PARAMETERS)
export type PictureSearch = SearchValues<typeof PARAMETERS>
