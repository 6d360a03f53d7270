/** The way of messages into the engine and of its values out: neither side ever holds what the other may change. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { ExpressionFault } from './expression-fault.ts'
import { DEPTH_LIMIT, isFunction, SIZE_LIMIT } from './expression-size.ts'

/** A copy that may be written to. */
export function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf)
  if (!isObject(value)) return value
  const copy: Record<string, Json> = {}
  for (const [name, item] of Object.entries(value)) define(copy, name, copyOf(item))
  return copy
}

/** The message with copies of the roots named; all of them where `roots` is undefined. */
export function copyRoots(message: JsonObject, roots: ReadonlySet<string> | undefined): JsonObject {
  const copy: Record<string, Json> = {}
  for (const [name, value] of Object.entries(message)) {
    define(copy, name, roots === undefined || roots.has(name) ? copyOf(value) : value)
  }
  return copy
}

/**
 * What an evaluation found, as plain JSON; undefined where it found nothing.
 * Fails with ExpressionFault for functions, for numbers that JSON does not have, and for what is too large or too deep.
 */
export function plain(value: unknown): Json | undefined {
  if (value === undefined) return undefined
  return plainPart(value, { left: SIZE_LIMIT }, 0)
}

function plainPart(value: unknown, budget: { left: number }, depth: number): Json {
  budget.left -= 16 + (typeof value === 'string' ? value.length : 0)
  if (budget.left < 0)
    throw new ExpressionFault(`The result is larger than ${SIZE_LIMIT.toLocaleString('en')} characters`)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new ExpressionFault(`The result holds ${value}, which is no number of JSON`)
    return value
  }
  // Lists hold undefined where a regular expression has a group that did not take part.
  if (value === undefined) return null
  if (typeof value !== 'object' || isFunction(value)) {
    throw new ExpressionFault('The result is or holds a function; call it, or return a value')
  }
  if (depth > DEPTH_LIMIT) throw new ExpressionFault(`The result has more than ${DEPTH_LIMIT} levels`)
  if (Array.isArray(value)) return Array.from(value, (item) => plainPart(item, budget, depth + 1))
  const copy: Record<string, Json> = {}
  for (const [name, item] of Object.entries(value)) {
    budget.left -= name.length
    if (item !== undefined) define(copy, name, plainPart(item, budget, depth + 1))
  }
  return copy
}

/** Assignment would call the setter of `__proto__`. */
function define(target: Record<string, Json>, name: string, value: Json): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}
