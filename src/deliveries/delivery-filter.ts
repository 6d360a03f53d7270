/** The filters of deliveries: their schemas, in a query and in JSON, and what they select. */
import { DELIVERY_STATES } from '../core/deliveries/delivery.ts'
import { omitUndefined } from '../core/json.ts'
import { described, enumSchema, id, moment, noted, type QueryOf, text } from '../core/schema.ts'
import { type FilterContext, resolveEndpointId, timesIn } from '../records/message-log/message-filter.ts'
import type { DeliveryFilter } from '../store/sql/delivery-store.ts'

const someText = noted(text, { is: (value) => value !== '', expects: 'a text' })

export const DELIVERY_FILTERS = {
  state: described(enumSchema(DELIVERY_STATES), 'What became of it so far.'),
  endpoint: described(someText, 'Name or id of an endpoint.'),
  request: described(someText, 'Id of the response request.'),
  target: described(someText, 'Target, exactly as the list has it.'),
  key: described(someText, 'Key of its order, exactly.'),
  message: described(noted(id, { expects: 'the id of a message, 24 lower-case hexadecimal digits' }), 'Its message.'),
  from: moment('Inclusive'),
  to: moment('Exclusive'),
}

export type DeliveryQuery = QueryOf<typeof DELIVERY_FILTERS>

/** Fails with FILTER_INVALID for an unknown endpoint. */
export function readDeliveryFilter(query: DeliveryQuery, { endpoints, nowMs }: FilterContext): DeliveryFilter {
  const { state, endpoint, request, target, key, message } = query
  const { from, to } = timesIn(query, nowMs)
  return omitUndefined({
    state,
    endpointId: endpoint === undefined ? undefined : resolveEndpointId(endpoint, endpoints, 'deliveries'),
    requestId: request,
    target,
    orderKey: key,
    messageId: message,
    fromMs: from,
    toMs: to,
  })
}
