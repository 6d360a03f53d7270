/** `/messages` and the captures of endpoints: recorded messages. Bodies may hold confidential data about people. */
import type { FastifyReply } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { ENDPOINT_METHODS } from '../core/http.ts'
import { SOURCES } from '../core/origin.ts'
import { cursor } from '../core/records/cursor.ts'
import { type BodySummary, MASK_CAUSES, OUTCOMES, type RecordedBody } from '../core/records/message-record.ts'
import {
  described,
  either,
  enumSchema,
  extend,
  flag,
  id,
  list,
  named,
  noted,
  number,
  object,
  pageLimit,
  record,
  Said,
  text,
  time,
  whole,
} from '../core/schema.ts'
import { STAGE_NAMES } from '../core/tracing/stages.ts'
import { NOT_MADE_CAUSES, TOKEN_ORIGINS } from '../core/tracing/trace.ts'
import { readUnknownRoute } from '../core/unknown-route.ts'
import { parseMediaType } from '../formats/media-type.ts'
import { sendAnswer } from '../inbound/http/replies.ts'
import { MAX_CAPTURED, wrongEnd } from '../records/message-log/captures.ts'
import { MAX_NOTE_CHARACTERS } from '../records/message-log/failure-groups.ts'
import { groupKeyFor } from '../records/message-log/group-key.ts'
import { MESSAGE_FILTERS } from '../records/message-log/message-filter.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../records/message-log/message-search.ts'
import { GROUP_STATES } from '../store/sql/failure-group-store.ts'
import { NO_STORE } from './answers.ts'
import { answer, checkedBody, findsNoEndpoint, route } from './route.ts'

/** The filters in a body: one value, or several. */
export const Filter = object(
  {},
  Object.fromEntries(
    Object.entries(MESSAGE_FILTERS as Readonly<Record<string, TSchema>>).map(([name, schema]) => {
      const {
        items,
        maxItems: _,
        description,
        ...own
      } = schema as Readonly<{ items?: TSchema; maxItems?: number; description: string }>
      return [name, described(items === undefined ? (own as TSchema) : either([items, list(items)]), description)]
    }),
  ),
)

export const findsNoMessage = ['ID_MALFORMED', 'MESSAGE_UNKNOWN'] as const

const listedAlways = {
  id,
  source: enumSchema(SOURCES),
  startedAt: time,
  ms: number,
  outcome: enumSchema(OUTCOMES),
  status: whole,
  stages: list(object({ stage: enumSchema(STAGE_NAMES), ms: number })),
  keys: record(either([text, list(text)])),
  bodies: list(
    object(
      { which: text, contentType: text, size: whole },
      { cut: flag, masked: flag, maskedFor: list(enumSchema(MASK_CAUSES)) },
    ),
  ),
}

const listed = {
  endpointId: id,
  endpoint: text,
  endpointVersion: whole,
  code: text,
  stage: text,
  path: text,
  error: text,
  triedAgain: flag,
  replayOf: id,
  answerOf: id,
  captured: described(flag, 'A capture of its endpoint recorded it, with all bodies.'),
}

const RecordedCall = object(
  { kind: enumSchema(['lookup', 'response']), id: text, method: text, target: text, startMs: number, ms: number },
  {
    item: whole,
    status: whole,
    remark: described(text, 'A note on an answer that was accepted, such as a body that cannot be read.'),
    token: object({ from: described(text, 'The token endpoint.'), how: enumSchema(TOKEN_ORIGINS) }),
    cached: described(
      flag,
      'The answer came from the cache of the lookup, or from the record of the message that is replayed.',
    ),
    stale: described(
      either([text, whole]),
      'Of an old answer from the cache: the fault or the status of the target, in place of which it was used.',
    ),
    fault: text,
  },
)

export const NotMadeRequest = object(
  {
    kind: enumSchema(['lookup', 'response']),
    id: text,
    why: enumSchema(NOT_MADE_CAUSES),
  },
  { item: described(whole, 'The index of its item, in a forEach.') },
)

const Replayable = object(
  { can: flag },
  {
    reason: described(text, 'Why it cannot be replayed, for programs.'),
    why: described(text, 'The same for people.'),
    withBody: described(flag, 'Whether it can be replayed with another body.'),
    alreadyDoneBy: described(id, 'Another message: a replay of it, or of the one that it replays, that ended done.'),
  },
)

