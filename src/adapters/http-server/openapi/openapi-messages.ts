/** The part of /openapi.json on recorded messages and their replay. */
import type { JsonObject } from '../../../domain/json.ts'
import { OUTCOMES, SOURCES } from '../../../domain/records/message-record.ts'
import { STAGE_NAMES } from '../../../domain/tracing/stages.ts'
import { DEFAULT_LIMIT, LARGEST_LIMIT } from '../../../message-log/message-search.ts'
import {
  answer,
  content,
  failure,
  id,
  inPath,
  list,
  number,
  object,
  oneOf,
  ref,
  text,
  time,
  whole,
} from './openapi-parts.ts'

type Filter = Readonly<{ schema: JsonObject; description: string; once?: true }>

/** The filters by name. One that is not `once` may be repeated; a message then matches any of its values. */
const FILTERS: Readonly<Record<string, Filter>> = {
  endpoint: { schema: text, description: 'Name or id of an endpoint.' },
  outcome: { schema: oneOf(OUTCOMES), description: 'How the message ended.' },
  code: { schema: text, description: 'Code of its failure.' },
  stage: { schema: oneOf(STAGE_NAMES), description: 'Stage at which it failed.' },
  source: { schema: oneOf(SOURCES), description: 'How it came.' },
  key: { schema: text, description: 'Value of a business key, or its name and value: `patient:123`.' },
  status: { schema: text, description: 'HTTP status of its answer: `502`, or `5xx`.' },
  replayOf: { schema: id, description: 'The message that it repeats.' },
  replayed: {
    schema: { type: 'boolean' },
    description: 'Of messages that did not end done: whether a replay has.',
    once: true,
  },
  from: { schema: text, description: 'ISO 8601, or before now: `-1h`. Inclusive.', once: true },
  to: { schema: text, description: 'ISO 8601, or before now: `-1h`. Exclusive.', once: true },
}

const filters = Object.entries(FILTERS).map(([name, { schema, description, once }]) => ({
  name,
  in: 'query',
  description,
  schema: once ? schema : list(schema),
}))

const filterBody = object(
  Object.fromEntries(
    Object.entries(FILTERS).map(([name, { schema, description, once }]) => [
      name,
      { description, ...(once ? schema : { anyOf: [schema, list(schema)] }) },
    ]),
  ),
)

const wrongFilter = { 400: failure('A filter is not known, or cannot have this value.') }
const notFound = { 400: failure('The id is malformed.'), 404: failure('There is no record of it, or not any more.') }
const planUnknown = { 404: failure('There is no such plan, or not any more.') }
const planBusy = { 409: failure('The plan is being run, or has ended.') }

