import { Failure } from '../domain/failure.ts'
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import { parsePath } from '../language/paths/path.ts'

/**
 * An equality filter of `GET /endpoints`: the value at a field path, as text, is one of `values`; an array matches
 * where one of its elements does. Nothing of it ever reaches a query language. Fails with FILTER_INVALID.
 */
export function compileFilter(path: string, values: readonly string[]): (document: JsonObject) => boolean {
  const parsed = parsePath(path)
  if (!parsed.ok) throw new Failure('FILTER_INVALID', `The filter "${path}" is not a field path: ${parsed.message}`)
  const { value: field } = parsed
  const matches = (value: Json | undefined): boolean => {
    // Within an array, null also stands for an element without the field.
    if (Array.isArray(value)) return value.some((item) => item !== null && matches(item))
    return value !== undefined && !isObject(value) && values.includes(String(value))
  }
  return (document) => matches(field.read(document))
}
