/** The part of /openapi.json on recorded messages. */
import type { JsonObject } from '../../../domain/json.ts'
import { OUTCOMES, SOURCES } from '../../../domain/records/message-record.ts'
import { STAGE_NAMES } from '../../../domain/tracing/stages.ts'
import { MOST_IDS } from '../../../message-log/message-filter.ts'
import { DEFAULT_LIMIT, LARGEST_LIMIT } from '../../../message-log/message-search.ts'
import { answer, failure, id, inPath, list, number, object, oneOf, ref, text, time, whole } from './openapi-parts.ts'

type Filter = Readonly<{ schema: JsonObject; description: string; once?: true }>

/** The filters by name. One that is not `once` may be repeated; a message then matches any of its values. */
const FILTERS: Readonly<Record<string, Filter>> = {
  endpoint: { schema: text, description: 'Name or id of an endpoint.' },
  outcome: { schema: oneOf(OUTCOMES), description: 'How the message ended.' },
  code: { schema: text, description: 'Code of its failure.' },
  stage: { schema: oneOf(STAGE_NAMES), description: 'Stage at which it failed.' },
  path: { schema: text, description: 'Path at which it failed, exactly.' },
  error: {
    schema: text,
    description:
      'Part of the sentence of its failure. Needs `endpoint`, `code`, `path`, `group`, `id` or `from` beside it.',
  },
  version: { schema: whole, description: 'Version of its endpoint. Needs `endpoint` or `group` beside it.' },
  group: {
    schema: text,
    description: 'Key of a group of failures. Takes the place of `endpoint`, `stage`, `code` and `path`.',
    once: true,
  },
  id: { schema: id, description: `Id of the message; at most ${MOST_IDS}.` },
  source: { schema: oneOf(SOURCES), description: 'How it came.' },
  key: { schema: text, description: 'Value of a business key, or its name and value: `patient:123`.' },
  status: { schema: text, description: 'HTTP status of its answer: `502`, or `5xx`.' },
  replayOf: { schema: id, description: 'The message that it repeats.' },
  replayed: {
    schema: { type: 'boolean' },
    description: 'Of messages that did not end done: whether a replay has.',
    once: true,
  },
  captured: { schema: { type: 'boolean' }, description: 'Whether a capture recorded it.', once: true },
  from: { schema: text, description: 'ISO 8601, or before now: `-1h`. Inclusive.', once: true },
  to: { schema: text, description: 'ISO 8601, or before now: `-1h`. Exclusive.', once: true },
}

export const filters = Object.entries(FILTERS).map(([name, { schema, description, once }]) => ({
  name,
  in: 'query',
  description,
  schema: once ? schema : list(schema),
}))

export const filterBody = object(
  Object.fromEntries(
    Object.entries(FILTERS).map(([name, { schema, description, once }]) => [
      name,
      { description, ...(once ? schema : { anyOf: [schema, list(schema)] }) },
    ]),
  ),
)

export const wrongFilter = { 400: failure('A filter is not known, or cannot have this value.') }
export const notFound = {
  400: failure('The id is malformed.'),
  404: failure('There is no record of it, or not any more.'),
}

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
}

const outcome = oneOf(OUTCOMES)

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
  stages: list(object({ stage: oneOf(STAGE_NAMES), ms: number }, ['stage', 'ms'])),
  keys: { type: 'object', additionalProperties: { anyOf: [text, list(text)] } },
  replayOf: id,
  answerOf: id,
  captured: { type: 'boolean', description: 'A capture of its endpoint recorded it, with all bodies.' },
  bodies: list(
    object(
      {
        which: text,
        contentType: text,
        size: whole,
        cut: { type: 'boolean' },
        masked: { type: 'boolean' },
        maskedFor: list(oneOf(['credential', 'redact-paths', 'unreadable'])),
      },
      ['which', 'contentType', 'size'],
    ),
  ),
}

const calls = list(
  object(
    {
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
    },
    ['kind', 'id', 'method', 'target', 'startMs', 'ms'],
  ),
)

const group = { ...text, description: 'Key of its group of failures, of a message that did not end done.' }

const replayable = object(
  {
    can: { type: 'boolean' },
    reason: { ...text, description: 'Why it cannot be replayed, for programs.' },
    why: { ...text, description: 'The same for people.' },
    withBody: { type: 'boolean', description: 'Whether it can be replayed with another body.' },
    alreadyDoneBy: {
      ...id,
      description: 'Another message: a replay of it, or of the one that it replays, that ended done.',
    },
  },
  ['can'],
)

const always = ['id', 'source', 'startedAt', 'ms', 'outcome', 'status', 'stages', 'keys', 'bodies']

export const messageSchemas: JsonObject = {
  ListedMessage: object(listed, always),
  Message: object({ ...listed, calls, callsOmitted: whole, replayable, group }, [...always, 'calls', 'replayable']),
}
