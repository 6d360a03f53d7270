/** What people see of deliveries: the schemas of the API, from which the types of its answers follow. */
import type { Static } from 'typebox'
import { DELIVERY_STATES } from '../core/deliveries/delivery.ts'
import { OUTCOMES } from '../core/records/message-record.ts'
import {
  described,
  enumSchema,
  flag,
  id,
  list,
  named,
  number,
  object,
  record,
  text,
  time,
  whole,
} from '../core/schema.ts'

const state = enumSchema(DELIVERY_STATES)
const Attempt = object(
  { at: time, ms: number },
  {
    status: described(whole, 'Of the answer of the target.'),
    fault: described(text, 'Why there was no answer, or the code of a failure.'),
    message: text,
  },
)

const listedAlways = {
  id,
  messageId: id,
  endpointId: id,
  endpoint: text,
  request: described(text, 'Id of the response request.'),
  target: text,
  state,
  acceptedAt: time,
  attempts: described(whole, 'Since it was accepted, or since the last retry by hand.'),
  bytes: described(whole, 'Of the request and its body, as they are stored.'),
}

const listed = {
  item: described(whole, 'The index of its item, in a forEach.'),
  key: described(text, 'Deliveries with the same key arrive in order.'),
  endedAt: time,
  dueAt: described(time, 'When the next attempt is due, of the first pending one of its key.'),
  lastAttempt: Attempt,
}

export const Delivery = named('Delivery', listedAlways, listed)

/** With references in place of secrets. */
const sent = { method: text, url: text, headers: record(text) }
const contentType = text

const detailAlways = { ...listedAlways, lastAttempts: described(list(Attempt), 'The latest ones, oldest first.') }
const detail = {
  ...listed,
  outgoing: described(
    object(sent, { contentType }),
    'What is sent, without the query of the URL, and `***` in place of secrets and of values of the message in headers.',
  ),
}
export const DeliveryDetail = named('DeliveryDetail', detailAlways, detail)

export const RetriedDelivery = named('RetriedDelivery', detailAlways, {
  ...detail,
  replay: described(
    object({ id, outcome: enumSchema(OUTCOMES) }, { code: text, error: text }),
    'The message that ran through the document of today.',
  ),
  warning: text,
})

export const OutgoingRequest = named('OutgoingRequest', sent, {
  contentType,
  body: text,
  bodyBase64: described(text, 'A body that is not UTF-8.'),
  masked: described(flag, 'Parts of the body are hidden (REDACT_PATHS).'),
})

export const DeliveryCount = named('DeliveryCount', {
  endpointId: id,
  endpoint: text,
  request: text,
  target: text,
  state,
  count: whole,
  bytes: whole,
})

export const DeliveryGroup = named(
  'DeliveryGroup',
  {
    endpointId: id,
    endpoint: text,
    request: text,
    target: text,
    count: whole,
    firstAt: described(time, 'When the first one was accepted.'),
    lastAt: described(time, 'When the last one was accepted.'),
    sampleId: described(id, 'The newest one.'),
  },
  { status: described(whole, 'Of the last answer of the target.'), fault: text },
)

export const ChangedDeliveries = named('ChangedDeliveries', {
  count: whole,
  ids: described(list(id), 'At most 1,000.'),
  more: described(flag, 'Others that match were left: repeat the call.'),
})

const { item, endedAt, dueAt } = listed
const SenderDelivery = object(
  { id, request: listedAlways.request, state, acceptedAt: time, attempts: listedAlways.attempts },
  { item, endedAt, dueAt, lastStatus: described(whole, 'Of the answer of the target to the last attempt.') },
)
/** Nothing of the target but its status. */
export const DeliveriesOfMessage = named('DeliveriesOfMessage', {
  messageId: id,
  deliveries: described(list(SenderDelivery), 'In the order in which the message made them.'),
})

export type DeliveryView = Static<typeof Delivery>
export type DeliveryDetail = Static<typeof DeliveryDetail>
export type RetriedDelivery = Static<typeof RetriedDelivery>
export type OutgoingRequest = Static<typeof OutgoingRequest>
export type OutgoingView = NonNullable<DeliveryDetail['outgoing']>
export type DeliveryGroup = Static<typeof DeliveryGroup>
export type ChangedDeliveries = Static<typeof ChangedDeliveries>
export type SenderView = Static<typeof SenderDelivery>
