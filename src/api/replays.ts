/** `/messages/{id}/replay` and `/messages/replay`: the replay of one message, or of many by a plan; `/endpoints/{id}/messages`: a new one. */
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Failure } from '../core/failure.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Answer } from '../core/message.ts'
import { OUTCOMES } from '../core/records/message-record.ts'
import { REPLAY_LOOKUPS, type ReplayLookups } from '../core/replays/replay-lookups.ts'
import { type RunLimits as Limits, PLAN_STATES } from '../core/replays/replay-plan.ts'
import {
  anything,
  component,
  described,
  either,
  enumSchema,
  flag,
  id,
  list,
  named,
  noted,
  number,
  object,
  record,
  text,
  time,
  whole,
} from '../core/schema.ts'
import { type CallSpan, roundMs, type Trace } from '../core/tracing/trace.ts'
import { MESSAGE_PARTS } from '../document/checks/dry-run-request.ts'
import { CODECS, codecForHeader } from '../formats/codecs.ts'
import type { CompletedMessage } from '../inbound/completed-message.ts'
import { invalid, MESSAGE_FILTERS, type MessageQuery } from '../records/message-log/message-filter.ts'
import { BODY_HEADERS, type EditedBody } from '../records/replay/replay.ts'
import { LIMITS, withDefaults } from '../records/replay/replay-plans.ts'
import type { Call } from './call.ts'
import { checkQuery } from './check-call.ts'
import { Filter, findsNoMessage } from './messages.ts'
import { answer, checkedBody, optionalBody, route } from './route.ts'
import type { Api } from './services.ts'

const outcome = enumSchema(OUTCOMES)
const lookups = enumSchema(REPLAY_LOOKUPS)
const LookupsQuery = {
  lookups: noted(
    described(
      lookups,
      'Whether lookups use the answers that were recorded or are asked again. By default `recorded` for runs of a schedule and for lookups with pages, else `again`.',
    ),
    { fault: 'lookups is given once, as recorded or again.' },
  ),
}
const blockers = list(
  object({
    reason: text,
    error: text,
    count: whole,
    sampleId: id,
    ids: described(list(id), 'At most 20.'),
  }),
)
const replays = list(object({ id, replayId: id, outcome }, { code: text }))

export const Replayed = named(
  'Replayed',
  {},
  {
    id,
    replayOf: id,
    alreadyDoneBy: described(id, 'An earlier replay of the message that ended done.'),
    outcome,
    code: text,
    error: text,
    status: whole,
    ms: number,
    withoutHeadersAndQuery: flag,
    lookups: described(lookups, 'What became of the lookups, if the endpoint has any.'),
    requests: described(
      list(object({ request: text, sent: whole, stored: whole, left: whole })),
      'How many calls of each response request were made, stored to be delivered, or left out since they had been delivered before.',
    ),
    answer: described(anything, 'JSON as what it is, anything else as text.'),
  },
)

export const RunLimits = component(
  'RunLimits',
  noted(Type.Unsafe<Partial<Limits>>({ type: 'object', properties: LIMITS }), {
    fault: 'The limits of a run must be an object such as { "concurrency": 4, "perSecond": 20 }.',
    noun: 'limit ',
  }),
)

export const ReplayPlan = named(
  'ReplayPlan',
  {
    id,
    state: enumSchema(PLAN_STATES),
    createdAt: time,
    filter: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
    count: whole,
    groups: list(object({ outcome, count: whole }, { endpointId: id, endpoint: text, code: text, path: text })),
    cannot: blockers,
    done: whole,
    failed: whole,
    skipped: whole,
    skippedFor: blockers,
    left: whole,
    failures: described(replays, 'The newest replays that did not end done, at most 20.'),
  },
  {
    lookups: described(lookups, 'What becomes of the lookups, if the plan was made with that.'),
    limits: RunLimits,
    canaries: described(replays, 'The first messages of the run, if it asked for them.'),
    stoppedBy: text,
  },
)

const plan = answer('The plan.', ReplayPlan)

/** A change of a plan that is answered with it. */
const planChange = <const Change extends 'continue' | 'pause' | 'cancel'>(change: Change) =>
  ({
    method: 'POST',
    path: `/messages/replay/:id/${change}`,
    shownAs: `/messages/replay/{plan}/${change}`,
    did: `asked to ${change} replay {target}`,
    role: 'operator',
    body: optionalBody(anything),
    fails: ['REPLAY_PLAN_UNKNOWN', 'REPLAY_PLAN_BUSY'],
    handle: async ({ params }: Call<'id'>, { records }: Api) => records.plans[change](params.id),
  }) as const

