/**
 * Limits on the size of values while an expression runs. Values share their parts, so twenty lines can build an object that
 * is small in memory and fills the machine when it is written as text, compared or copied. A size is therefore that of the
 * value written out, and every value that an expression builds is weighed.
 */
import { LimitReached } from './expression-fault.ts'

/** Characters of an object or list written out, with NODE_WEIGHT for each value in it. */
export const SIZE_LIMIT = 16 * 1024 * 1024

/** Characters of the values that all expressions of one message give, with NODE_WEIGHT for each value in them. */
export const TOTAL_LIMIT = 24 * 1024 * 1024

/** Characters of one text. Built-ins make lists of its characters, which take twenty times the memory. */
export const TEXT_LIMIT = 8 * 1024 * 1024

const NODE_WEIGHT = 16

/** Deeper values cannot be written as JSON everywhere; messages have at most 64 levels. */
export const DEPTH_LIMIT = 256

const tooLarge = () =>
  new LimitReached(`The expression builds a value of more than ${SIZE_LIMIT.toLocaleString('en')} characters`)

export const tooLong = () =>
  new LimitReached(`The expression builds a text of more than ${TEXT_LIMIT.toLocaleString('en')} characters`)

const tooDeep = () => new LimitReached(`The expression builds a value of more than ${DEPTH_LIMIT} levels`)

/** Functions, regular expressions among them, in the forms that the engine has for them. */
export function isFunction(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'function'
  const { _jsonata_lambda: lambda, _jsonata_function: builtIn } = value as Record<string, unknown>
  return lambda === true || builtIn === true
}

/** Sizes of values that do not change any more, by identity; for one evaluation. */
export type KnownSizes = WeakMap<object, number>

/**
 * The size of a value in characters. Throws LimitReached for a value over SIZE_LIMIT, too deep or cyclic. SIZE_LIMIT
 * bounds the time, however often the value shares its parts.
 */
export function sizeOf(value: unknown, known: KnownSizes, budget = SIZE_LIMIT, depth = 0): number {
  let size = NODE_WEIGHT + (typeof value === 'string' ? value.length : 0)
  if (typeof value === 'object' && value !== null && !isFunction(value)) {
    const before = known.get(value)
    if (before !== undefined) size = before
    else {
      if (depth > DEPTH_LIMIT) throw tooDeep()
      if (Array.isArray(value)) for (const item of value) size += sizeOf(item, known, budget - size, depth + 1)
      else {
        for (const [name, item] of Object.entries(value)) {
          size += name.length + sizeOf(item, known, budget - size, depth + 1)
        }
      }
    }
  }
  if (size > budget) throw tooLarge()
  return size
}
