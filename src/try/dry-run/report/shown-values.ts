/** Values as a report shows them: bounded, and without secrets. */
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import {
  compileReferences,
  isSecretName,
  REDACTED,
  type SecretValues,
  withReferences,
} from '../../../core/secrets/secrets.ts'

/** Undefined if the message got none. */
type Secrets = SecretValues | undefined

/** The most characters of one value of a stage, or of the answer. */
export const VALUE_LIMIT = 1_048_576
/** The most characters of the body of one call. */
export const BODY_LIMIT = 65_536
/** A value that is nested deeper may exceed the stack of JSON.stringify. */
const MOST_LEVELS = 500

export type ShownBody = Readonly<{ body: string; cut?: true }>

/** The text of a body, cut to `limit` characters; replacement characters stand for bytes that are not UTF-8. */
export function shownBody(body: string | Uint8Array, secrets: Secrets, limit = VALUE_LIMIT): ShownBody {
  // A character has at most four bytes: the rest need not be decoded.
  const given = typeof body === 'string' ? body : new TextDecoder().decode(body.subarray(0, limit * 4 + 4))
  // Before the cut: a part of a secret would not be found.
  const text = withReferences(given, secrets)
  return text.length <= limit ? { body: text } : { body: text.slice(0, limit), cut: true }
}

/**
 * The characters of the value as JSON, roughly, or a sentence on the limit that it exceeds. It is weighed, not written: a
 * value that refers to one part many times is small in memory, but its text is not.
 */
export function weigh(value: Json, limit: number): number | string {
  const budget = { left: limit }
  const reason = spend(value, MOST_LEVELS, budget)
  if (reason === 'levels') return `It is nested deeper than ${MOST_LEVELS} levels.`
  return reason === 'characters' ? `It has more than ${limit} characters as JSON.` : limit - budget.left
}

function spend(value: Json, levels: number, budget: { left: number }): 'levels' | 'characters' | undefined {
  budget.left -= typeof value === 'string' ? value.length + 1 : 1
  if (budget.left < 0) return 'characters'
  if (typeof value !== 'object' || value === null) return undefined
  if (levels === 0) return 'levels'
  if (Array.isArray(value)) {
    // Not by their names: those of a long array are all made before the first.
    for (const item of value) {
      const reason = spend(item, levels - 1, budget)
      if (reason !== undefined) return reason
    }
    return undefined
  }
  for (const name in value) {
    budget.left -= name.length
    const reason = spend((value as JsonObject)[name] as Json, levels - 1, budget)
    if (reason !== undefined) return reason
  }
  return undefined
}

/** The same with references in place of the values of secrets, in every text and name. */
export function shownSafely(value: Json, secrets: Secrets): Json {
  if (secrets === undefined) return value
  const hide = compileReferences(secrets)
  const shown = (part: Json): Json => {
    if (typeof part === 'string') return hide(part)
    if (Array.isArray(part)) return part.map(shown)
    if (!isObject(part)) return part
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [hide(name), shown(inner)]))
  }
  return shown(value)
}

export const shownHeaders = (headers: readonly (readonly [string, string | readonly string[]])[]): JsonObject =>
  Object.fromEntries(headers.map(([name, value]) => [name, isSecretName(name) ? REDACTED : value]))
