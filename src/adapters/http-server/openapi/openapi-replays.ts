/** The part of /openapi.json on groups of failures and the replay of messages. */
import type { JsonObject } from '../../../domain/json.ts'
import { OUTCOMES } from '../../../domain/records/message-record.ts'
import { PLAN_STATES } from '../../../domain/replays/replay-plan.ts'
import { GROUP_STATES } from '../../../store/sql/failure-group-store.ts'
import { filterBody, filters, notFound, wrongFilter } from './openapi-messages.ts'
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

const planUnknown = { 404: failure('There is no such plan, or not any more.') }
const planBusy = { 409: failure('The plan is not in a state for this, or its last run has messages in flight.') }
const groupUnknown = { 404: failure('There is no such group, or no message of it any more.') }

const groupState = oneOf(GROUP_STATES)
const groupNote = { ...text, maxLength: 2_000 }

/** A change of a plan that is answered with it. */
const planChange = (status: number, summary: string): JsonObject => ({
  parameters: [inPath('plan', id)],
  post: {
    summary,
    requestBody: { required: false, ...content({}) },
    responses: { [status]: answer('The plan.', ref('ReplayPlan')), ...planUnknown, ...planBusy },
  },
})

export const replayPaths: JsonObject = {
  '/messages/groups': {
    get: {
      summary: 'Messages that did not end done, by endpoint, stage, code and path; the largest group first.',
      parameters: [
        ...filters,
        {
          name: 'state',
          in: 'query',
          description: 'The state with which an operator marked the group.',
          schema: list(groupState),
        },
      ],
      responses: {
        200: answer(
          'At most 1,000 groups.',
          object(
            {
              minutesFrom: { ...time, description: 'Start of the first of the 60 `minutes`.' },
              groups: list(ref('FailureGroup')),
            },
            ['minutesFrom', 'groups'],
          ),
        ),
        ...wrongFilter,
      },
    },
  },
  '/messages/groups/{key}': {
    parameters: [inPath('key', text)],
    get: { summary: 'One group.', responses: { 200: answer('The group.', ref('FailureGroup')), ...groupUnknown } },
    put: {
      summary: 'Says of a group that it is open, acknowledged or ignored.',
      requestBody: { required: true, ...content(object({ state: groupState, note: groupNote }, ['state'])) },
      responses: {
        200: answer('The group.', ref('FailureGroup')),
        400: failure('The body is not a state with an optional note.'),
        ...groupUnknown,
      },
    },
  },
  '/messages/{id}/replay': {
    parameters: [inPath('id', id)],
    post: {
      summary: 'Runs a message once more, through its endpoint as it is now.',
      requestBody: {
        description: 'Takes the place of the body that came.',
        required: false,
        content: { 'application/json': {}, 'application/xml': {} },
      },
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
      responses: { 200: answer('The plans.', object({ plans: list(ref('ReplayPlan')) }, ['plans'])) },
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
      summary: 'Starts a plan that is planned or paused.',
      requestBody: { required: false, ...content(ref('RunLimits')) },
      responses: {
        202: answer('The plan.', ref('ReplayPlan')),
        400: failure('A limit is not known, or cannot have this value.'),
        ...planUnknown,
        ...planBusy,
      },
    },
  },
  '/messages/replay/{plan}/continue': planChange(202, 'Goes on with a run that waits after its first messages.'),
  '/messages/replay/{plan}/pause': planChange(200, 'Starts no further message of a plan until it is run again.'),
  '/messages/replay/{plan}/cancel': planChange(200, 'Starts no further message of a plan.'),
}

const outcome = oneOf(OUTCOMES)
const blockers = list(
  object({ reason: text, error: text, count: whole, sampleId: id, ids: { ...list(id), description: 'At most 20.' } }, [
    'reason',
    'error',
    'count',
    'sampleId',
    'ids',
  ]),
)
const replays = list(object({ id, replayId: id, outcome, code: text }, ['id', 'replayId', 'outcome']))

export const replaySchemas: JsonObject = {
  FailureGroup: object(
    {
      key: text,
      endpointId: id,
      endpoint: text,
      stage: text,
      code: text,
      path: text,
      count: whole,
      firstSeen: time,
      lastSeen: time,
      sampleId: id,
      minutes: { ...list(whole), description: 'Messages of each of the last 60 minutes.' },
      state: groupState,
      note: groupNote,
      by: { ...text, description: 'Who said it.' },
      at: time,
      since: { ...whole, description: 'Messages after `at`, of a group that is acknowledged or ignored.' },
    },
    ['key', 'count', 'firstSeen', 'lastSeen', 'sampleId', 'minutes', 'state'],
  ),
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
  RunLimits: object({
    max: { ...whole, minimum: 1, maximum: 100_000, description: 'Messages of this run.' },
    concurrency: {
      ...whole,
      minimum: 1,
      maximum: 100,
      default: 1,
      description: 'Messages at once. 1 keeps their order.',
    },
    perSecond: { ...number, minimum: 0.01, maximum: 10_000, description: 'Messages started in a second.' },
    canary: {
      ...whole,
      minimum: 1,
      maximum: 10,
      description: 'Messages that are replayed first, one by one; the plan then waits to be continued.',
    },
  }),
  ReplayPlan: object(
    {
      id,
      state: oneOf(PLAN_STATES),
      createdAt: time,
      filter: { type: 'object', additionalProperties: true },
      count: whole,
      groups: list(
        object({ endpointId: id, endpoint: text, outcome, code: text, path: text, count: whole }, ['outcome', 'count']),
      ),
      cannot: blockers,
      done: whole,
      failed: whole,
      skipped: whole,
      skippedFor: blockers,
      left: whole,
      limits: ref('RunLimits'),
      canaries: { ...replays, description: 'The first messages of the run, if it asked for them.' },
      failures: { ...replays, description: 'The newest replays that did not end done, at most 20.' },
      stoppedBy: text,
    },
    [
      'id',
      'state',
      'createdAt',
      'filter',
      'count',
      'groups',
      'cannot',
      'done',
      'failed',
      'skipped',
      'skippedFor',
      'left',
      'failures',
    ],
  ),
}
