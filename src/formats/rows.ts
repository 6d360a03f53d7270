/** What the formats of rows have in common: their value is `{ "rows": […] }`. */
import { isObject, type Json } from '../core/json.ts'
import { Unwritable } from './body-faults.ts'

/** The rows of a value that is to be written. Throws Unwritable. */
export function takeRows(format: string, value: Json): readonly Json[] {
  const others = isObject(value) ? Object.keys(value).filter((name) => name !== 'rows') : []
  if (!isObject(value) || !Array.isArray(value.rows)) {
    throw new Unwritable(format, '', 'it needs an object with a list "rows"')
  }
  if (others.length > 0) throw new Unwritable(format, String(others[0]), 'only "rows" can be written')
  return value.rows
}