const { timestamps: _, ...SENT_PARTS } = MESSAGE_PARTS

export const SentMessage = named('SentMessage', {}, SENT_PARTS)

export const SentAnswer = named(
  'SentAnswer',
  {
    messageId: id,
    outcome,
    status: whole,
    headers: record(either([text, list(text)])),
    answer: described(anything, 'JSON as what it is, anything else as text.'),
    ms: number,
  },
  { code: text, error: text },
)

export const replayRoutes = [
  route({
    method: 'POST',
    path: '/endpoints/:id/messages',
    did: 'sent a message to {target}',
    role: 'operator',
    summary:
      'Sends a message to an endpoint as if it had arrived by HTTP, with all that it sends on; its callers are not authenticated.',
    body: {
      ...checkedBody(SentMessage, {
        code: 'MESSAGE_INVALID',
        sentence: 'The message cannot be sent as it is given; details has the reasons.',
        mayBeEmpty: true,
      }),
      required: false,
    },
    answers: { 200: answer('What the endpoint answered, whatever its status is.', SentAnswer) },
    fails: ['ID_MALFORMED', 'ENDPOINT_UNKNOWN', 'MESSAGE_INVALID'],
    sends: 'no-store',
    handle: async (call, { endpoints, sendMessage }) => {
      const { _id } = await endpoints.get(call.params.id)
      const { messageId, outcome, code, ms, answer, failure } = await sendMessage(_id, call.body)
      call.noteEffects({ target: _id, note: `Message ${messageId}` })
      return {
        messageId,
        outcome,
        ...(code === '' ? {} : { code }),
        ...(failure === undefined ? {} : { error: failure.message }),
        status: answer.status,
        headers: answer.headers,
        answer: decodeBody(answer),
        ms: roundMs(ms),
      }
    },
  }),
  route({
    method: 'POST',
    path: '/messages/:id/replay',
    did: 'replayed message {target}',
    role: 'operator',
    summary: 'Runs a message again, through the present version of its endpoint.',
    body: {
      description: 'Replaces the body that was received.',
      required: false,
      content: Object.fromEntries(Object.values(CODECS).map(({ mediaType }) => [mediaType, {}])),
    },
    takesMessage: true,
    query: LookupsQuery,
    answers: { 200: answer('What became of it.', Replayed) },
    fails: [...findsNoMessage, 'REPLAY_REFUSED', 'OVERLOADED', 'SHUTTING_DOWN'],
    sends: 'no-store',
    handle: async ({ params, request, query }, { records: { search, replayByHand } }) => {
      const record = await search.get(params.id)
      const { replayed, alreadyDoneBy } = await replayByHand(record, {
        edited: editedBody(request),
        lookups: query.lookups,
      })
      if ('blocker' in replayed) {
        throw new Failure('REPLAY_REFUSED', `The message '${record.id}' cannot be replayed. ${replayed.blocker.error}`)
      }
      const { completed, ...notes } = replayed
      return describe(completed, { replayOf: record.id, ...notes, alreadyDoneBy })
    },
  }),
  route({
    method: 'GET',
    path: '/messages/replay',
    role: 'viewer',
    summary: 'The plans of replays, newest first.',
    answers: { 200: answer('The plans.', object({ plans: list(ReplayPlan) })) },
    handle: async (_call, { records }) => ({ plans: await records.plans.all() }),
  }),
  route({
    method: 'POST',
    path: '/messages/replay',
    did: 'planned a replay',
    role: 'operator',
    summary: 'Plans to replay all messages of a filter. Without `outcome`: those that did not end done.',
    query: LookupsQuery,
    body: optionalBody(Filter),
    answers: { 201: plan },
    fails: ['FILTER_INVALID', 'REPLAY_PLAN_BUSY'],
    handle: async (call, { records }) => {
      const made = await records.plans.plan(filterFrom(call.json()), call.query.lookups)
      call.reply.header('location', `/messages/replay/${made.id}`)
      return made
    },
  }),
  route({
    method: 'GET',
    path: '/messages/replay/:id',
    shownAs: '/messages/replay/{plan}',
    role: 'viewer',
    summary: 'A plan, and how far it got.',
    answers: { 200: plan },
    fails: ['REPLAY_PLAN_UNKNOWN'],
    handle: async ({ params }, { records }) => records.plans.get(params.id),
  }),
  route({
    method: 'POST',
    path: '/messages/replay/:id/run',
    shownAs: '/messages/replay/{plan}/run',
    did: 'ran replay {target}',
    role: 'operator',
    summary: 'Starts a plan that is planned or paused.',
    body: {
      ...checkedBody(RunLimits, { code: 'REPLAY_OPTION_INVALID', mayBeEmpty: true }),
      required: false,
    },
    answers: { 202: plan },
    fails: ['REPLAY_PLAN_UNKNOWN', 'REPLAY_PLAN_BUSY'],
    handle: async (call, { records }) => records.plans.run(call.params.id, withDefaults(call.body)),
  }),
  route({
    ...planChange('continue'),
    summary: 'Continues a run that waits after its first messages.',
    answers: { 202: plan },
  }),
  route({
    ...planChange('pause'),
    summary: 'Starts no further message of a plan until it is run again.',
    answers: { 200: plan },
  }),
  route({ ...planChange('cancel'), summary: 'Starts no further message of a plan.', answers: { 200: plan } }),
]

