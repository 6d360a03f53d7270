/** The schema of `schedule`: when the service itself starts a message of the endpoint. */
import { Type } from 'typebox'
import { DURATION } from '../../core/iso-time.ts'
import { nonEmptyText, optional, record } from './schema-fields.ts'

export const ScheduleSchema = record(
  {
    cron: optional(
      nonEmptyText({
        description:
          'Local times of the time zone: minute, hour, day, month and weekday as in a crontab, with the second in front if there are six fields. Either this or `every`.',
        examples: ['0 2 * * MON-FRI'],
      }),
    ),
    every: optional(
      Type.String({
        pattern: DURATION,
        expects: 'a whole number with the unit s, m, h or d, such as "15m"',
        description:
          'Time from one run to the next, at least 1 s and at most 366 days; the first is due after it as well.',
        examples: ['15m'],
        fallback: '1h',
      }),
    ),
    timezone: optional(
      nonEmptyText({
        description: 'IANA name of the time zone of `cron`.',
        assumed: '`UTC`',
        examples: ['Europe/Berlin'],
      }),
    ),
    catchUp: optional(
      Type.Enum(['none', 'one'], {
        description:
          'What follows when times have passed without a run, since no instance was there or a run took too long: `none` waits for the next time, `one` makes one run at once.',
        assumed: '`none`',
        examples: ['one'],
      }),
    ),
  },
  { description: 'The times at which the service itself starts a message, which has no body.' },
)
