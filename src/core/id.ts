/** Ids of endpoints and messages, 24 lower-case hex digits in the order in which they were made. */
import type { Clock } from './run.ts'

export const isId = (text: string): boolean => /^[0-9a-f]{24}$/.test(text)

/**
 * Creates ids: 12 digits of milliseconds, 4 of a count within the millisecond, 8 of `random`, which is drawn once for each
 * generator so that two processes do not collide.
 *
 * `random` is an integer from 0 to 2^32 - 1. Ids of one generator always ascend, even if the clock goes back.
 */
export function createIds(clock: Clock, random: number): () => string {
  const tail = random.toString(16).padStart(8, '0')
  let lastMs = 0
  let count = 0
  let head = ''
  return () => {
    const now = clock()
    if (now > lastMs || count === 0xffff) {
      lastMs = Math.max(now, lastMs + 1)
      count = 0
      head = lastMs.toString(16).padStart(12, '0')
    } else {
      count += 1
    }
    return head + count.toString(16).padStart(4, '0') + tail
  }
}

/** When an id was created, in milliseconds since the epoch. */
export const timeFromId = (id: string): number => Number.parseInt(id.slice(0, 12), 16)

/** The text that no id of this time or of a later one is below. */
export const idFrom = (timeMs: number): string => Math.max(0, Math.ceil(timeMs)).toString(16).padStart(12, '0')

/** Of what has no id of its own, such as a document that is only tried. */
export const NO_ID = '0'.repeat(24)
