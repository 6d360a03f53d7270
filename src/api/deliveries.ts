/** `/deliveries`: the requests that are stored until their target has them, and what people do with those that do not arrive. */
import { DELIVERY_STATES, MAX_CHANGED_DELIVERIES } from '../core/deliveries/delivery.ts'
import { cursor } from '../core/records/cursor.ts'
import { OUTCOMES } from '../core/records/message-record.ts'
import {
  anything,
  described,
  enumSchema,
  extend,
  flag,
  id,
  json,
  list,
  named,
  noted,
  number,
  object,
  pageLimit,
  record,
  text,
  time,
  whole,
} from '../core/schema.ts'
import { DELIVERY_FILTERS, type DeliveryQuery } from '../deliveries/delivery-filter.ts'
import { type Changed, DEFAULT_LIMIT, MAX_GROUPED, MAX_LIMIT } from '../deliveries/delivery-service.ts'
import type { Call } from './call.ts'
import { answer, checkedBody, findsNoEndpoint, optionalBody, route } from './route.ts'

const state = enumSchema(DELIVERY_STATES)
const findsNoDelivery = ['ID_MALFORMED', 'DELIVERY_UNKNOWN'] as const

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
export const DeliveriesOfMessage = named('DeliveriesOfMessage', {
  messageId: id,
  deliveries: described(
    list(
      object(
        { id, request: listedAlways.request, state, acceptedAt: time, attempts: listedAlways.attempts },
        { item, endedAt, dueAt, lastStatus: described(whole, 'Of the answer of the target to the last attempt.') },
      ),
    ),
    'In the order in which the message made them.',
  ),
})

const THEN_OR_NOW = ['then', 'now'] as const

const RetryRequest = object(
  {},
  {
    endpoint: described(
      extend(enumSchema(THEN_OR_NOW), { default: 'then' }),
      '`then`: the request as it was made; `now`: its message runs through the present document.',
    ),
    body: described(
      json,
      'In place of the body: of the request with `then`, of the message with `now`. A text is sent unchanged, any other value as JSON.',
    ),
  },
)

/** The filters of a list in a body. */
const ManyRequest = noted(
  object(
    {},
    {
      ...DELIVERY_FILTERS,
      max: extend(whole, {
        minimum: 1,
        maximum: MAX_CHANGED_DELIVERIES,
        default: MAX_CHANGED_DELIVERIES,
        description: 'How many are changed, at most.',
      }),
    },
  ),
  { fault: 'The filter is an object such as { "endpoint": "Orders", "state": "undeliverable" }.', noun: 'filter ' },
)
const many = checkedBody(ManyRequest, { code: 'FILTER_INVALID', mayBeEmpty: true })
const changed = answer('What was changed, the newest first.', ChangedDeliveries)

/** What the senders of messages may ask for. */
export const senderRoutes = [
  route({
    method: 'GET',
    path: '/endpoints/:id/deliveries/:message',
    role: 'sender',
    summary: 'What became of the deliveries of a message.',
    params: { message: id },
    answers: { 200: answer('Its deliveries.', DeliveriesOfMessage) },
    fails: [...findsNoEndpoint, 'DELIVERY_UNKNOWN'],
    sends: 'no-store',
    handle: async ({ params }, { deliveries }) => deliveries.ofMessage(params.id, params.message),
  }),
]

