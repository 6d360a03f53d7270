/** The values that messages are made of. Nothing in the pipeline changes one once it exists. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json }

/** Something that may already be there: awaited only where it is a promise, so that synchronous work stays synchronous. */
export type Awaitable<T> = T | Promise<T>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The JSON name of a value's type, as a user would say it. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Names that reach a prototype when a careless reader assigns them: refused wherever a document names a field. */
export const REFUSED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
