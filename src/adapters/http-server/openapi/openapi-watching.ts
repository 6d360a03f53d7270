/** The part of /openapi.json on what callers who watch ask for: who they are, summaries, faults, counts, consumers, events. */
import type { JsonObject } from '../../../domain/json.ts'
import { CONSUMER_STATES } from '../../../domain/ports/consumer-state.ts'
import {
  SUMMARY_DEFAULT_LIMIT,
  SUMMARY_LARGEST_LIMIT,
  SUMMARY_SORTS,
} from '../../../endpoints/listing/summary-query.ts'
import { EVENT_TYPES } from '../../../events/service-event.ts'
import { answer, failure, id, inPath, list, number, object, oneOf, ref, text, time, whole } from './openapi-parts.ts'

const inQuery = (name: string, schema: JsonObject, description: string): JsonObject => ({
  name,
  in: 'query',
  schema,
  description,
})

/** Of `GET /endpoints`. */
export const summaryParameters: readonly JsonObject[] = [
  inQuery('view', { const: 'summary' }, 'A page of rows with counts instead of whole documents.'),
  inQuery(
    'q',
    { ...text, maxLength: 200 },
    'Of the summary: words, all in the name, description, pattern, labels or id.',
  ),
  inQuery(
    'sort',
    oneOf(SUMMARY_SORTS.flatMap((sort) => [sort, `-${sort}`])),
    'Of the summary: by name unless given; "-" sorts descending.',
  ),
  inQuery(
    'limit',
    { ...whole, minimum: 1, maximum: SUMMARY_LARGEST_LIMIT, default: SUMMARY_DEFAULT_LIMIT },
    'Of the summary: rows of a page.',
  ),
  inQuery('faults', { const: 'true' }, 'Of the summary: only endpoints that have a `reason`.'),
  inQuery('cursor', text, 'Of the summary: `next` of the page before, with the same sort.'),
]

const endpointId = inPath('id', id)
const reason = {
  ...oneOf(['invalid', 'clash', 'pending', 'tolerated']),
  description: 'Why there are faults; not there without any.',
}

export const watchingPaths: JsonObject = {
  '/me': {
    get: {
      summary: 'Who the caller is, what it may do, and where messages are sent to. Role viewer.',
      responses: { 200: answer('The caller.', ref('Me')) },
    },
  },
  '/endpoints/{id}/faults': {
    parameters: [endpointId],
    get: {
      summary: 'The faults of a stored endpoint, and why it is not active if it is not. Role viewer.',
      responses: {
        200: answer('The faults; none for most endpoints.', ref('EndpointFaults')),
        400: failure('The id is malformed.'),
        404: failure('There is no such endpoint.'),
      },
    },
  },
  '/stats': {
    get: {
      summary: 'How the messages of all endpoints went in the last hour and day, of deleted ones too. Role viewer.',
      responses: { 200: answer('The counts of all instances.', ref('Totals')) },
    },
  },
  '/events': {
    get: {
      summary: 'What happens in the service, as server-sent events; does not end by itself. Role viewer.',
      parameters: [
        inQuery('types', text, `Types with commas between them: ${EVENT_TYPES.join(', ')}; all of them unless given.`),
        {
          name: 'Last-Event-ID',
          in: 'header',
          schema: text,
          description: 'Of the last event before a connection was lost: the event `reset` follows.',
        },
      ],
      responses: {
        200: { description: 'Events until the caller closes the connection.', content: { 'text/event-stream': {} } },
        400: failure('There is no such type.'),
        503: failure('As many callers as the service allows read events already.'),
      },
    },
  },
}

const startedRecords = {
  underWay: { ...whole, description: 'Records that run.' },
  retrying: { ...whole, description: 'Records that wait for their next attempt, or for a change of the endpoint.' },
  holes: { ...whole, description: 'Gaps of records that are not done, before the last record that is done.' },
  oldestAt: { ...time, description: 'When the oldest record that is not done was started.' },
}
const outcomes = { done: whole, partial: whole, refused: whole, failed: whole }

export const watchingSchemas: JsonObject = {
  Me: object(
    {
      who: { ...text, description: '`key:<id>`, `token:<subject>`, `local` or `anyone`.' },
      name: text,
      roles: list(ref('Role')),
      may: { ...list(ref('Role')), description: 'The roles with those that they include.' },
      mode: { ...oneOf(['open', 'keys', 'oidc']), description: 'How the caller was identified.' },
      messageOrigin: {
        ...text,
        description:
          'URL of the message port, such as `http://10.0.0.7:3003`: `PUBLIC_URL` if it is set, otherwise the address of the port itself, with the name of the admin port if `HOST` is every address.',
      },
    },
    ['who', 'roles', 'may', 'mode', 'messageOrigin'],
  ),
  SummaryPage: object({ endpoints: list(ref('EndpointSummary')), total: whole, next: text }, ['endpoints', 'total']),
  EndpointSummary: object(
    {
      id,
      name: text,
      description: text,
      labels: { type: 'object', additionalProperties: text },
      method: text,
      pattern: text,
      input: text,
      output: text,
      kafkaConsumerTopic: text,
      version: whole,
      createdAt: time,
      updatedAt: time,
      active: { type: 'boolean' },
      reason,
      faults: whole,
      stats: object(
        {
          count: { ...whole, description: 'Messages of the last hour.' },
          failures: { ...whole, description: 'Those of them that did not end done.' },
          perMinute: { ...number, description: 'Messages a minute, of the last five whole minutes.' },
        },
        ['count', 'failures', 'perMinute'],
      ),
    },
    ['id', 'name', 'labels', 'method', 'pattern', 'output', 'version', 'active', 'faults', 'stats'],
  ),
  EndpointFaults: object(
    {
      endpointId: text,
      active: { type: 'boolean' },
      version: whole,
      reason,
      error: text,
      faults: list(ref('FailureDetail')),
    },
    ['endpointId', 'active', 'faults'],
  ),
  Consumer: object(
    {
      endpointId: id,
      endpoint: text,
      topic: text,
      groupId: text,
      state: oneOf(CONSUMER_STATES),
      lag: { ...whole, description: 'Records that wait.' },
      inFlight: { ...whole, description: 'Records that are started and not yet committed.' },
      ...startedRecords,
      partitions: list(
        object(
          {
            partition: whole,
            state: oneOf(['running', 'waiting', 'stopped']),
            committed: whole,
            end: whole,
            lag: whole,
            ...startedRecords,
          },
          ['partition', 'state', 'committed', 'end', 'lag', 'underWay', 'retrying', 'holes'],
        ),
      ),
      lastError: object({ message: text, at: time }, ['message', 'at']),
    },
    [
      'endpointId',
      'endpoint',
      'topic',
      'groupId',
      'state',
      'lag',
      'inFlight',
      'underWay',
      'retrying',
      'holes',
      'partitions',
    ],
  ),
  Totals: object(
    {
      perMinute: { ...number, description: 'Messages a minute, of the last five whole minutes.' },
      hour: ref('Counts'),
      day: ref('Counts'),
      minutes: list({ allOf: [ref('Counts'), object({ at: time }, ['at'])] }),
    },
    ['perMinute', 'hour', 'day', 'minutes'],
  ),
  MessagesEvent: {
    ...object(
      {
        at: time,
        ms: number,
        ...outcomes,
        endpoints: list(object({ endpoint: text, endpointId: text, ...outcomes })),
      },
      ['at', 'ms', 'done', 'partial', 'refused', 'failed', 'endpoints'],
    ),
    description: 'The data of the event `messages`.',
  },
}
