import type { Json, JsonObject } from './json.ts'

/** Of a number, a literal or the brackets of a value, with the comma behind it. */
const CHARACTERS_OF_VALUE = 4

/**
 * About how many characters the value has as JSON. Stops above `limit`, which bounds the time too: a value that refers to one
 * part many times is small in memory, but its text is not.
 */
export function jsonLength(value: Json | undefined, limit = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return CHARACTERS_OF_VALUE + value.length
  if (typeof value !== 'object' || value === null) return CHARACTERS_OF_VALUE
  let length = CHARACTERS_OF_VALUE
  if (Array.isArray(value)) {
    for (const item of value) {
      length += jsonLength(item, limit - length)
      if (length > limit) return length
    }
    return length
  }
  for (const name in value as JsonObject) {
    length += name.length + CHARACTERS_OF_VALUE + jsonLength((value as JsonObject)[name], limit - length)
    if (length > limit) return length
  }
  return length
}
