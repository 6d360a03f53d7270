/** What bounds the growth of an output: the account of one application of a mapping. */
import { Failure } from '../../domain/failure.ts'
import type { Json } from '../../domain/json.ts'
import { isArray } from '../paths/path-read.ts'

/** What one application adds beyond the values that it was given; see `charge`. */
export type Account = { addedBytes: number }

/**
 * The most that one application may add beyond the values it was given, roughly in bytes of memory or text: null places
 * before an index, copies, the value of `oneToAllElements` and of a default in each element. Without a bound, a message
 * of 1 MiB could grow to gigabytes through a mapping that is fine for every other message.
 */
export const ADDED_BYTES_MAX = 64 * 1024 * 1024
/** Of a place in an array or object, and of any value without what is in it. */
export const BYTES_PER_VALUE = 8
/** Deeper than any message; where it is not, the value counts as too heavy. */
const NESTING_MAX = 256

/** Adds to the account. Fails: OUTPUT_TOO_LARGE at the place, where that is more than ADDED_BYTES_MAX. */
export function charge(bytes: number, account: Account, place: string): void {
  account.addedBytes += bytes
  if (account.addedBytes <= ADDED_BYTES_MAX) return
  const limit = `${ADDED_BYTES_MAX / 1024 / 1024} MiB`
  throw new Failure(
    'OUTPUT_TOO_LARGE',
    `The mapping of this message would add more than ${limit} to it at ${place}: high indexes, defaults or oneToAllElements over many elements.`,
    { path: place },
  )
}

/** About the length of the value's JSON text; no more than just above ADDED_BYTES_MAX. */
export function weighBytes(value: Json, nesting = 0): number {
  if (typeof value === 'string') return BYTES_PER_VALUE + value.length
  if (typeof value !== 'object' || value === null) return BYTES_PER_VALUE
  if (nesting === NESTING_MAX) return ADDED_BYTES_MAX + 1
  let bytes = BYTES_PER_VALUE
  if (isArray(value)) {
    for (let at = 0; at < value.length && bytes <= ADDED_BYTES_MAX; at++)
      bytes += weighBytes(value[at] ?? null, nesting + 1)
    return bytes
  }
  for (const name of Object.keys(value)) bytes += name.length + weighBytes(value[name] ?? null, nesting + 1)
  return bytes
}