export const deliveryRoutes = [
  route({
    method: 'GET',
    path: '/deliveries',
    role: 'viewer',
    summary: 'Deliveries, newest first.',
    query: { ...DELIVERY_FILTERS, limit: pageLimit(MAX_LIMIT, DEFAULT_LIMIT), cursor },
    answers: { 200: answer('A page.', object({ deliveries: list(Delivery) }, { next: text })) },
    sends: 'no-store',
    handle: async ({ query }, { deliveries }) => deliveries.list(query),
  }),
  route({
    method: 'GET',
    path: '/deliveries/counts',
    role: 'viewer',
    summary: 'How many deliveries there are, by endpoint, request, target and state.',
    answers: {
      200: answer(
        'The counts.',
        object(
          { counts: list(DeliveryCount) },
          { oldestAt: described(time, 'When the oldest pending one was accepted.') },
        ),
      ),
    },
    sends: 'no-store',
    handle: async (_call, { deliveries }) => {
      const { counts, ...oldest } = await deliveries.counts()
      return { counts: counts.map(({ requestId, ...count }) => ({ ...count, request: requestId })), ...oldest }
    },
  }),
  route({
    method: 'GET',
    path: '/deliveries/groups',
    role: 'viewer',
    summary:
      'Undeliverable deliveries that are alike, by endpoint, request, target and last status; the largest group first.',
    query: DELIVERY_FILTERS,
    answers: {
      200: answer(
        'The groups.',
        object({
          groups: list(DeliveryGroup),
          count: described(whole, `Of all groups; the newest ${MAX_GROUPED.toLocaleString('en')} are grouped.`),
          more: described(flag, 'There are older ones, which no group counts.'),
        }),
      ),
    },
    sends: 'no-store',
    handle: async ({ query }, { deliveries }) => deliveries.groups(query),
  }),
  route({
    method: 'GET',
    path: '/deliveries/:id',
    role: 'viewer',
    summary: 'One delivery, with its attempts.',
    answers: { 200: answer('The delivery.', DeliveryDetail) },
    fails: findsNoDelivery,
    sends: 'no-store',
    handle: async ({ params }, { deliveries }) => deliveries.get(params.id),
  }),
  route({
    method: 'GET',
    path: '/deliveries/:id/request',
    role: 'operator',
    summary: 'What a delivery sends, with its body; secrets stay references, and what the message log hides is hidden.',
    answers: { 200: answer('The request.', OutgoingRequest) },
    fails: [...findsNoDelivery, 'DELIVERY_ENDED'],
    sends: 'no-store',
    handle: async ({ params }, { deliveries }) => deliveries.content(params.id),
  }),
  route({
    method: 'POST',
    path: '/deliveries/:id/retry',
    role: 'operator',
    summary: 'Sends a delivery again, at once, in the order of its key.',
    body: {
      ...checkedBody(RetryRequest, {
        code: 'DELIVERY_RETRY_INVALID',
        sentence: 'The retry of a delivery is wrong.',
        mayBeEmpty: true,
      }),
      required: false,
    },
    answers: { 200: answer('The delivery.', RetriedDelivery) },
    fails: [...findsNoDelivery, 'DELIVERY_ENDED', 'MESSAGE_UNKNOWN', 'REPLAY_REFUSED', 'OVERLOADED', 'SHUTTING_DOWN'],
    sends: 'no-store',
    handle: async (call, { deliveries }) => {
      const { endpoint = 'then', body } = call.body
      call.noteEffects({ note: `${endpoint}${body === undefined ? '' : ', with another body'}` })
      return endpoint === 'now' ? deliveries.replay(call.params.id, body) : deliveries.retry(call.params.id, body)
    },
  }),
  route({
    method: 'POST',
    path: '/deliveries/:id/cancel',
    role: 'operator',
    summary: 'Ends a delivery that is pending or undeliverable; a request that is being sent may arrive nevertheless.',
    body: optionalBody(anything),
    answers: { 200: answer('The delivery.', DeliveryDetail) },
    fails: [...findsNoDelivery, 'DELIVERY_ENDED'],
    sends: 'no-store',
    handle: async ({ params }, { deliveries }) => deliveries.cancel(params.id),
  }),
  route({
    method: 'POST',
    path: '/deliveries/retry',
    role: 'operator',
    summary: 'Sends the deliveries of a filter again, at once. Without `state`: the undeliverable ones.',
    body: many,
    answers: { 200: changed },
    handle: async (call, { deliveries }) => changeMany(call, (query, max) => deliveries.retryAll(query, max)),
  }),
  route({
    method: 'POST',
    path: '/deliveries/cancel',
    role: 'operator',
    summary: 'Ends the deliveries of a filter. Without `state`: the pending ones.',
    body: many,
    answers: { 200: changed },
    handle: async (call, { deliveries }) => changeMany(call, (query, max) => deliveries.cancelAll(query, max)),
  }),
]

/** The audit log gets one entry, with the filter. */
async function changeMany(
  call: Call<never, unknown, DeliveryQuery & Readonly<{ max?: number }>>,
  change: (query: DeliveryQuery, max: number) => Promise<Changed>,
): Promise<Changed> {
  const { max = MAX_CHANGED_DELIVERIES, ...query } = call.body
  const done = await change(query, max)
  call.noteEffects({ note: `${done.count} changed: ${JSON.stringify(query)}` })
  return done
}
