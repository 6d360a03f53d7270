/** Values as a report shows them: bounded, and without secrets. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { isSecretName, REDACTED } from '../../domain/secret-names.ts'

/** Of one value of a stage, or the answer, in characters. */
const VALUE_LIMIT = 1_048_576
/** Of the body of one call, in characters. */
export const BODY_LIMIT = 65_536
/** What is nested deeper might be too deep to be written. */
const MOST_LEVELS = 500

export type ShownBody = Readonly<{ body: string; cut?: true }>

/** The text of a body, its beginning where it is long; what is no UTF-8 is shown with replacement characters. */
export function shownBody(body: string | Uint8Array, limit = VALUE_LIMIT): ShownBody {
  // Four bytes a character at most: the rest need not be decoded.
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body.subarray(0, limit * 4 + 4))
  return text.length <= limit ? { body: text } : { body: text.slice(0, limit), cut: true }
}

/** The value itself where it is small enough to be shown. */
export function shownValue(value: Json): Json {
  if (isDeeper(value, MOST_LEVELS)) return { cut: true, reason: `It is nested deeper than ${MOST_LEVELS} levels.` }
  const text = JSON.stringify(value)
  if (text.length <= VALUE_LIMIT) return value
  return { cut: true, reason: `It has ${text.length} characters as JSON.`, beginning: text.slice(0, 1_000) }
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const inner: readonly Json[] = isObject(value) ? Object.values(value) : (value as readonly Json[])
  return inner.some((one) => isDeeper(one, levels - 1))
}

export const shownHeaders = (headers: readonly (readonly [string, string | readonly string[]])[]): JsonObject =>
  Object.fromEntries(headers.map(([name, value]) => [name, isSecretName(name) ? REDACTED : value]))
