/**
 * What of an event goes into the log: a bounded copy without secrets. Whoever logs may pass whole headers, documents
 * and errors; that no credential reaches the log must not depend on their care.
 */

const REDACTED = '[redacted]'

/** Headers and properties whose value is a credential, or may be one. Names in full would miss `x-acme-api-key`. */
const SECRET = /authorization|cookie|api-?_?key|subscription-key|token|secret|password|credential/i

/** The fields of the lines that every message has: known not to be secrets, and looked at first. */
const PLAIN = new Set([
  'messageId',
  'endpoint',
  'endpointId',
  'source',
  'outcome',
  'code',
  'status',
  'stage',
  'path',
  'ms',
  'traceId',
])

/** Bounds of one event: deeper, longer and further values are named and left out. */
const MOST_LEVELS = 8
const MOST_VALUES = 1_000
const MOST_CHARACTERS = 10_000

/** Every line has these; a second one in the same line would hide the first. */
const TAKEN = ['level', 'time', 'msg']

/**
 * The fields of an event as any logger can write them: a plain copy, where they need one.
 *
 * Values under the name of a secret header are replaced, also in lists of names and values as node:http has them.
 * Errors become `{ type, message, code?, stack, cause? }`. Cycles, bigints and bytes are written as text. May throw
 * only what a getter of the fields throws.
 */
export function loggable(fields: object): object {
  if (isPlain(fields)) return fields
  const budget = { left: MOST_VALUES }
  const copied = fields instanceof Error ? { err: copy(fields, [], budget) } : copy(fields, [], budget)
  const entries = typeof copied === 'object' && copied !== null ? Object.entries(copied) : []
  return Object.fromEntries(entries.map(([name, value]) => [TAKEN.includes(name) ? `${name}_` : name, value]))
}

/** Whether fields need no care and can be written as they are: a tenth of the work for the lines of messages. */
function isPlain(fields: object): boolean {
  for (const [name, value] of Object.entries(fields)) {
    if (!PLAIN.has(name)) return false
    const isShort = typeof value === 'string' && value.length <= MOST_CHARACTERS
    if (!isShort && typeof value !== 'number' && value !== undefined) return false
  }
  return !(fields instanceof Error)
}

type Budget = { left: number }

function copy(value: unknown, above: readonly object[], budget: Budget): unknown {
  if (typeof value === 'string') return shorten(value)
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (budget.left-- <= 0) return '[more]'
  if (above.includes(value)) return '[circular]'
  if (above.length >= MOST_LEVELS) return '[deeper]'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  // User name, password and query of a URL may be credentials.
  if (value instanceof URL) return shorten(`${value.protocol}//${value.host}${value.pathname}`)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  const within = [...above, value]
  if (value instanceof Error) return copyError(value, within, budget)
  if (value instanceof Map || value instanceof Headers) return copyEntries([...value.entries()], within, budget)
  if (value instanceof Set) return copyList([...value], within, budget)
  if (Array.isArray(value)) return copyList(value, within, budget)
  return copyEntries(Object.entries(value), within, budget)
}

function copyEntries(entries: readonly (readonly [unknown, unknown])[], above: readonly object[], budget: Budget) {
  const copied: [string, unknown][] = []
  for (const [key, value] of entries) {
    if (budget.left <= 0) break
    budget.left--
    const name = String(key)
    copied.push([name, SECRET.test(name) && value !== undefined ? REDACTED : copy(value, above, budget)])
  }
  return Object.fromEntries(copied)
}

/** A list may hold names and values in turn (`rawHeaders`): what follows the name of a secret is one. */
function copyList(values: readonly unknown[], above: readonly object[], budget: Budget) {
  const copied: unknown[] = []
  for (const value of values) {
    if (budget.left <= 0) {
      copied.push('[more]')
      break
    }
    budget.left--
    const before = values[copied.length - 1]
    const isSecret = typeof before === 'string' && /^[\w-]+$/.test(before) && SECRET.test(before)
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
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}… (${text.length} characters)` : text
