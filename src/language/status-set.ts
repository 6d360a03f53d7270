/** Sets of HTTP statuses as documents write them: `"*"`, `"2xx"`, `"404"`, 404. */

import type { StatusSet } from '../core/http.ts'
import { fault, found, type Result } from '../core/lint.ts'

type Range = readonly [from: number, to: number]

/**
 * Reads the elements of `allowedStatuses` or `state.config.includeStatuses`.
 *
 * An empty list is the empty set. Statuses are 100 to 599 (RFC 9110 section 15). Fails with one sentence that names every
 * wrong element.
 */
export function parseStatusSet(values: readonly (string | number)[]): Result<StatusSet> {
  const ranges: Range[] = []
  const wrong: string[] = []
  let any = false
  for (const value of values) {
    const range = parseRange(value)
    if (value === '*') any = true
    else if (range === undefined) wrong.push(JSON.stringify(value))
    else ranges.push(range)
  }
  if (wrong.length > 0) {
    const elements = wrong.length === 1 ? `${wrong[0]} is not a status` : `${wrong.join(', ')} are not statuses`
    return fault(`${elements}; write "*" for any, a class such as "2xx", or a status from 100 to 599 such as "404".`)
  }
  return found({ any, ranges })
}

function parseRange(value: string | number): Range | undefined {
  const text = String(value)
  const first = Number(text[0]) * 100
  if (/^[1-5]xx$/i.test(text)) return [first, first + 99]
  return /^[1-5][0-9]{2}$/.test(text) ? [Number(text), Number(text)] : undefined
}

/** `status`: undefined for an outcome without one, which only `"*"` holds. */
export const hasStatus = (set: StatusSet, status: number | undefined): boolean =>
  set.any || (status !== undefined && set.ranges.some(([from, to]) => from <= status && status <= to))
