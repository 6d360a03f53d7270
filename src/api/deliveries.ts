/** `/deliveries`: the requests that are stored until their target has them, and what people do with those that do not arrive. */
import { DELIVERY_ACTS, type DeliveryAct, MAX_CHANGED_DELIVERIES } from '../core/deliveries/delivery.ts'
import { cursor } from '../core/records/cursor.ts'
import {
  anything,
  described,
  enumSchema,
  extend,
  flag,
  id,
  json,
  list,
  noted,
  object,
  pageLimit,
  text,
  time,
  whole,
} from '../core/schema.ts'
import { DELIVERY_FILTERS, type DeliveryQuery } from '../deliveries/delivery-filter.ts'
import {
  ChangedDeliveries,
  DeliveriesOfMessage,
  Delivery,
  DeliveryCount,
  DeliveryDetail,
  DeliveryGroup,
  OutgoingRequest,
  RetriedDelivery,
} from '../deliveries/delivery-schemas.ts'
import { DEFAULT_LIMIT, MAX_GROUPED, MAX_LIMIT } from '../deliveries/delivery-service.ts'
import type { Call } from './call.ts'
import { answer, checkedBody, findsNoEndpoint, optionalBody, route } from './route.ts'
import type { Api } from './services.ts'

const findsNoDelivery = ['ID_MALFORMED', 'DELIVERY_UNKNOWN'] as const

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

/** Changes the deliveries of a filter. The audit log gets one entry, with the filter. */
const bulkRoute = <const Act extends DeliveryAct>(act: Act) =>
  ({
    method: 'POST',
    path: `/deliveries/${act}`,
    did: act === 'retry' ? 'retried the deliveries of a filter' : 'cancelled the deliveries of a filter',
    role: 'operator',
    body: checkedBody(ManyRequest, { code: 'FILTER_INVALID', mayBeEmpty: true }),
    answers: {
      200: answer('What was changed: of a retry the oldest first, of a cancellation the newest.', ChangedDeliveries),
    },
    handle: async (call: Call<never, unknown, DeliveryQuery & Readonly<{ max?: number }>>, { deliveries }: Api) => {
      const { max = MAX_CHANGED_DELIVERIES, ...query } = call.body
      const done = await deliveries.changeAll(act, query, max)
      call.noteEffects({ note: `${done.count} changed: ${JSON.stringify(query)}` })
      return done
    },
  }) as const

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
    did: 'read what delivery {target} sends',
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
    did: 'retried delivery {target}',
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
    fails: [
      ...findsNoDelivery,
      'DELIVERY_BUSY',
      'DELIVERY_ENDED',
      'MESSAGE_UNKNOWN',
      'REPLAY_REFUSED',
      'OVERLOADED',
      'SHUTTING_DOWN',
    ],
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
    did: 'cancelled delivery {target}',
    role: 'operator',
    summary: 'Ends a delivery that is pending or undeliverable; a request that is being sent may arrive nevertheless.',
    body: optionalBody(anything),
    answers: { 200: answer('The delivery.', DeliveryDetail) },
    fails: [...findsNoDelivery, 'DELIVERY_ENDED'],
    sends: 'no-store',
    handle: async ({ params }, { deliveries }) => deliveries.cancel(params.id),
  }),
  route({
    ...bulkRoute('retry'),
    summary: `Sends the deliveries of a filter again, at once. Without \`state\`: the ${DELIVERY_ACTS.retry} ones.`,
  }),
  route({
    ...bulkRoute('cancel'),
    summary: `Ends the deliveries of a filter. Without \`state\`: the ${DELIVERY_ACTS.cancel} ones.`,
  }),
]
