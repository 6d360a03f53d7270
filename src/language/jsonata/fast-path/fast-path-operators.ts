/** The operators of JSONata for single values, as in its engine (jsonata 2.2.2, evaluateBinary). */

/** Thrown if the engine must evaluate the message. No Error: its stack would cost more than the evaluation. */
export const ENGINE_NEEDED: unique symbol = Symbol('the engine must evaluate the message')

/** Texts with more characters go to the engine, which checks the time. */
export const SHORT_TEXT = 4_096

type Operator = (left: unknown, right: unknown) => unknown

export const binaryOperator = (operator: string): Operator | undefined =>
  Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined

const OPERATORS: Readonly<Record<string, Operator>> = {
  '+': arithmetic((left, right) => left + right),
  '-': arithmetic((left, right) => left - right),
  '*': arithmetic((left, right) => left * right),
  '/': arithmetic((left, right) => left / right),
  '%': arithmetic((left, right) => left % right),
  '<': comparison((left, right) => left < right),
  '<=': comparison((left, right) => left <= right),
  '>': comparison((left, right) => left > right),
  '>=': comparison((left, right) => left >= right),
  '=': (left, right) => areFound(left, right) && left === right,
  '!=': (left, right) => areFound(left, right) && left !== right,
  '&': (left, right) => {
    const text = textOf(left) + textOf(right)
    if (text.length > SHORT_TEXT) throw ENGINE_NEEDED
    return text
  },
  in: (left, right) => {
    if (typeof left === 'object' && left !== null) throw ENGINE_NEEDED
    if (left === undefined || right === undefined) return false
    return Array.isArray(right) ? right.includes(left) : right === left
  },
}

function arithmetic(compute: (left: number, right: number) => number): Operator {
  return (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') {
      const result = compute(left, right)
      if (Number.isFinite(result)) return result
    } else if (isNumberOrNothing(left) && isNumberOrNothing(right)) return undefined
    throw ENGINE_NEEDED
  }
}

const isNumberOrNothing = (value: unknown): boolean => value === undefined || typeof value === 'number'

function comparison(compare: (left: number | string, right: number | string) => boolean): Operator {
  return (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return compare(left, right)
    if (typeof left === 'string' && typeof right === 'string') return compare(left, right)
    throw ENGINE_NEEDED
  }
}

export function negated(value: unknown): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number') return -value
  throw ENGINE_NEEDED
}

/** Whether both sides have a value. Throws ENGINE_NEEDED for lists and objects. */
function areFound(left: unknown, right: unknown): boolean {
  if (left === undefined || right === undefined) return false
  if ((typeof left === 'object' && left !== null) || (typeof right === 'object' && right !== null)) throw ENGINE_NEEDED
  return true
}

/** A value as `&` reads it. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined) return ''
  if (typeof value === 'boolean' || Number.isInteger(value)) return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(Number(value.toPrecision(15)))
  throw ENGINE_NEEDED
}

/** A value as a condition reads it. */
export function booleanOf(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) throw ENGINE_NEEDED
  return Boolean(value)
}
