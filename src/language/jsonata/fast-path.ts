/**
 * The fast path: expressions as closures. The engine's evaluator takes a promise and a walk through its scopes for every
 * step; without the fast path W2 has 0.55 to 0.60 of the messages a second (docs/decisions/speed.md).
 *
 * The fast path computes single values from single values: paths, texts, numbers, conditions, variables, objects, and calls
 * of the engine's own built-ins. Every other expression runs in the engine. So does every message with a list in a path,
 * with a value of a type that an operator does not take, or with a failure: the engine alone has the rules for these.
 */
import { isObject, type JsonObject } from '../../core/json.ts'
import { findBuiltIn } from './expression-engine.ts'
import { isFunction } from './expression-limits.ts'
import type { Node } from './expression-tree.ts'

/** In: the message. Out: the value, or undefined if there is none. Throws if the engine must evaluate the message. */
export type FastPath = (message: JsonObject) => unknown

type Evaluate = (message: JsonObject, variables: unknown[]) => unknown

/** Bounds the time of the fast path: each node runs at most once, on short texts. */
const NODE_LIMIT = 200

/** The most steps that the engine counts for one node (src/settings/groups/expressions-settings.ts). */
const STEPS_PER_NODE = 4

/** The parts that a node of each type may have; any other part changes its meaning. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  string: ['value'],
  number: ['value'],
  value: ['value'],
  path: ['steps'],
  variable: ['value'],
  block: ['expressions'],
  bind: ['value', 'lhs', 'rhs'],
  binary: ['value', 'lhs', 'rhs'],
  unary: ['value', 'expression', 'expressions', 'lhs'],
  condition: ['condition', 'then', 'else'],
  function: ['name', 'value', 'arguments', 'procedure'],
  apply: ['value', 'lhs', 'rhs'],
}

/** In: the tree as `parseTree` returns it. Out: undefined if the engine must evaluate every message. */
export function compileFastPath(
  tree: Node,
  limits: Readonly<{ maxDepth: number; maxSequence: number }>,
): FastPath | undefined {
  const maxNodes = Math.min(NODE_LIMIT, limits.maxDepth / STEPS_PER_NODE, limits.maxSequence)
  const evaluate = new Compiler(maxNodes).compile(tree, new Map())
  return evaluate && ((message) => evaluate(message, []))
}

type Scope = Map<string, number>

class Compiler {
  private readonly maxNodes: number
  private nodes = 0
  private variables = 0

  constructor(maxNodes: number) {
    this.maxNodes = maxNodes
  }

  compile(node: Node | undefined, scope: Scope): Evaluate | undefined {
    this.nodes += 1
    if (node === undefined || this.nodes > this.maxNodes || !isPlain(node)) return undefined
    switch (node.type) {
      case 'string':
      case 'number':
      case 'value':
        return () => node.value
      case 'path':
        return this.compilePath(node.steps ?? [], scope)
      case 'variable':
        return this.compileVariable(node, scope)
      case 'block':
        return this.compileBlock(node.expressions ?? [], scope)
      case 'binary':
        return this.compileBinary(node, scope)
      case 'unary':
        return this.compileUnary(node, scope)
      case 'condition':
        return this.compileCondition(node, scope)
      case 'function':
        return this.compileCall(node.procedure, node.arguments ?? [], scope)
      case 'apply':
        return this.compileApply(node, scope)
      default:
        return undefined
    }
  }

  private compileAll(parts: readonly Node[], scope: Scope): readonly Evaluate[] | undefined {
    const compiled = parts.map((part) => this.compile(part, scope))
    return compiled.every((part) => part !== undefined) ? compiled : undefined
  }

  private compilePath([first, ...rest]: readonly Node[], scope: Scope): Evaluate | undefined {
    this.nodes += rest.length
    const head = first?.type === 'variable' ? this.compile(first, scope) : (message: JsonObject) => message
    const names = readNames(first?.type === 'variable' ? rest : [first, ...rest])
    return head && names && ((message, slots) => readFrom(head(message, slots), names))
  }

  private compileVariable({ value: name }: Node, scope: Scope): Evaluate | undefined {
    if (name === '' || name === '$') return (message) => message
    const slot = scope.get(String(name))
    return slot === undefined ? undefined : (_message, slots) => slots[slot]
  }

  /** Variables of a block are not visible after it. */
  private compileBlock(parts: readonly Node[], around: Scope): Evaluate | undefined {
    const scope = new Map(around)
    const evaluates = parts.map((part) =>
      part.type === 'bind' ? this.compileBind(part, scope) : this.compile(part, scope),
    )
    if (!evaluates.every((one) => one !== undefined)) return undefined
    const [only] = evaluates
    if (evaluates.length === 1) return only
    return (message, slots) => {
      let value: unknown
      for (const evaluate of evaluates) value = evaluate(message, slots)
      return value
    }
  }

