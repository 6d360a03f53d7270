/** The header `Idempotency-Key`: a String of RFC 8941, as draft-ietf-httpapi-idempotency-key-header defines it. */
import { fault, found, type Result } from '../../core/lint.ts'

export const KEY_HEADER = 'idempotency-key'

/** In characters, without the quotes. */
const MAX_CHARACTERS = 255

const EXAMPLE = '"8e03978e-40d5-43e8-bc93-6894a57f9324"'

/**
 * Reads the key from a value of the header, or gives the fault of the value as a sentence.
 *
 * A value without quotes is not a String: accepted unchanged, it would be another key than the same key from a client that
 * follows the standard. Two headers arrive joined by a comma and are refused as well.
 */
export function readIdempotencyKey(value: string): Result<string> {
  const inner = /^ *"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)" *$/.exec(value)?.[1]
  if (inner === undefined) {
    return fault(`The value of Idempotency-Key must be one text in double quotes, such as ${EXAMPLE}.`)
  }
  const key = inner.replaceAll(/\\(["\\])/g, '$1')
  if (key.trim() === '') return fault(`The key in Idempotency-Key is empty; send a new one, such as ${EXAMPLE}.`)
  if (key.length > MAX_CHARACTERS)
    return fault(`The key in Idempotency-Key has more than ${MAX_CHARACTERS} characters; shorten it.`)
  return found(key)
}
