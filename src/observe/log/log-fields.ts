/**
 * Copies the fields of an event, bounded and without secrets: callers may pass whole headers, documents and errors, and no
 * credential reaches the log even if a caller is careless.
 */
import { isSecretName, REDACTED } from '../../core/secrets/secrets.ts'

/** Bounds of one event. A value beyond them is replaced by a word such as `[more]`. */
const MAX_LEVELS = 8
const MAX_VALUES = 1_000
const MAX_CHARACTERS = 10_000

/** Every line has these; a second one in the same line would hide the first. */
const RESERVED = ['level', 'time', 'msg']

/**
 * A plain copy of an event's fields that any logger can write.
 *
 * Values under the name of a secret header are replaced, also in lists of names and values as node:http has them.
 * Errors become `{ type, message, code?, stack, cause? }`. Cycles, bigints and bytes are written as text. Throws only
 * what a getter of the fields throws.
 */
export function loggable(fields: object): Record<string, unknown> {
  const budget = { left: MAX_VALUES }
  const copied = fields instanceof Error ? { err: copy(fields, [], budget) } : copy(fields, [], budget)
  const entries = typeof copied === 'object' && copied !== null ? Object.entries(copied) : []
  return Object.fromEntries(entries.map(([name, value]) => [RESERVED.includes(name) ? `${name}_` : name, value]))
}

type Budget = { left: number }

/** By its name: a reference to the class `Headers` makes Node.js compile its own copy of undici. */
const isHeaders = (value: object): value is Headers => Object.prototype.toString.call(value) === '[object Headers]'

function copy(value: unknown, above: readonly object[], budget: Budget): unknown {
  if (typeof value === 'string') return shorten(value)
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (budget.left-- <= 0) return '[more]'
  if (above.includes(value)) return '[circular]'
  if (above.length >= MAX_LEVELS) return '[deeper]'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  // User name, password and query of a URL may be credentials.
  if (value instanceof URL) return shorten(`${value.protocol}//${value.host}${value.pathname}`)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  const within = [...above, value]
  if (value instanceof Error) return copyError(value, within, budget)
  if (value instanceof Map || isHeaders(value)) return copyEntries([...value.entries()], within, budget)
  if (value instanceof Set) return copyList([...value], within, budget)
  if (Array.isArray(value)) return copyList(value, within, budget)
  return copyEntries(Object.entries(value), within, budget)
}

function copyEntries(entries: readonly (readonly [unknown, unknown])[], above: readonly object[], budget: Budget) {
  const copied: [string, unknown][] = []
  for (const [key, value] of entries) {
    if (budget.left <= 0) break
    budget.left--
    const name = toName(key)
    copied.push([name, isSecretName(name) && value !== undefined ? REDACTED : copy(value, above, budget)])
  }
  return Object.fromEntries(copied)
}

/** A key of a map may be an object without a text. */
function toName(key: unknown): string {
  try {
    return String(key)
  } catch {
    return '[object]'
  }
}

/** A list may alternate names and values (`rawHeaders`): the item after the name of a secret is a secret. */
function copyList(values: readonly unknown[], above: readonly object[], budget: Budget) {
  const copied: unknown[] = []
  for (const value of values) {
    if (budget.left <= 0) {
      copied.push('[more]')
      break
    }
    budget.left--
    const before = values[copied.length - 1]
    const isSecret = typeof before === 'string' && /^[\w-]+$/.test(before) && isSecretName(before)
    copied.push(isSecret ? REDACTED : copy(value, above, budget))
  }
  return copied
}

function copyError(error: Error, above: readonly object[], budget: Budget) {
  const code = 'code' in error ? { code: copy(error.code, above, budget) } : {}
  const cause = error.cause === undefined ? {} : { cause: copy(error.cause, above, budget) }
  return { type: error.name, message: shorten(error.message), ...code, stack: shorten(error.stack ?? ''), ...cause }
}

const shorten = (text: string): string =>
  text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}… (${text.length} characters)` : text
