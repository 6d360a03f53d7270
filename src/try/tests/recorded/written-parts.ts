/** The parts of a test as its author would write them, made from what a message had. */
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import { isSecretName, isSecretParameter, REDACTED } from '../../../core/secrets/secrets.ts'
import { Unreadable } from '../../../formats/body-faults.ts'
import { findDuplicateNames, parseJson } from '../../../formats/json-read.ts'

/** A body that is JSON is easier to read as its value; a text that this would change stays a text. */
export function inlineBody(body: string): Json {
  if (!/^\s*[{[]/.test(body)) return body
  try {
    const value = parseJson(body)
    const isPlain = !isObject(value) || !Object.hasOwn(value, '$file')
    return isPlain && isLossless(body, value) && findDuplicateNames(body).length === 0 ? value : body
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    return body
  }
}

/** Whether the value is written as the text is, but for white space and escapes: `1.0` and 20 digits would change. */
function isLossless(text: string, value: Json): boolean {
  const numbersOf = (json: string): string => [...json.replace(/"(?:[^"\\]|\\.)*"/g, '').matchAll(NUMBERS)].join()
  return numbersOf(text) === numbersOf(JSON.stringify(value))
}

const NUMBERS = /-?\d[\d.eE+-]*/g

/** The object with this member, if it has members of its own. */
export const present = (name: string, value: JsonObject | undefined): JsonObject =>
  value !== undefined && Object.keys(value).length > 0 ? { [name]: value } : {}

export const withoutSecretHeaders = (headers: JsonObject): JsonObject => masked(headers, isSecretName)

export const withoutSecretParameters = (query: JsonObject): JsonObject => masked(query, isSecretParameter)

const masked = (values: JsonObject, isSecret: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isSecret(name) ? REDACTED : value]))

/** The expectation of a URL whose query is not known. */
export const withAnyQuery = (url: string): JsonObject => ({
  $matches: `^${url.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?:[?]|$)`,
})
