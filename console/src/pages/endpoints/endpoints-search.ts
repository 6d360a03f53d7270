/** The search parameters of /endpoints. */
import { asOneOf, asText, readSearch, type SearchOf } from '../../ui/search-params.ts'

export const ENDPOINT_SORTS = [
  'name',
  '-name',
  'pattern',
  '-pattern',
  'method',
  '-method',
  'createdAt',
  '-createdAt',
  'updatedAt',
  '-updatedAt',
] as const

const PARAMETERS = {
  q: asText,
  sort: asOneOf(ENDPOINT_SORTS),
  /** `name=value`, as labels are written. */
  label: asText,
  /** The dialog that is open. */
  dialog: asOneOf(['new', 'import']),
}

export const readEndpointsSearch = readSearch(PARAMETERS)
export type EndpointsSearch = SearchOf<typeof PARAMETERS>