function editedBody({ body, headers }: FastifyRequest): EditedBody | undefined {
  const bytes = body as Uint8Array | undefined
  if (bytes === undefined || bytes.byteLength === 0) return undefined
  const own = BODY_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))
  return { body: bytes, headers: Object.fromEntries(own) }
}

/** Filters in JSON are those of the query: a value, or several in an array. */
function filterFrom(raw: Json): MessageQuery {
  if (!isObject(raw)) {
    throw invalid('The filter is an object such as { "endpoint": "Orders", "outcome": "failed" }.')
  }
  const texts = Object.entries(raw).map(
    ([name, value]) => [name, [value].flat().map((one) => filterText(name, one))] as const,
  )
  return checkQuery(MESSAGE_FILTERS, new Map(texts))
}

function filterText(name: string, value: Json): string {
  if (value !== null && typeof value !== 'object') return String(value)
  const given = JSON.stringify(value)
  throw invalid(`${name} cannot be "${given}"; it is a text, a number, true or false, or an array of them.`)
}

type ReplayNotes = Readonly<{
  replayOf: string
  bodyOnly: boolean
  lookups: ReplayLookups | undefined
  alreadyDoneBy: string | undefined
}>

function describe(
  { messageId, outcome, code, ms, answer, failure, trace }: CompletedMessage,
  { replayOf, bodyOnly, lookups, alreadyDoneBy }: ReplayNotes,
) {
  return {
    id: messageId,
    replayOf,
    ...(alreadyDoneBy === undefined ? {} : { alreadyDoneBy }),
    outcome,
    ...(code === '' ? {} : { code }),
    ...(failure === undefined ? {} : { error: failure.message }),
    status: answer.status,
    ms: roundMs(ms),
    ...(bodyOnly ? { withoutHeadersAndQuery: true } : {}),
    ...(lookups === undefined ? {} : { lookups }),
    ...(trace === undefined ? {} : countRequests(trace)),
    answer: decodeBody(answer),
  }
}

/** In the order of their ids; empty if none was made or left out. */
function countRequests({ calls, deliveries = [], notMade = [] }: Trace) {
  const isResponse = ({ kind }: Pick<CallSpan, 'kind'>) => kind === 'response'
  const sent = calls.filter(isResponse).map(({ id }) => id)
  const stored = deliveries.map(({ requestId }) => requestId)
  const left = notMade.filter((one) => isResponse(one) && one.why === 'delivered').map(({ id }) => id)
  const count = (ids: readonly string[], request: string) => ids.filter((id) => id === request).length
  const requests = [...new Set([...sent, ...stored, ...left])].sort().map((request) => ({
    request,
    sent: count(sent, request),
    stored: count(stored, request),
    left: count(left, request),
  }))
  return requests.length === 0 ? {} : { requests }
}

/** A JSON body as JSON, any other body as text. */
function decodeBody({ headers, body }: Answer): Json {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString()
  if (codecForHeader(String(headers['content-type'] ?? '')) !== CODECS.json) return text
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return text
  }
}
