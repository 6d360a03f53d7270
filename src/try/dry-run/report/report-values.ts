/**
 * The values of one report: bounded one by one and together. A value that is too large for it stays out, with the place at
 * which the whole of it can be asked for.
 */

import type { Json, JsonObject } from '../../../core/json.ts'
import { pointerTo } from '../../../core/lint.ts'
import type { SecretValues } from '../../../core/secrets/secrets.ts'
import { REPORT_LIMIT } from '../../../document/checks/dry-run-request.ts'
import { type ShownBody, shownBody, shownSafely, VALUE_LIMIT, weigh } from './shown-values.ts'

/** Characters of a value that is asked for by itself. */
const WHOLE_LIMIT = 32 * 1_048_576

/** A value of a report in full. */
export type WholeValue = Readonly<{ kind: 'json'; value: Json } | { kind: 'body'; body: string | Uint8Array }>

export type ReportValues = Readonly<{
  /** In: a JSON Pointer into the report. Out: the value, or `{ cut, reason, at }` in its place. */
  value(at: string, value: Json): Json
  /** Out: the text, cut to `limit` characters; with `at` if more can be asked for. */
  body(at: string, body: string | Uint8Array, limit?: number): ShownBody & Readonly<{ at?: string }>
  /** The value at the place that was asked for, or the reason why it cannot be given; undefined if no value is there. */
  whole(): WholeValue | string | undefined
}>

/** A smaller report has room for as many values as a large one. */
const VALUES_OF_A_REPORT = REPORT_LIMIT / VALUE_LIMIT

export type ReportBounds = Readonly<{
  /** The place of the value to keep in full. */
  at?: string
  /** Characters of all values together; a stage shows again what stages before it showed. */
  limit?: number
}>

export function createReportValues(
  secrets: SecretValues | undefined,
  { at: wanted, limit: reportLimit = REPORT_LIMIT }: ReportBounds = {},
): ReportValues {
  const weights = new Map<object, ReturnType<typeof weigh>>()
  const valueLimit = Math.floor(reportLimit / VALUES_OF_A_REPORT)
  let left = reportLimit
  let whole: WholeValue | string | undefined

  const weightOf = (value: Json): ReturnType<typeof weigh> => {
    if (typeof value !== 'object' || value === null) return weigh(value, valueLimit)
    const known = weights.get(value) ?? weigh(value, valueLimit)
    weights.set(value, known)
    return known
  }
  return {
    value: (at, value) => {
      if (at === wanted) {
        const weight = weigh(value, WHOLE_LIMIT)
        whole = typeof weight === 'string' ? weight : { kind: 'json', value: shownSafely(value, secrets) }
      }
      const weight = weightOf(value)
      if (typeof weight === 'string') return { cut: true, reason: weight, at }
      if (weight > left) return { cut: true, reason: 'The values before it fill the report.', at }
      left -= weight
      return value
    },
    body: (at, body, limit = valueLimit) => {
      if (at === wanted)
        whole = { kind: 'body', body: secrets === undefined ? body : shownBody(body, secrets, WHOLE_LIMIT).body }
      const shown = shownBody(body, secrets, Math.min(limit, valueLimit, left))
      left -= shown.body.length
      return shown.cut ? { ...shown, at } : shown
    },
    whole: () => whole,
  }
}

/** The names and values with the place of each, such as `/stages/2/input/requestBody`. */
export const valuesAt = (values: ReportValues, at: string, fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, values.value(pointerTo(at, name), value)]))