  private compileBind({ lhs, rhs }: Node, scope: Scope): Evaluate | undefined {
    const evaluate = this.compile(rhs, scope)
    const slot = this.variables
    this.variables += 1
    if (lhs !== undefined && !Array.isArray(lhs)) scope.set(String(lhs.value), slot)
    return (
      evaluate &&
      ((message, slots) => {
        slots[slot] = evaluate(message, slots)
        return slots[slot]
      })
    )
  }

  private compileBinary({ value, lhs, rhs }: Node, scope: Scope): Evaluate | undefined {
    const left = Array.isArray(lhs) ? undefined : this.compile(lhs, scope)
    const right = this.compile(rhs, scope)
    if (left === undefined || right === undefined) return undefined
    if (value === 'and') return (...at) => toBoolean(left(...at)) && toBoolean(right(...at))
    if (value === 'or') return (...at) => toBoolean(left(...at)) || toBoolean(right(...at))
    const operate = binaryOperator(String(value))
    return operate && ((message, slots) => operate(left(message, slots), right(message, slots)))
  }

  private compileUnary({ value, expression, expressions, lhs }: Node, scope: Scope): Evaluate | undefined {
    if (value === '[') return this.compileList(expressions ?? [], scope)
    if (value === '{') return Array.isArray(lhs) ? this.compileObject(lhs, scope) : undefined
    const evaluate = this.compile(expression, scope)
    return evaluate && ((message, slots) => negated(evaluate(message, slots)))
  }

  private compileList(items: readonly Node[], scope: Scope): Evaluate | undefined {
    const evaluates = this.compileAll(items, scope)
    const lists = items.map((item) => item.type === 'unary' && item.value === '[')
    return (
      evaluates &&
      ((message, slots) => {
        const list: unknown[] = []
        for (let at = 0; at < evaluates.length; at++) {
          const value = evaluates[at]?.(message, slots)
          if (Array.isArray(value) && lists[at] !== true) throw ENGINE_NEEDED
          if (value !== undefined) list.push(value)
        }
        return list
      })
    )
  }

  private compileObject(pairs: readonly [Node, Node][], scope: Scope): Evaluate | undefined {
    this.nodes += pairs.length
    const names = pairs.map(([name]) => (name.type === 'string' ? String(name.value) : undefined))
    const values = pairs.map(([, value]) => value)
    const evaluates = this.compileAll(values, scope)
    if (evaluates === undefined || !areNames(names)) return undefined
    return (message, slots) => {
      const object: Record<string, unknown> = {}
      for (let at = 0; at < names.length; at++) {
        const value = evaluates[at]?.(message, slots)
        if (value !== undefined) object[names[at] ?? ''] = value
      }
      return object
    }
  }

  private compileCondition(node: Node, scope: Scope): Evaluate | undefined {
    const condition = this.compile(node.condition, scope)
    const yes = this.compile(node.then, scope)
    const no = node.else === undefined ? () => undefined : this.compile(node.else, scope)
    return condition && yes && no && ((...at) => (toBoolean(condition(...at)) ? yes(...at) : no(...at)))
  }

  private compileCall(called: Node | undefined, given: readonly Node[], scope: Scope): Evaluate | undefined {
    if (called?.type !== 'variable' || scope.has(String(called.value)) || !isPlain(called)) return undefined
    const call = calledBuiltIn(String(called.value), given.length)
    const parts = this.compileAll(given, scope)
    if (call === undefined || parts === undefined) return undefined
    return (message, slots) => call(parts.map((part) => part(message, slots)))
  }

  /** `value ~> $f(more)` and `value ~> $f`. */
  private compileApply({ lhs, rhs }: Node, scope: Scope): Evaluate | undefined {
    if (lhs === undefined || Array.isArray(lhs) || rhs === undefined || !isPlain(rhs)) return undefined
    if (rhs.type === 'variable') return this.compileCall(rhs, [lhs], scope)
    return rhs.type === 'function' ? this.compileCall(rhs.procedure, [lhs, ...(rhs.arguments ?? [])], scope) : undefined
  }
}

function isPlain(node: Node): boolean {
  const parts = PARTS[node.type]
  return parts !== undefined && hasOnly(node, parts)
}

/** Names that the engine refuses, or by which it recognises functions. */
const NO_NAMES = ['__proto__', '_jsonata_lambda', '_jsonata_function']

function areNames(names: readonly (string | undefined)[]): names is readonly string[] {
  return new Set(names).size === names.length && names.every((name) => name !== undefined && !NO_NAMES.includes(name))
}

const hasOnly = (node: Node, parts: readonly string[]): boolean =>
  Object.entries(node).every(
    ([part, value]) => part === 'type' || part === 'position' || value === undefined || parts.includes(part),
  )

function readNames(steps: readonly (Node | undefined)[]): readonly string[] | undefined {
  const names: string[] = []
  for (const step of steps) {
    if (step?.type !== 'name' || typeof step.value !== 'string') return undefined
    if (!hasOnly(step, ['value'])) return undefined
    names.push(step.value)
  }
  return names
}

