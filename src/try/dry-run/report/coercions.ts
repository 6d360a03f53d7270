/** What the validation of a message coerced: the values that it changed, each before and after. */
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import { pointerTo } from '../../../core/lint.ts'

const COERCIONS_SHOWN = 100
/** Values of the message that are compared. */
const VALUES_MAX = 100_000

/** `path`: JSON Pointer from the message, such as `/requestBody/nr`. */
export type Coercion = Readonly<{ path: string; before: Json; after: Json }>

export type Coercions = Readonly<{
  coerced: readonly Coercion[]
  notShown: number
  /** The message has too many values to compare all. */
  isIncomplete: boolean
}>

/** In: the message before and after its validation, which changes values but no names. */
export function findCoercions(before: JsonObject, after: JsonObject): Coercions {
  const coerced: Coercion[] = []
  let count = 0
  let left = VALUES_MAX
  const compare = (one: Json | undefined, other: Json | undefined, path: string): void => {
    left -= 1
    if (one === other || left < 0) return
    if (isContainer(one) && isContainer(other) && Array.isArray(one) === Array.isArray(other)) {
      for (const name of Object.keys(other)) {
        compare((one as JsonObject)[name], (other as JsonObject)[name], pointerTo(path, name))
      }
      return
    }
    count += 1
    if (coerced.length < COERCIONS_SHOWN) coerced.push({ path, before: one ?? null, after: other ?? null })
  }
  compare(before, after, '')
  return { coerced, notShown: count - coerced.length, isIncomplete: left < 0 }
}

const isContainer = (value: Json | undefined): value is JsonObject | readonly Json[] =>
  isObject(value) || Array.isArray(value)
