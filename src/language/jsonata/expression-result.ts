/** Copies of messages for the engine and of its values for the service, so that neither can change what the other holds. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { ExpressionFault } from './expression-fault.ts'
import { DEPTH_LIMIT, isFunction, SIZE_LIMIT } from './expression-size.ts'

function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf)
  if (!isObject(value)) return value
  const copy: Record<string, Json> = {}
  for (const [name, item] of Object.entries(value)) define(copy, name, copyOf(item))
  return copy
}

/** The message with copies of these roots; copies of all if `roots` is undefined. */
export function copyRoots(message: JsonObject, roots: ReadonlySet<string> | undefined): JsonObject {
  const copy: Record<string, Json> = {}
  for (const [name, value] of Object.entries(message)) {
    define(copy, name, roots === undefined || roots.has(name) ? copyOf(value) : value)
  }
  return copy
}

/**
 * In: the value of an evaluation. Out: a copy as plain JSON; undefined for undefined.
 * Fails with ExpressionFault for functions, for numbers that JSON does not have, and for values that are too large or deep.
 */
export const plain = (value: unknown): Json | undefined =>
  value === undefined ? undefined : plainPart(value, { left: SIZE_LIMIT }, 0)

function plainPart(value: unknown, budget: { left: number }, depth: number): Json {
  budget.left -= 16 + (typeof value === 'string' ? value.length : 0)
  if (budget.left < 0)
    throw new ExpressionFault(`The result is larger than ${SIZE_LIMIT.toLocaleString('en')} characters`)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new ExpressionFault(`The result holds ${value}, which is no number of JSON`)
    return value
  }
  // A group of a regular expression that did not match is undefined in the list of groups.
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

/** Assigning to `__proto__` would call its setter. */
function define(target: Record<string, Json>, name: string, value: Json): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}
