/** `/endpoints/{id}/schedule` and `/endpoints/{id}/run`: when a schedule is due, how its last run ended, and runs on request. */
import { NEVER_MS } from '../core/iso-time.ts'
import { OUTCOMES } from '../core/records/message-record.ts'
import { anything, described, enumSchema, id, named, number, object, text, time, whole } from '../core/schema.ts'
import { roundMs } from '../core/tracing/trace.ts'
import type { ScheduleRunner } from '../inbound/schedule/schedule-runner.ts'
import { interrupted, type StoredSchedule } from '../store/sql/schedule-store.ts'
import { answer, findsNoEndpoint, optionalBody, route } from './route.ts'

const RUN_OUTCOME = 'Of its message; `interrupted` if its instance ended before the run did.'
const scheduledFor = described(time, 'When it was due; of a run that was asked for, when that was.')
const startedAt = time

export const Schedule = named(
  'Schedule',
  {
    overruns: described(whole, 'Times that were skipped since a run was under way.'),
    missed: described(whole, 'Times that were skipped since no instance could run the schedule.'),
  },
  {
    next: described(time, 'When it is due next.'),
    running: described(object({ scheduledFor, startedAt }), 'The run that is under way.'),
    last: described(
      object(
        { scheduledFor, startedAt, outcome: described(enumSchema([...OUTCOMES, 'interrupted']), RUN_OUTCOME) },
        { messageId: id, code: text },
      ),
      'The last run that has ended.',
    ),
  },
)

export const RunOfSchedule = named(
  'RunOfSchedule',
  { messageId: id, scheduledFor, outcome: enumSchema(OUTCOMES), ms: number },
  { code: text, error: text },
)

export const scheduleRoutes = [
  route({
    method: 'GET',
    path: '/endpoints/:id/schedule',
    role: 'viewer',
    summary: 'When the schedule of an endpoint is due next, and how its last run ended.',
    answers: { 200: answer('The schedule, as all instances have it.', Schedule) },
    fails: [...findsNoEndpoint, 'SCHEDULE_UNKNOWN'],
    sends: 'no-store',
    handle: async ({ params }, { endpoints, schedules }) => {
      const { _id } = await endpoints.get(params.id)
      return describeSchedule(await schedules.get(_id))
    },
  }),
  route({
    method: 'POST',
    path: '/endpoints/:id/run',
    did: 'ran the schedule of {target}',
    role: 'operator',
    summary: 'Runs the schedule of an endpoint now, and waits for the end of the run; its times stay as they are.',
    body: optionalBody(anything),
    answers: { 200: answer('How the run ended.', RunOfSchedule) },
    fails: [...findsNoEndpoint, 'SCHEDULE_UNKNOWN', 'SCHEDULE_BUSY', 'ENDPOINT_PAUSED', 'OVERLOADED', 'SHUTTING_DOWN'],
    sends: 'no-store',
    handle: async ({ params }, { endpoints, schedules }) => {
      const { _id } = await endpoints.get(params.id)
      return describeRun(await schedules.runNow(_id))
    },
  }),
]

export function describeSchedule({ dueMs, running, isLeased, last, overruns, missed }: StoredSchedule) {
  // The lease of a run that has expired stays until the next one.
  const lost = running !== undefined && !isLeased ? interrupted(running) : undefined
  const ended = lost ?? last
  return {
    ...(dueMs < NEVER_MS ? { next: new Date(dueMs).toISOString() } : {}),
    ...(running !== undefined && isLeased ? { running } : {}),
    ...(ended === undefined ? {} : { last: ended }),
    overruns,
    missed,
  }
}

export const describeRun = ({ completed, scheduledFor }: Awaited<ReturnType<ScheduleRunner['runNow']>>) => ({
  messageId: completed.messageId,
  scheduledFor,
  outcome: completed.outcome,
  ...(completed.code === '' ? {} : { code: completed.code }),
  ...(completed.failure === undefined ? {} : { error: completed.failure.message }),
  ms: roundMs(completed.ms),
})