export const ListedMessage = named('ListedMessage', listedAlways, listed)
export const Message = named(
  'Message',
  { ...listedAlways, calls: list(RecordedCall), replayable: Replayable },
  {
    ...listed,
    callsOmitted: whole,
    needs: described(
      object({ method: enumSchema(ENDPOINT_METHODS), pattern: text }),
      'Of a message that no endpoint listened to: the route of an endpoint that would take it.',
    ),
    notMade: described(
      list(NotMadeRequest),
      'The requests that were not made, because `when` did not give true or another lookup failed before.',
    ),
    deliveries: described(
      list(object({ id, request: text }, { item: described(whole, 'The index of its item, in a forEach.') })),
      'The requests that were stored to be delivered.',
    ),
    tables: described(record(whole), 'The versions of the tables that it read, by name.'),
    missed: described(list(object({ table: text, column: text, code: text })), 'Codes that tables had nothing for.'),
    group: described(text, 'Key of its group of failures, of a message that did not end done.'),
  },
)

const groupState = enumSchema(GROUP_STATES)
const groupNote = extend(text, { maxLength: MAX_NOTE_CHARACTERS })
export const FailureGroup = named(
  'FailureGroup',
  {
    key: text,
    count: whole,
    firstSeen: time,
    lastSeen: time,
    sampleId: id,
    minutes: described(list(whole), 'Messages of each of the last 60 minutes.'),
    state: groupState,
  },
  {
    endpointId: id,
    endpoint: text,
    stage: text,
    code: text,
    path: text,
    note: groupNote,
    by: described(text, 'Who said it.'),
    at: time,
    since: described(whole, 'Messages after `at`, of a group that is acknowledged or ignored.'),
  },
)

const captured = extend(whole, { minimum: 1, maximum: MAX_CAPTURED })
export const Capture = named('Capture', {
  endpointId: id,
  isActive: described(flag, 'Whether it records messages now.'),
  messages: captured,
  remaining: extend(whole, {
    minimum: 0,
    maximum: MAX_CAPTURED,
    description: 'How many messages it may still record.',
  }),
  until: time,
  startedAt: time,
  by: described(text, 'Who started it.'),
})

const MARKED_AS = {
  fault: `A group is marked as { "state": "acknowledged", "note": "…" }; state is one of ${GROUP_STATES.join(', ')}.`,
}
const GroupMark = noted(
  object(
    { state: noted(groupState, MARKED_AS) },
    { note: noted(groupNote, { fault: `note is a text of at most ${MAX_NOTE_CHARACTERS} characters.` }) },
  ),
  { ...MARKED_AS, noun: '' },
)

export const CaptureRequest = noted(
  object(
    {
      messages: noted(described(captured, 'How many messages, at most.'), {
        fault: `messages must be a whole number from 1 to ${MAX_CAPTURED}.`,
      }),
    },
    {
      until: noted(described(time, 'When it ends at the latest: in an hour by default, at most in 24 hours.'), {
        fault: () => wrongEnd(Date.now()),
      }),
    },
  ),
  { fault: 'A capture is an object such as { "messages": 20 }.', noun: '' },
)

