/** The state of the service: uptime, health, metrics, counts, consumers, events; the page of the console and this API's description. */
import { Readable } from 'node:stream'
import Type from 'typebox'
import { didYouMean } from '../core/nearest.ts'
import {
  both,
  component,
  described,
  enumSchema,
  flag,
  id,
  list,
  named,
  noted,
  number,
  object,
  text,
  time,
  whole,
} from '../core/schema.ts'
import { sendAnswer } from '../inbound/http/replies.ts'
import { CONSUMER_STATES } from '../inbound/kafka/endpoint-consumers.ts'
import { MLLP_PORT_STATES } from '../inbound/mllp/mllp-ports.ts'
import { EVENT_TYPES, type EventType } from '../observe/events/event-hub.ts'
import { MEDIATOR_STATES } from '../openhim/core-port.ts'
import { sendJson } from './answers.ts'
import { checkQuery } from './check-call.ts'
import { refuseOtherPages } from './forged-calls.ts'
import { answer, type Route, route } from './route.ts'

export const milliseconds = Type.Unsafe<number | null>({
  type: ['number', 'null'],
  description: 'Milliseconds, at most 10 % off; null without any.',
})

/** Of messages in a span of time, of one endpoint or of all. */
export const Counts = named('Counts', {
  count: whole,
  failures: described(whole, 'Messages that did not end done.'),
  p50: milliseconds,
  p95: milliseconds,
  p99: milliseconds,
})

const startedRecords = {
  underWay: described(whole, 'Records that run.'),
  retrying: described(whole, 'Records that wait for their next attempt, or for a change of the endpoint.'),
  holes: described(whole, 'Gaps of records that are not done, before the last record that is done.'),
}
const oldestAt = described(time, 'When the oldest record that is not done was started.')

const SettingGroup = named('SettingGroup', {
  title: text,
  settings: list(
    object(
      {
        name: text,
        means: text,
        accepts: text,
        default: described(text, 'As the environment would have it; empty for none.'),
        isDefault: flag,
      },
      { value: described(text, 'Not of secrets and files.') },
    ),
  ),
})

export const Consumer = named(
  'Consumer',
  {
    endpointId: id,
    endpoint: text,
    topic: text,
    groupId: text,
    state: enumSchema(CONSUMER_STATES),
    lag: described(whole, 'Records that wait.'),
    inFlight: described(whole, 'Records that are started and not yet committed.'),
    ...startedRecords,
    partitions: list(
      object(
        {
          partition: whole,
          state: enumSchema(['running', 'waiting', 'stopped']),
          committed: whole,
          end: whole,
          lag: whole,
          ...startedRecords,
        },
        { oldestAt },
      ),
    ),
  },
  { oldestAt, lastError: object({ message: text, at: time }) },
)

const availability = enumSchema(['ok', 'unavailable'])

/** Both of /health/ready: with 200, and with 503. */
export const Health = named(
  'Health',
  {
    status: described(enumSchema(['ready', 'not ready']), 'Whether messages can be answered now; the rest is detail.'),
    stopping: flag,
    version: text,
    store: availability,
    messageLog: described(availability, 'Without it, messages are answered all the same.'),
    endpoints: whole,
    endpointsNotInForce: described(list(id), 'Stored endpoints that this version of the service refuses.'),
    messagesInFlight: whole,
    consumers: described(list(Consumer), 'Messages over HTTP do not need the broker, so it does not count.'),
    mllpPorts: described(
      list(object({ port: whole, state: enumSchema(MLLP_PORT_STATES), connections: whole }, { error: text })),
      'Ports that endpoints name; one that cannot be opened is tried again, and does not count either.',
    ),
  },
  {
    storeError: text,
    messageLogError: text,
    tablesNotInForce: described(list(text), 'Stored tables whose rows cannot be read.'),
    configurationVersion: described(whole, 'The version of a shared store that this instance has loaded.'),
    deliveries: described(
      object(
        { pending: whole, delivered: whole, undeliverable: whole, cancelled: whole, bytes: whole },
        { oldestAt: time },
      ),
      'Stored deliveries by state, their bytes, and when the oldest pending one was accepted; absent while their store does not answer.',
    ),
    endpointsUnchecked: described(whole, 'Endpoints that are active since the start and not checked yet.'),
    workers: object({
      configured: whole,
      running: described(whole, 'Processes that accept messages now.'),
      lost: described(whole, 'Processes that ended by themselves and were replaced.'),
    }),
    openhim: described(enumSchema(MEDIATOR_STATES), 'Of a mediator; the core does not count either.'),
  },
)

export const Totals = named('Totals', {
  perMinute: described(number, 'Messages a minute, of the last five whole minutes.'),
  hour: Counts,
  day: Counts,
  minutes: list(both([Counts, object({ at: time })])),
})

const outcomes = { done: whole, partial: whole, refused: whole, failed: whole }

export const MessagesEvent = component(
  'MessagesEvent',
  described(
    object({
      at: time,
      ms: number,
      ...outcomes,
      endpoints: list(object({}, { endpoint: text, endpointId: text, ...outcomes })),
    }),
    'The data of the event `messages`.',
  ),
)

