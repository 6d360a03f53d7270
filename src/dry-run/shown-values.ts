/** Values as a report shows them: bounded, and without secrets. */
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import { isSecretName, REDACTED, type SecretValues, withReferences } from '../domain/secrets/secrets.ts'

/** Undefined where a message was given none. */
type Secrets = SecretValues | undefined

/** Of one value of a stage, or the answer, in characters. */
const VALUE_LIMIT = 1_048_576
/** Of the body of one call, in characters. */
export const BODY_LIMIT = 65_536
/** What is nested deeper might be too deep to be written. */
const MOST_LEVELS = 500

export type ShownBody = Readonly<{ body: string; cut?: true }>

/** The text of a body, its beginning where it is long; what is no UTF-8 is shown with replacement characters. */
export function shownBody(body: string | Uint8Array, secrets: Secrets, limit = VALUE_LIMIT): ShownBody {
  // Four bytes a character at most: the rest need not be decoded.
  const given = typeof body === 'string' ? body : new TextDecoder().decode(body.subarray(0, limit * 4 + 4))
  // Before it is cut: a part of a secret would not be found.
  const text = withReferences(given, secrets)
  return text.length <= limit ? { body: text } : { body: text.slice(0, limit), cut: true }
}

/**
 * The value itself where it is small enough to be shown. Weighed rather than written: a value that refers to one part many
 * times is small in memory, and its text is not.
 */
export function shownValue(value: Json): Json {
  const tooMuch = weigh(value, MOST_LEVELS, { left: VALUE_LIMIT })
  return tooMuch === undefined ? value : { cut: true, reason: tooMuch }
}

/** What is too much about a value, as a sentence. */
function weigh(value: Json, levels: number, budget: { left: number }): string | undefined {
  budget.left -= typeof value === 'string' ? value.length + 1 : 1
  if (budget.left < 0) return `It has more than ${VALUE_LIMIT} characters as JSON.`
  if (typeof value !== 'object' || value === null) return undefined
  if (levels === 0) return `It is nested deeper than ${MOST_LEVELS} levels.`
  for (const name in value) {
    if (!Array.isArray(value)) budget.left -= name.length
    const tooMuch = weigh((value as JsonObject)[name] as Json, levels - 1, budget)
    if (tooMuch !== undefined) return tooMuch
  }
  return undefined
}

/** The same with references in place of the values of secrets, in every text and name. */
export function shownSafely(value: Json, secrets: Secrets): Json {
  if (secrets === undefined) return value
  if (typeof value === 'string') return withReferences(value, secrets)
  if (Array.isArray(value)) return value.map((item) => shownSafely(item, secrets))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [withReferences(name, secrets), shownSafely(inner, secrets)]),
  )
}

export const shownHeaders = (headers: readonly (readonly [string, string | readonly string[]])[]): JsonObject =>
  Object.fromEntries(headers.map(([name, value]) => [name, isSecretName(name) ? REDACTED : value]))
