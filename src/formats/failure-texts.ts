/** The fields of a failure as texts, for formats without objects within objects. */
import { isObject, type Json, type JsonObject } from '../core/json.ts'

/** `details` become one text: `place: message; place: message`. */
export const failureTexts = (body: JsonObject): readonly (readonly [name: string, text: string])[] =>
  Object.entries(body).map(([name, value]) => [name, failureText(value)])

function failureText(value: Json): string {
  if (Array.isArray(value)) return value.map(failureText).join('; ')
  if (isObject(value)) return Object.values(value).map(failureText).join(': ')
  return value === null ? '' : String(value)
}