export const messagePaths: JsonObject = {
  '/messages': {
    get: {
      summary: 'Recorded messages, newest first, without bodies and calls.',
      parameters: [
        ...filters,
        {
          name: 'limit',
          in: 'query',
          schema: { ...whole, minimum: 1, maximum: LARGEST_LIMIT, default: DEFAULT_LIMIT },
        },
        { name: 'cursor', in: 'query', description: '`next` of the page before.', schema: text },
      ],
      responses: {
        200: answer('A page.', object({ messages: list(ref('ListedMessage')), next: text }, ['messages'])),
        ...wrongFilter,
      },
    },
  },
  '/messages/groups': {
    get: {
      summary: 'Messages that did not end done, by endpoint, stage and code; the largest group first.',
      parameters: filters,
      responses: { 200: answer('The groups.', object({ groups: list(ref('MessageGroup')) })), ...wrongFilter },
    },
  },
  '/messages/{id}': {
    parameters: [inPath('id', id)],
    get: { summary: 'One message.', responses: { 200: answer('Its record.', ref('Message')), ...notFound } },
  },
  '/messages/{id}/body/{which}': {
    parameters: [inPath('id', id), inPath('which', text)],
    get: {
      summary: 'A body of a message, as it was: one of those that `bodies` of its record names.',
      responses: {
        200: {
          description: 'Its bytes, in its own type.',
          headers: {
            'X-Crosswalk-Body': { description: '`cut` or `masked`, where it is.', schema: text },
            'X-Crosswalk-Body-Size': { description: 'Bytes of the whole body.', schema: whole },
          },
          content: { '*/*': {} },
        },
        ...notFound,
      },
    },
  },
  '/messages/{id}/replay': {
    parameters: [inPath('id', id)],
    post: {
      summary: 'Runs a message once more, through its endpoint as it is now.',
      requestBody: { description: 'Takes the place of the body that came.', required: false, content: { '*/*': {} } },
      responses: {
        200: answer('What became of it.', ref('Replayed')),
        ...notFound,
        409: failure('It cannot be replayed, or is being replayed.'),
        503: failure('Too many messages are under way, or the service is stopping.'),
      },
    },
  },
  '/messages/replay': {
    get: {
      summary: 'The plans of replays, newest first.',
      responses: { 200: answer('The plans.', object({ plans: list(ref('ReplayPlan')) })) },
    },
    post: {
      summary: 'Plans to replay all messages of a filter. Without `outcome`: those that did not end done.',
      requestBody: { required: false, ...content(filterBody) },
      responses: { 201: answer('The plan.', ref('ReplayPlan')), ...wrongFilter, ...planBusy },
    },
  },
  '/messages/replay/{plan}': {
    parameters: [inPath('plan', id)],
    get: {
      summary: 'A plan, and how far it came.',
      responses: { 200: answer('The plan.', ref('ReplayPlan')), ...planUnknown },
    },
  },
  '/messages/replay/{plan}/run': {
    parameters: [inPath('plan', id)],
    post: {
      summary: 'Starts a plan, or resumes it.',
      requestBody: {
        required: false,
        ...content(
          object({
            max: { ...whole, description: 'Messages of this run.' },
            concurrency: { ...whole, description: 'Messages at once. 1 keeps their order.', default: 1 },
            perSecond: { ...number, description: 'Messages started in a second.' },
          }),
        ),
      },
      responses: {
        202: answer('The plan.', ref('ReplayPlan')),
        400: failure('A limit is not known, or cannot have this value.'),
        ...planUnknown,
        ...planBusy,
      },
    },
  },
  '/messages/replay/{plan}/cancel': {
    parameters: [inPath('plan', id)],
    post: {
      summary: 'Starts no further message of a plan.',
      responses: { 200: answer('The plan.', ref('ReplayPlan')), ...planUnknown, ...planBusy },
    },
  },
}

const outcome = oneOf(OUTCOMES)
const obstacles = list(object({ reason: text, error: text, count: whole, sampleId: id }))

const listed = {
  id,
  endpointId: id,
  endpoint: text,
  endpointVersion: whole,
  source: oneOf(SOURCES),
  startedAt: time,
  ms: number,
  outcome,
  status: whole,
  code: text,
  stage: text,
  path: text,
  error: text,
  triedAgain: { type: 'boolean' },
  stages: list(object({ stage: oneOf(STAGE_NAMES), ms: number })),
  keys: { type: 'object', additionalProperties: { anyOf: [text, list(text)] } },
  replayOf: id,
  answerOf: id,
  bodies: list(
    object({
      which: text,
      contentType: text,
      size: whole,
      cut: { type: 'boolean' },
      masked: { type: 'boolean' },
    }),
  ),
}

const calls = list(
  object({
    kind: oneOf(['lookup', 'response']),
    id: text,
    method: text,
    target: text,
    item: whole,
    startMs: number,
    ms: number,
    status: whole,
    remark: { ...text, description: 'A note on an answer that was accepted, such as a body that cannot be read.' },
    fault: text,
  }),
)

const always = ['id', 'source', 'startedAt', 'ms', 'outcome', 'status', 'stages', 'keys', 'bodies']

export const messageSchemas: JsonObject = {
  ListedMessage: object(listed, always),
  Message: object({ ...listed, calls, callsOmitted: whole }, [...always, 'calls']),
  MessageGroup: object({
    endpointId: id,
    endpoint: text,
    stage: text,
    code: text,
    count: whole,
    firstSeen: time,
    lastSeen: time,
    sampleId: id,
  }),
  Replayed: object({
    id,
    replayOf: id,
    alreadyDoneBy: { ...id, description: 'An earlier replay of the message that ended done.' },
    outcome,
    code: text,
    error: text,
    status: whole,
    ms: number,
    withoutHeadersAndQuery: { type: 'boolean' },
    answer: { description: 'JSON as what it is, anything else as text.' },
  }),
  ReplayPlan: object({
    id,
    state: oneOf(['planned', 'running', 'paused', 'finished', 'cancelled']),
    createdAt: time,
    filter: { type: 'object' },
    count: whole,
    groups: list(object({ endpointId: id, endpoint: text, outcome, code: text, count: whole })),
    cannot: obstacles,
    done: whole,
    failed: whole,
    skipped: whole,
    skippedFor: obstacles,
    left: whole,
    stoppedBy: text,
  }),
}
