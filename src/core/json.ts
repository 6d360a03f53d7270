/** The values that messages consist of. The pipeline never changes one. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json }

/** A value or its promise; callers await only a promise, so that synchronous work stays synchronous. */
export type Awaitable<T> = T | Promise<T>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The same value with every text in it changed; the names of members stay. */
export function changeTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item: Json) => changeTexts(item, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, changeTexts(member, change)]))
}

/** The JSON name of a value's type, as a user would say it. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Names that could reach a prototype by assignment: no document may name a field so. */
export const REFUSED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

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

type Present<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
}

/** Without the properties whose value is undefined. */
export const omitUndefined = <T extends object>(value: T): Present<T> =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Present<T>
