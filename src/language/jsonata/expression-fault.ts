/** The failures of expressions as safe sentences: JSONata throws plain objects whose texts quote message data. */
import { typeName } from '../../core/json.ts'
import { PatternTooCostly } from '../re2-pattern.ts'

/** An expression that failed on a message. Its text is safe to send: it quotes the expression, never the message. */
export class ExpressionFault extends Error {
  override readonly name = 'ExpressionFault'
  /** JSONata's code, for example `T2001`; undefined for the limits of this service. */
  readonly code: string | undefined
  /** Index in the expression's text, shortly after the part that failed. */
  readonly position: number | undefined
  /** Whether the expression reached its time limit. */
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
}

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

/** Sentences for the engine's limits; \0 stands for the value that the engine gives. */
const LIMITS: Readonly<Record<string, string>> = {
  // The engine counts parts that run side by side as levels.
  D1011:
    'The expression has more than \0 steps under way at once; where it calls itself, make the call the last step of the function, and where it builds an object or list, build fewer parts of it (EXPRESSION_MAX_DEPTH)',
  [TIMEOUT]: 'The expression took longer than \0 milliseconds',
  D2014: 'The expression builds a list of \0 items, more than it may',
  D2015: 'The expression builds a list with more items than it may',
}

/** In: whatever the engine throws. */
export function asExpressionFault(thrown: unknown): ExpressionFault {
  if (thrown instanceof ExpressionFault) return thrown
  const { code, position, message, value, value2, exp } = fieldsOf(thrown)
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
  return new ExpressionFault(shortened(sentence(text)), code, at)
}

/** An author's text may contain the whole message. */
const LONGEST = 1_000
const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

function fieldsOf(thrown: unknown): Readonly<Record<string, unknown>> {
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
      .reduce((before, after) => before + (partOfWord(before, after) ? written : `(${typeName(value)})`) + after)
  }
  return safe.length > 500 ? `${safe.slice(0, 500)}…` : safe
}

/** The 1 of "2012" does not stand for the value 1. */
const partOfWord = (before: string, after: string): boolean => /[\w.]$/.test(before) || /^\w/.test(after)

/** Undefined for functions: they contain themselves, and no text quotes them. */
function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
