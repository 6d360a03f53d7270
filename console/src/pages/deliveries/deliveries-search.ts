/** The search parameters of /deliveries: the filters of the API. */
import { DELIVERY_STATES } from '../../../../src/core/deliveries/delivery.ts'
import { asChoice, asText, readSearch, type SearchValues } from '../../ui/search-params.ts'

const PARAMETERS = {
  state: asChoice(DELIVERY_STATES),
  endpoint: asText,
  request: asText,
  target: asText,
  key: asText,
  message: asText,
  from: asText,
}

export const readDeliveriesSearch = readSearch(PARAMETERS)
export type DeliveriesSearch = SearchValues<typeof PARAMETERS>
