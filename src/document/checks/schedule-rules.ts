/** The rules of `schedule`. */
import { readDuration } from '../../core/iso-time.ts'
import type { LintSink } from '../../core/lint.ts'
import { checkTimezone, compileTimetable } from '../../language/timetable.ts'
import type { Endpoint } from '../schema/schema.ts'

const MAX_EVERY_MS = 366 * 86_400_000

export function lintSchedule({ schedule }: Endpoint, lint: LintSink): void {
  if (schedule === undefined) return
  const { cron, every, timezone } = schedule
  if ((cron === undefined) === (every === undefined)) {
    lint.error('A schedule has either "cron" or "every"; give one of them.')
    return
  }
  if (every !== undefined) {
    const everyMs = readDuration(every)
    if (everyMs < 1_000) lint.at('every').error('A schedule is due every 1s at the most often; give a longer time.')
    if (everyMs > MAX_EVERY_MS)
      lint.at('every').error('A schedule is due every 366d at the least; give a shorter time.')
    if (timezone !== undefined) {
      lint.at('timezone').warning('"timezone" is of "cron" and has no effect with "every"; leave it out.')
    }
    return
  }
  const unknown = timezone === undefined ? undefined : checkTimezone(timezone)
  if (unknown !== undefined) lint.at('timezone').error(unknown)
  const timetable = compileTimetable({ cron, timezone: unknown === undefined ? timezone : undefined })
  if (!timetable.ok) lint.at('cron').error(timetable.message)
}
