/**
 * The times of a schedule: when it is due next, and which of its times have passed. It has no clock: the caller gives every
 * time, in milliseconds since the epoch.
 */
import { Cron } from 'croner'
import { NEVER_MS, readDuration } from '../core/iso-time.ts'
import { fault, found, type Result } from '../core/lint.ts'
import { nearest } from '../core/nearest.ts'

/** Exactly one of `cron` and `every`. */
export type ScheduleTimes = Readonly<{
  cron?: string | undefined
  /** A duration, such as `15m`. */
  every?: string | undefined
  /** Of `cron`: an IANA name; UTC by default. */
  timezone?: string | undefined
}>

/** The due times from one up to now. */
export type PassedTimes = Readonly<{
  /** How many there are; of a cron expression at most `MAX_COUNTED`. */
  count: number
  /** The last of them. */
  latestMs: number
  /** The first one after now. */
  nextMs: number
}>

export interface Timetable {
  /** The same times give the same text. */
  readonly text: string
  /** The first due time of a schedule that starts at `nowMs`, after it. */
  first(nowMs: number): number
  /** The due times from `dueMs`, which is one and not after `nowMs`, up to `nowMs`. */
  passed(dueMs: number, nowMs: number): PassedTimes
}

/** Each takes about 0.05 ms: counting must not delay messages. */
export const MAX_COUNTED = 500

export const DEFAULT_TIMEZONE = 'UTC'

/**
 * In: the times of a schedule. Out: its timetable, or one sentence for the author.
 *
 * `every` counts on from the time before; a cron expression has the local times of its time zone.
 */
export function compileTimetable({ cron, every, timezone = DEFAULT_TIMEZONE }: ScheduleTimes): Result<Timetable> {
  if (cron === undefined) return found(everyTimetable(every ?? ''))
  const fields = cron.trim().split(/\s+/)
  if (fields.length !== 5 && fields.length !== 6) return fault(`"${cron}" is not a cron expression. ${CRON_FIELDS}`)
  const text = fields.join(' ')
  try {
    // A list of hours or minutes names fixed times, as crontab has them: each is due once a day when clocks change.
    const job = new Cron(text, { mode: '5-or-6-parts', timezone, paused: true, fixedTimeRule: 'no-wildcard' })
    const next = (afterMs: number): number => job.nextRun(new Date(afterMs))?.getTime() ?? NEVER_MS
    if (next(0) === NEVER_MS)
      return fault(`"${cron}" is never due: no year has such a day; change the day or the month.`)
    return found({
      text: `cron ${text} ${timezone}`,
      first: next,
      passed: (dueMs, nowMs) => passedOf(job, next, dueMs, nowMs),
    })
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.replace(/^CronPattern: /, '').replace(/\.$/, '') : ''
    return fault(`"${cron}" is not a cron expression: ${reason}. ${CRON_FIELDS}`)
  }
}

const CRON_FIELDS =
  'Write five fields (minute, hour, day, month, weekday), or six with the second in front, such as "0 2 * * *".'

/** In: the name of a time zone. Out: the sentence for its author if it is unknown. */
export function checkTimezone(timezone: string): string | undefined {
  // The clock of an offset never changes: it is not what an author of local times means.
  if (!/^[+-]/.test(timezone) && isTimezone(timezone)) return undefined
  const known = Intl.supportedValuesOf('timeZone')
  const city = `/${timezone.toLowerCase()}`
  const meant = known.find((name) => name.toLowerCase().endsWith(city)) ?? nearest(timezone, known)
  const hint = meant === undefined ? 'give a name such as "Europe/Berlin" or "UTC".' : `did you mean "${meant}"?`
  return `"${timezone}" is not the name of a time zone (IANA); ${hint}`
}

function isTimezone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return true
  } catch {
    return false
  }
}

function everyTimetable(every: string): Timetable {
  const everyMs = readDuration(every)
  return {
    text: `every ${everyMs}`,
    first: (nowMs) => nowMs + everyMs,
    passed: (dueMs, nowMs) => {
      const count = Math.floor((nowMs - dueMs) / everyMs) + 1
      const nextMs = dueMs + count * everyMs
      return { count, latestMs: nextMs - everyMs, nextMs }
    },
  }
}

function passedOf(job: Cron, next: (afterMs: number) => number, dueMs: number, nowMs: number): PassedTimes {
  let latestMs = dueMs
  for (let count = 1; count < MAX_COUNTED; count += 1) {
    const nextMs = next(latestMs)
    if (nextMs > nowMs) return { count, latestMs, nextMs }
    latestMs = nextMs
  }
  // Due times are whole seconds, so this finds one at `nowMs` as well.
  const [last] = job.previousRuns(1, new Date(nowMs))
  return { count: MAX_COUNTED, latestMs: Math.max(latestMs, last?.getTime() ?? latestMs), nextMs: next(nowMs) }
}
