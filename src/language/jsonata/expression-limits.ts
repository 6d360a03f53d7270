/**
 * The limits of expressions, and their failures as safe sentences: JSONata throws plain objects whose texts quote message
 * data.
 *
 * Values share their parts, so twenty lines can build an object that is small in memory and fills the machine when it is
 * written as text, compared or copied. A size is therefore that of the value written out, and every value that an
 * expression builds is weighed.
 */
import type { Failure } from '../../core/failure.ts'
import { type Json, typeName } from '../../core/json.ts'
import { PatternTooCostly } from '../re2-pattern.ts'

/** What `$fail` ends a message with, beside its sentence. */
type Rejection = Readonly<{ status: number; details?: Json | undefined }>

/** A fault as plain data, to be sent between processes. `isOwnText`: the message begins with a text of `$error` or `$assert`. */
export type FaultReport = Readonly<{
  message: string
  unquoted: string
  isOwnText?: boolean
  rejection?: Rejection | undefined
  /** Of a failure that `$table` ended the message with. */
  code?: Failure['code']
}>

/** An expression that failed on a message. Its text is safe to send: it quotes the expression, never the message. */
export class ExpressionFault extends Error {
  override readonly name = 'ExpressionFault'
  /** JSONata's code, for example `T2001`; undefined for the limits of this service. */
  readonly code: string | undefined
  /** Index in the expression's text, shortly after the part that failed. */
  readonly position: number | undefined
  /** The expression reached its time limit. */
  readonly isTimeout: boolean

  constructor(message: string, code?: string, position?: number, isTimeout = code === TIMEOUT) {
    super(position === undefined ? `${message}.` : `${message}, near character ${position} of the expression.`)
    this.code = code
    this.position = position
    this.isTimeout = isTimeout
  }

  /** The failure without JSONata's text, which may quote the message if it comes from `$error`. */
  get unquoted(): string {
    if (this.code === undefined || this.code in LIMITS) return this.message
    const where = this.position === undefined ? '' : `, near character ${this.position} of the expression`
    return `JSONata gave ${this.code}${where}.`
  }

  report(): FaultReport {
    return { message: this.message, unquoted: this.unquoted, isOwnText: OWN_WORDS.has(this.code ?? '') }
  }
}

/** `$fail` ended the message; the text is the author's own, unchanged. */
export class Rejected extends ExpressionFault {
  private readonly rejection: Rejection

  constructor(message: string, rejection: Rejection) {
    super('')
    this.message = message.toWellFormed()
    this.rejection = rejection
  }

  override report(): FaultReport {
    return { message: this.message, unquoted: '', rejection: this.rejection }
  }
}

/** `$table` ended the message. */
export class NotTranslated extends ExpressionFault {
  private readonly failure: Failure

  constructor(failure: Failure) {
    super('')
    this.message = failure.message
    this.failure = failure
  }

  override report(): FaultReport {
    const { message, unquoted, code } = this.failure
    return { message, unquoted, code }
  }
}

export const isTimeout = (thrown: unknown): boolean => thrown instanceof ExpressionFault && thrown.isTimeout

/** A limit that an evaluation reached. The engine sets the position when it passes the error on. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached'
  position?: number
}

/** A time limit that the built-in functions check. */
export class TimeLimitReached extends LimitReached {}

/** The code of the engine's own time limit. */
const TIMEOUT = 'D1012'

/** Codes of `$error` and `$assert`, whose texts are the author's own and are sent unchanged. */
const OWN_WORDS = new Set(['D3137', 'D3141'])

/** Sentences for the engine's limits; \0 marks the place of the value that the engine gives. */
const LIMITS: Readonly<Record<string, string>> = {
  // The engine counts parts that run side by side as levels.
  D1011:
    'The expression has more than \0 steps in progress at once; where it calls itself, make the call the last step of the function, and where it builds an object or list, build fewer parts of it (EXPRESSION_MAX_DEPTH)',
  [TIMEOUT]: 'The expression took longer than \0 milliseconds',
  D2014: 'The expression builds a list of \0 items, more than it may',
  D2015: 'The expression builds a list with more items than it may',
}

/** What to write for operators of other languages, by the symbol where the engine stops: the second of `==` and `&&`. */
const HINTS: Readonly<Record<string, string>> = {
  '=': '; for "equals", write one "="',
  '&': '; for "and", write "and"',
}

/** In: whatever the engine throws. */
export function asExpressionFault(thrown: unknown): ExpressionFault {
  if (thrown instanceof ExpressionFault) return thrown
  const { code, position, message, value, value2, exp, token } = asRecord(thrown)
  const at = typeof position === 'number' ? position : undefined
  if (thrown instanceof LimitReached || thrown instanceof PatternTooCostly) {
    return new ExpressionFault(sentence(thrown.message), undefined, at, thrown instanceof TimeLimitReached)
  }
  if (thrown instanceof RangeError) {
    return new ExpressionFault('The expression recurses too deeply, or builds a text or list that is too large')
  }
  if (thrown instanceof SyntaxError) return new ExpressionFault(sentence(thrown.message))
  if (typeof code !== 'string') return new ExpressionFault('The expression failed on a value that it cannot work with')
  let text = LIMITS[code]?.replace('\0', String(value)) ?? (typeof message === 'string' ? message : `Error ${code}`)
  if (!code.startsWith('S') && !OWN_WORDS.has(code) && !(code in LIMITS)) text = withoutData(text, [value, value2, exp])
  const hint = code === 'S0211' ? (HINTS[String(token)] ?? '') : ''
  return new ExpressionFault(`${shortened(sentence(text))}${hint}`, code, at)
}

/** An author's text may contain the whole message. */
const MAX_CHARACTERS = 1_000
const shortened = (text: string): string => (text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text)

function asRecord(thrown: unknown): Readonly<Record<string, unknown>> {
  return typeof thrown === 'object' && thrown !== null ? (thrown as Record<string, unknown>) : {}
}

const sentence = (text: string): string => text.replace(/\s+/g, ' ').replace(/[.\s]+$/, '')

/** The engine writes values into its texts as JSON; they may be confidential. */
function withoutData(text: string, values: readonly unknown[]): string {
  let safe = text
  for (const value of values) {
    const written = json(value)
    if (written === undefined) continue
    safe = safe
      .split(written)
      .reduce((before, after) => before + (wordPart(before, after) ? written : `(${typeName(value)})`) + after)
  }
  return safe.length > 500 ? `${safe.slice(0, 500)}…` : safe
}

/** The 1 of "2012" is not the value 1. */
const wordPart = (before: string, after: string): boolean => /[\w.]$/.test(before) || /^\w/.test(after)

/** Gives none for functions: they contain themselves, and no text quotes them. */
function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

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
export function measureSize(value: unknown, known: KnownSizes, budget = SIZE_LIMIT, depth = 0): number {
  let size = NODE_WEIGHT + (typeof value === 'string' ? value.length : 0)
  if (typeof value === 'object' && value !== null && !isFunction(value)) {
    const before = known.get(value)
    if (before !== undefined) size = before
    else {
      if (depth > DEPTH_LIMIT) throw tooDeep()
      if (Array.isArray(value)) for (const item of value) size += measureSize(item, known, budget - size, depth + 1)
      else {
        for (const [name, item] of Object.entries(value)) {
          size += name.length + measureSize(item, known, budget - size, depth + 1)
        }
      }
    }
  }
  if (size > budget) throw tooLarge()
  return size
}
