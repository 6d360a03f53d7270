/** The search parameters of /deliveries: the filters of the API. */
import { DELIVERY_STATES } from '../../../../src/core/deliveries/delivery.ts'
import { asChoice, asText, readSearch } from '../../ui/search-params.ts'

export const readDeliveriesSearch = readSearch({
  state: asChoice(DELIVERY_STATES),
  endpoint: asText,
  request: asText,
  target: asText,
  key: asText,
  message: asText,
  from: asText,
})
