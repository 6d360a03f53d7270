/** Bounds how much a mapping may add to one message. */
import { Failure } from '../../core/failure.ts'
import type { Json } from '../../core/json.ts'
import { isArray } from '../paths/path-read.ts'

/** Bytes that the mapping of one message has added to the values of the message; see `charge`. */
export type Account = { addedBytes: number }

/**
 * The most that a mapping may add to one message, roughly in bytes of memory or text: nulls before an index, copies, the
 * value of `oneToAllElements` and of a default in each element. Without it, a message of 1 MiB could grow to gigabytes.
 */
export const ADDED_BYTES_MAX = 64 * 1024 * 1024
/** Of an element or field, and of any value without its parts. */
export const BYTES_PER_VALUE = 8
/** Deeper than any message; a deeper value counts as too heavy. */
const NESTING_MAX = 256

/** Adds to the account. Fails with OUTPUT_TOO_LARGE at `documentPath` if the account exceeds ADDED_BYTES_MAX. */
export function charge(bytes: number, account: Account, documentPath: string): void {
  account.addedBytes += bytes
  if (account.addedBytes <= ADDED_BYTES_MAX) return
  const limit = `${ADDED_BYTES_MAX / 1024 / 1024} MiB`
  throw new Failure(
    'OUTPUT_TOO_LARGE',
    `The mapping of this message would add more than ${limit} to it at ${documentPath}: high indexes, defaults or oneToAllElements over many elements.`,
    { path: documentPath },
  )
}

/** About the length of the value's JSON text in bytes; the count stops above ADDED_BYTES_MAX. */
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
