/** The operators of JSONata for single values, as its engine computes them (jsonata 2.2.2, evaluateBinary). */

/** Thrown where the engine must answer. No Error: it says nothing, and taking a stack would cost more than the answer. */
export const ENGINE_NEEDED: unique symbol = Symbol('left to the engine')

/** Longer texts are left to the engine, which looks at the time. */
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
  '=': (left, right) => isFound(left, right) && left === right,
  '!=': (left, right) => isFound(left, right) && left !== right,
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

/** Whether there is something on both sides, which must be single values. */
function isFound(left: unknown, right: unknown): boolean {
  if (left === undefined || right === undefined) return false
  if ((typeof left === 'object' && left !== null) || (typeof right === 'object' && right !== null)) throw ENGINE_NEEDED
  return true
}

/** What `&` takes a value for. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined) return ''
  if (typeof value === 'boolean' || Number.isInteger(value)) return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(Number(value.toPrecision(15)))
  throw ENGINE_NEEDED
}

/** What a condition takes a value for. */
export function booleanOf(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) throw ENGINE_NEEDED
  return Boolean(value)
}