export const messageRoutes = [
  route({
    method: 'GET',
    path: '/messages',
    role: 'viewer',
    summary: 'Recorded messages, newest first, without bodies and calls.',
    query: {
      ...MESSAGE_FILTERS,
      limit: pageLimit(MAX_LIMIT, DEFAULT_LIMIT),
      cursor,
    },
    answers: { 200: answer('A page.', object({ messages: list(ListedMessage) }, { next: text })) },
    sends: 'no-store',
    handle: async ({ query }, { records }) => records.search.list(query),
  }),
  route({
    method: 'GET',
    path: '/messages/:id',
    role: 'viewer',
    summary: 'One message.',
    answers: { 200: answer('Its record.', Message) },
    fails: findsNoMessage,
    sends: 'no-store',
    handle: async ({ params }, { records: { search, replayable } }) => {
      const record = await search.get(params.id)
      const group = groupKeyFor(record)
      const needs = record.code === 'ROUTE_UNKNOWN' ? readUnknownRoute(record.error ?? '') : undefined
      return {
        ...record,
        ...(group !== undefined && { group }),
        ...(needs !== undefined && { needs }),
        replayable: await replayable(record),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/messages/:id/body/:which',
    did: 'read a body of message {target}',
    role: 'operator',
    summary: 'A body of a message, as it was: one of those that `bodies` of its record names.',
    answers: {
      200: {
        description: 'Its bytes, in its own type.',
        headers: {
          'X-Crosswalk-Body': described(text, '`cut` or `masked`, where it is.'),
          'X-Crosswalk-Body-Size': described(whole, 'Bytes of the whole body.'),
        },
        content: { '*/*': {} },
      },
    },
    fails: [...findsNoMessage, 'MESSAGE_BODY_UNKNOWN'],
    handle: async ({ params: { id, which }, reply }, { records }) =>
      sendBody(reply, id, await records.search.body(id, which)),
  }),
  route({
    method: 'GET',
    path: '/messages/groups',
    role: 'viewer',
    summary: 'Messages that did not end done, by endpoint, stage, code and path; the largest group first.',
    query: {
      ...MESSAGE_FILTERS,
      state: described(list(groupState), 'The state with which an operator marked the group.'),
    },
    answers: {
      200: answer(
        'At most 1,000 groups.',
        object({
          minutesFrom: described(time, 'Start of the first of the 60 `minutes`.'),
          groups: list(FailureGroup),
        }),
      ),
    },
    sends: 'no-store',
    handle: async ({ query }, { records }) => records.groups.list(query),
  }),
  route({
    method: 'GET',
    path: '/messages/groups/:key',
    role: 'viewer',
    summary: 'One group.',
    answers: { 200: answer('The group.', FailureGroup) },
    fails: ['FAILURE_GROUP_UNKNOWN'],
    sends: 'no-store',
    handle: async ({ params }, { records }) => records.groups.get(params.key),
  }),
  route({
    method: 'PUT',
    path: '/messages/groups/:key',
    did: 'changed the state of a group of failures',
    role: 'operator',
    summary: 'Says of a group that it is open, acknowledged or ignored.',
    body: checkedBody(GroupMark, { code: 'FAILURE_GROUP_INVALID', mayBeEmpty: true }),
    answers: { 200: answer('The group.', FailureGroup) },
    fails: ['FAILURE_GROUP_UNKNOWN'],
    sends: 'no-store',
    handle: async (call, { records }) =>
      records.groups.mark(call.params.key, call.body, call.callerName, call.toChangeEntry),
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/capture',
    role: 'viewer',
    summary: 'The last capture of an endpoint, in progress or ended.',
    answers: {
      200: answer(
        'The capture; null if the endpoint has none.',
        Type.Unsafe<Static<typeof Capture> | null>({ oneOf: [Capture, { type: 'null' }] }),
      ),
    },
    fails: findsNoEndpoint,
    sends: 'no-store',
    handle: async ({ params }, { captures }) => captures.get(params.id),
  }),
  // A caller who may read bodies may also ask for them: the documents of endpoints, which authors change, stay unchanged.
  route({
    method: 'POST',
    path: '/endpoints/:id/capture',
    did: 'started a capture of {target}',
    role: 'operator',
    summary:
      'Starts a capture in place of the one before: the next messages of the endpoint are recorded with all bodies.',
    body: checkedBody(CaptureRequest, { code: 'CAPTURE_INVALID', mayBeEmpty: true }),
    answers: { 201: answer('The capture.', Capture) },
    fails: findsNoEndpoint,
    sends: 'no-store',
    handle: async (call, { captures }) => {
      const capture = await captures.start(call.params.id, call.body, call.callerName)
      call.noteEffects({ note: `${capture.messages} messages until ${capture.until}` })
      call.reply.header('location', `/endpoints/${capture.endpointId}/capture`)
      return capture
    },
  }),
  route({
    method: 'DELETE',
    path: '/endpoints/:id/capture',
    did: 'ended the capture of {target}',
    role: 'operator',
    summary: 'Ends and forgets the capture of an endpoint; its records stay.',
    answers: { 200: answer('It is ended.', Said) },
    fails: [...findsNoEndpoint, 'CAPTURE_UNKNOWN'],
    handle: async ({ params }, { captures }) => {
      await captures.end(params.id)
      return { message: `Capture of the endpoint with ID '${params.id}' ended` }
    },
  }),
]

/** Sends a body unchanged, but so that no browser shows or runs it. */
function sendBody(reply: FastifyReply, id: string, { summary, content }: RecordedBody): FastifyReply {
  const marks = formatMarks(summary)
  return sendAnswer(reply, {
    status: 200,
    headers: {
      ...NO_STORE,
      'content-type': safeContentType(summary.contentType),
      'content-disposition': `attachment; filename="${id}-${summary.which.replace(/[^\w.-]/g, '_')}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-crosswalk-body-size': String(summary.size),
      ...(marks === '' ? {} : { 'x-crosswalk-body': marks }),
    },
    body: content,
  })
}

const formatMarks = ({ cut, masked }: BodySummary): string =>
  [...(cut ? ['cut'] : []), ...(masked ? ['masked'] : [])].join(', ')

/** The sender of the message wrote its type: only a well-formed one in ASCII may be in a header of ours. */
const safeContentType = (contentType: string): string =>
  parseMediaType(contentType) !== undefined && /^[\t\x20-\x7e]*$/.test(contentType)
    ? contentType
    : 'application/octet-stream'