const EVENTS_QUERY = {
  types: noted(
    described(text, `Types with commas between them: ${EVENT_TYPES.join(', ')}; all of them unless given.`),
    { joined: true, is: (types) => wrongType(types) === undefined, fault: unknownType },
  ),
}

export const uptimeRoutes = [
  route({
    method: 'GET',
    path: '/uptime',
    role: 'open',
    summary: 'Milliseconds since the process started.',
    answers: { 200: answer('Alive.', object({ milliseconds: whole })) },
    handle: async (_call, { uptimeMs }) => ({ milliseconds: Math.floor(uptimeMs()) }),
  }),
]

const wrongType = (types: string): string | undefined =>
  types.split(',').find((type) => !EVENT_TYPES.some((known) => known === type))

function unknownType(types: string): string {
  const wrong = wrongType(types) ?? ''
  return `There are no events of the type "${wrong}"${didYouMean(wrong, EVENT_TYPES)} There are: ${EVENT_TYPES.join(', ')}.`
}

/** Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export const operationRoutes = [
  route({
    method: 'GET',
    path: '/health/live',
    role: 'open',
    othersUnknown: true,
    summary: 'Whether the process runs.',
    answers: { 200: answer('It does.', object({ status: enumSchema(['alive']) })) },
    handle: async () => ({ status: 'alive' }),
  }),
  route({
    method: 'GET',
    path: '/health/ready',
    role: 'open',
    othersUnknown: true,
    summary: 'Whether messages can be answered now.',
    answers: { 200: answer('They can.', Health), 503: answer('They cannot.', Health) },
    handle: async ({ reply }, { health }) => {
      const { ready, ...detail } = await health()
      if (ready) return { status: 'ready', ...detail }
      return sendJson(reply, 503, { status: 'not ready', ...detail }, { 'retry-after': '1' })
    },
  }),
  route({
    method: 'GET',
    path: '/metrics',
    role: 'metrics',
    othersUnknown: true,
    summary: 'Metrics in the text format of Prometheus.',
    answers: { 200: answer('Metrics.') },
    handle: async ({ reply }, { metrics }) =>
      reply.type(EXPOSITION_TYPE).send(Readable.from(metrics(), { objectMode: false })),
  }),
  route({
    method: 'GET',
    path: '/consumers',
    role: 'viewer',
    summary: 'How the consumer of each endpoint with a topic is doing.',
    answers: { 200: answer('State, lag and last error of each.', list(Consumer)) },
    // With the charset of Fastify, as before.
    handle: async ({ reply }, { consumers }) => reply.send(await consumers()),
  }),
  route({
    method: 'GET',
    path: '/settings',
    did: 'read the settings',
    role: 'admin',
    summary: 'What the service runs with, by the groups of the documentation; no secrets.',
    answers: { 200: answer('The settings.', object({ version: text, groups: list(SettingGroup) })) },
    sends: 'no-store',
    handle: async (_call, { settings, health }) => ({ version: (await health()).version, groups: settings() }),
  }),
  route({
    method: 'GET',
    path: '/stats',
    role: 'viewer',
    summary: 'How the messages of all endpoints went in the last hour and day, of deleted ones too.',
    answers: { 200: answer('The counts of all instances.', Totals) },
    handle: async (_call, { reportAll }) => reportAll(),
  }),
  route({
    method: 'GET',
    path: '/events',
    role: 'viewer',
    summary: 'What happens in the service, as server-sent events; does not end by itself.',
    query: EVENTS_QUERY,
    otherQuery: 'handler',
    headers: {
      'Last-Event-ID': described(text, 'Of the last event before a connection was lost: the event `reset` follows.'),
    },
    answers: {
      200: {
        description: 'Events until the caller closes the connection.',
        content: { 'text/event-stream': {} },
      },
    },
    mentions: [MessagesEvent],
    fails: ['EVENT_STREAMS_TOO_MANY'],
    handle: async (call, { events }) => {
      refuseOtherPages(call.request)
      const { types } = checkQuery(EVENTS_QUERY, call.queryTexts, 'ignored')
      await events.open(call, new Set((types?.split(',') as EventType[] | undefined) ?? EVENT_TYPES))
      return call.reply
    },
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    role: 'viewer',
    othersUnknown: true,
    handle: async ({ reply }, { describe }) =>
      sendAnswer(reply, { status: 200, headers: { 'content-type': 'application/json' }, body: describe() }),
  }),
]

/** The page and its files. They hold nothing secret and ask for a key themselves, so they need no credentials. */
export const consoleRoutes: readonly Route[] = (['GET', 'HEAD'] as const).flatMap((method) => [
  ...['/', '/console'].map((path) =>
    route({ method, path, role: 'open', handle: async ({ reply }, { consoleFiles }) => consoleFiles.redirect(reply) }),
  ),
  route({
    method,
    path: '/console/*',
    role: 'open',
    handle: async ({ request, reply }, { consoleFiles }) => consoleFiles.send(request, reply),
  }),
])
