/** Recognises values that are the time at which a message ran. */
import type { Json } from '../../domain/json.ts'
import type { ComparedSide, Comparison } from '../compare-answers.ts'

/** How far the clock of the peer may be off. */
const CLOCKS_DIFFER_MS = 5_000

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/

/** Whether each of the two is a time, as ISO 8601 or in milliseconds, at which its service ran the message. */
export function isTimeOfMessage(peer: Json | undefined, here: Json | undefined, comparison: Comparison): boolean {
  return isWithin(peer, comparison.peer) && isWithin(here, comparison.here)
}

function isWithin(value: Json | undefined, { times }: ComparedSide): boolean {
  const time = timeOf(value)
  return time >= times.sentAt - CLOCKS_DIFFER_MS && time <= times.answeredAt + CLOCKS_DIFFER_MS
}

/** NaN if the value is no time. */
function timeOf(value: Json | undefined): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(value) : Number.NaN
}
