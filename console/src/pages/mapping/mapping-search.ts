/** The search parameters of the mapping view. */
import { asChoice, asText, asWhole, readSearch, type SearchValues } from '../../ui/search-params.ts'

/** What the trees are narrowed to. */
export const SHOWN = ['unread', 'unwritten', 'nothing', 'missing'] as const

const PARAMETERS = {
  /** The id of a recorded message. */
  message: asText,
  /** The name of a stored test. */
  test: asText,
  /** How many newer and older messages count besides. */
  more: asWhole,
  /** Words in the names of fields. */
  q: asText,
  show: asChoice(SHOWN),
}

export const readMappingSearch = readSearch(PARAMETERS)
export type MappingSearch = SearchValues<typeof PARAMETERS>