function readFrom(from: unknown, names: readonly string[]): unknown {
  let value = from
  for (let at = 0; ; at++) {
    if (typeof value === 'object' && (Array.isArray(value) || isFunction(value))) throw ENGINE_NEEDED
    if (at === names.length || value === undefined) return value
    const name = names[at] ?? ''
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
}

/** True if a built-in takes a value: those that run here skip the engine's check of signatures at each call. */
type Is = (value: unknown) => boolean

const isText: Is = (value) => typeof value === 'string' && value.length <= SHORT_TEXT
const isNumber: Is = (value) => typeof value === 'number'
const isWidth: Is = (value) => typeof value === 'number' && Math.abs(value) <= SHORT_TEXT
const isSingle: Is = (value) => isText(value) || typeof value === 'number' || typeof value === 'boolean'
const isAny: Is = () => true
const areTexts: Is = (value) => Array.isArray(value) && value.every(isText)

/**
 * Built-ins that need no running evaluation and return undefined for an undefined first argument: their required and
 * their optional arguments.
 */
const TAKES: Readonly<Record<string, readonly [must: readonly Is[], may: readonly Is[]]>> = {
  abs: [[isNumber], []],
  base64decode: [[isText], []],
  base64encode: [[isText], []],
  boolean: [[isSingle], []],
  ceil: [[isNumber], []],
  decodeUrl: [[isText], []],
  decodeUrlComponent: [[isText], []],
  encodeUrl: [[isText], []],
  encodeUrlComponent: [[isText], []],
  exists: [[isAny], []],
  // Always throws, so that only a message that it ends needs the engine.
  fail: [[isAny, isAny], [isAny]],
  floor: [[isNumber], []],
  formatBase: [[isNumber], [isNumber]],
  formatNumber: [[isNumber, isText], []],
  fromMillis: [[isNumber], [isText, isText]],
  join: [[areTexts], [isText]],
  length: [[isText], []],
  lowercase: [[isText], []],
  not: [[isSingle], []],
  number: [[isSingle], []],
  pad: [[isText, isWidth], [isText]],
  power: [[isNumber, isNumber], []],
  round: [[isNumber], [isNumber]],
  sqrt: [[isNumber], []],
  string: [[isSingle], []],
  substring: [[isText, isNumber], [isNumber]],
  substringAfter: [[isText, isText], []],
  substringBefore: [[isText, isText], []],
  toMillis: [[isText], [isText]],
  trim: [[isText], []],
  uppercase: [[isText], []],
}

/** A built-in for `count` arguments; undefined if the engine must call it. The function throws as `FastPath` does. */
function calledBuiltIn(name: string, count: number): ((values: readonly unknown[]) => unknown) | undefined {
  const takes = Object.hasOwn(TAKES, name) ? TAKES[name] : undefined
  if (takes === undefined || count < takes[0].length || count > takes[0].length + takes[1].length) return undefined
  const all = takes.flat()
  const implementation = findBuiltIn(name)
  return (values) => {
    for (let at = 0; at < count; at++) {
      const value = values[at]
      if (all[at]?.(value) !== true && (at > 0 || value !== undefined)) throw ENGINE_NEEDED
    }
    const result = implementation(...values)
    if (typeof result === 'string' && result.length > SHORT_TEXT) throw ENGINE_NEEDED
    // The engine fails at the next use of such a number.
    if (typeof result === 'number' && !Number.isFinite(result)) throw ENGINE_NEEDED
    return result
  }
}

/** Thrown if the engine must evaluate the message. No Error: its stack would cost more than the evaluation. */
const ENGINE_NEEDED: unique symbol = Symbol('the engine must evaluate the message')

/** Texts with more characters go to the engine, which checks the time. */
const SHORT_TEXT = 4_096

/** An operator for single values, as in the engine (jsonata 2.2.2, evaluateBinary). */
type Operator = (left: unknown, right: unknown) => unknown

const binaryOperator = (operator: string): Operator | undefined =>
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
    const text = toText(left) + toText(right)
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

function negated(value: unknown): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number') return -value
  throw ENGINE_NEEDED
}

/** True if both sides have a value. Throws ENGINE_NEEDED for a list or an object on the right: only another one equals it. */
function areFound(left: unknown, right: unknown): boolean {
  if (left === undefined || right === undefined) return false
  if (typeof right === 'object' && right !== null) throw ENGINE_NEEDED
  return true
}

/** A value as `&` reads it. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined) return ''
  if (typeof value === 'boolean' || Number.isInteger(value)) return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(Number(value.toPrecision(15)))
  throw ENGINE_NEEDED
}

/** A value as a condition reads it. */
function toBoolean(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) throw ENGINE_NEEDED
  return Boolean(value)
}
