/** What conditions of a document may give: `when` of requests and of the elements of an `each`. */
import { Failure } from '../core/failure.ts'
import { type Json, typeName } from '../core/json.ts'

/** `path`: of the expression that gave the value. Nothing counts as false. Fails with TRANSFORM_FAILED for anything else. */
export function letsThrough(value: Json | undefined, path: string): boolean {
  if (typeof value === 'boolean') return value
  if (value === undefined || value === null) return false
  throw new Failure(
    'TRANSFORM_FAILED',
    `The expression "${path}" gave a value of type ${typeName(value)}, which is neither true nor false; compare it, such as "item.count > 0", or write $boolean(…).`,
    { path },
  )
}
