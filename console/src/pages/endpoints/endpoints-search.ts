/** The search parameters of /endpoints. */
import { asChoice, asText, readSearch, type SearchValues } from '../../ui/search-params.ts'

const SORTS = ['name', 'pattern', 'method', 'createdAt', 'updatedAt'] as const
export const ENDPOINT_SORTS = SORTS.flatMap((name) => [name, `-${name}` as const])

const PARAMETERS = {
  q: asText,
  sort: asChoice(ENDPOINT_SORTS),
  /** `name=value`, as labels are written. */
  label: asText,
  dialog: asChoice(['new', 'import']),
  /** Of the new endpoint: the route that a message needs. */
  pattern: asText,
  method: asChoice(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
}

export const readEndpointsSearch = readSearch(PARAMETERS)
export type EndpointsSearch = SearchValues<typeof PARAMETERS>
