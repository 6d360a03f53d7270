/**
 * The fast path: expressions as closures. The engine's evaluator takes a promise and a walk through its scopes for every
 * step; without the fast path W2 has 0.55 to 0.60 of the messages a second (docs/decisions/speed.md).
 *
 * The fast path computes single values from single values: paths, texts, numbers, conditions, variables, objects, and calls
 * of the engine's own built-ins. Every other expression runs in the engine. So does every message with a list in a path,
 * with a value of a type that an operator does not take, or with a failure: the engine alone has the rules for these.
 */
import { isObject, type JsonObject } from '../../../core/json.ts'
import { isFunction } from '../expression-size.ts'
import type { Node } from '../expression-tree.ts'
import { calledBuiltIn } from './fast-path-calls.ts'
import { binaryOperator, booleanOf, ENGINE_NEEDED, negated } from './fast-path-operators.ts'

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
  const most = Math.min(NODE_LIMIT, limits.maxDepth / STEPS_PER_NODE, limits.maxSequence)
  const evaluate = compiler(most)(tree, new Map())
  return evaluate && ((message) => evaluate(message, []))
}

type Scope = Map<string, number>

type Compile = (node: Node | undefined, scope: Scope) => Evaluate | undefined

function compiler(most: number): Compile {
  let nodes = 0
  let variables = 0

  const compile: Compile = (node, scope) => {
    nodes += 1
    if (node === undefined || nodes > most || !isPlain(node)) return undefined
    switch (node.type) {
      case 'string':
      case 'number':
      case 'value':
        return () => node.value
      case 'path':
        return compilePath(node.steps ?? [], scope)
      case 'variable':
        return compileVariable(node, scope)
      case 'block':
        return compileBlock(node.expressions ?? [], scope)
      case 'binary':
        return compileBinary(node, scope)
      case 'unary':
        return compileUnary(node, scope)
      case 'condition':
        return compileCondition(node, scope)
      case 'function':
        return compileCall(node.procedure, node.arguments ?? [], scope)
      case 'apply':
        return compileApply(node, scope)
      default:
        return undefined
    }
  }

  const compileAll = (parts: readonly Node[], scope: Scope): readonly Evaluate[] | undefined => {
    const compiled = parts.map((part) => compile(part, scope))
    return compiled.every((part) => part !== undefined) ? compiled : undefined
  }

  const compilePath = ([first, ...rest]: readonly Node[], scope: Scope): Evaluate | undefined => {
    nodes += rest.length
    const head = first?.type === 'variable' ? compile(first, scope) : (message: JsonObject) => message
    const names = namesOf(first?.type === 'variable' ? rest : [first, ...rest])
    return head && names && ((message, slots) => readFrom(head(message, slots), names))
  }

  const compileVariable = ({ value: name }: Node, scope: Scope): Evaluate | undefined => {
    if (name === '' || name === '$') return (message) => message
    const slot = scope.get(String(name))
    return slot === undefined ? undefined : (_message, slots) => slots[slot]
  }

  /** Variables of a block are not visible after it. */
  const compileBlock = (parts: readonly Node[], around: Scope): Evaluate | undefined => {
    const scope = new Map(around)
    const evaluates = parts.map((part) => (part.type === 'bind' ? compileBind(part, scope) : compile(part, scope)))
    if (!evaluates.every((one) => one !== undefined)) return undefined
    const [only] = evaluates
    if (evaluates.length === 1) return only
    return (message, slots) => {
      let value: unknown
      for (const evaluate of evaluates) value = evaluate(message, slots)
      return value
    }
  }

  const compileBind = ({ lhs, rhs }: Node, scope: Scope): Evaluate | undefined => {
    const evaluate = compile(rhs, scope)
    const slot = variables
    variables += 1
    if (lhs !== undefined && !Array.isArray(lhs)) scope.set(String(lhs.value), slot)
    return (
      evaluate &&
      ((message, slots) => {
        slots[slot] = evaluate(message, slots)
        return slots[slot]
      })
    )
  }

  const compileBinary = ({ value, lhs, rhs }: Node, scope: Scope): Evaluate | undefined => {
    const left = Array.isArray(lhs) ? undefined : compile(lhs, scope)
    const right = compile(rhs, scope)
    if (left === undefined || right === undefined) return undefined
    if (value === 'and') return (...at) => booleanOf(left(...at)) && booleanOf(right(...at))
    if (value === 'or') return (...at) => booleanOf(left(...at)) || booleanOf(right(...at))
    const operate = binaryOperator(String(value))
    return operate && ((message, slots) => operate(left(message, slots), right(message, slots)))
  }

  const compileUnary = ({ value, expression, expressions, lhs }: Node, scope: Scope): Evaluate | undefined => {
    if (value === '[') return compileList(expressions ?? [], scope)
    if (value === '{') return Array.isArray(lhs) ? compileObject(lhs, scope) : undefined
    const evaluate = compile(expression, scope)
    return evaluate && ((message, slots) => negated(evaluate(message, slots)))
  }

  const compileList = (items: readonly Node[], scope: Scope): Evaluate | undefined => {
    const evaluates = compileAll(items, scope)
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

  const compileObject = (pairs: readonly [Node, Node][], scope: Scope): Evaluate | undefined => {
    nodes += pairs.length
    const names = pairs.map(([name]) => (name.type === 'string' ? String(name.value) : undefined))
    const values = pairs.map(([, value]) => value)
    const evaluates = compileAll(values, scope)
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

  const compileCondition = (node: Node, scope: Scope): Evaluate | undefined => {
    const condition = compile(node.condition, scope)
    const yes = compile(node.then, scope)
    const no = node.else === undefined ? () => undefined : compile(node.else, scope)
    return condition && yes && no && ((...at) => (booleanOf(condition(...at)) ? yes(...at) : no(...at)))
  }

  const compileCall = (called: Node | undefined, given: readonly Node[], scope: Scope): Evaluate | undefined => {
    if (called?.type !== 'variable' || scope.has(String(called.value)) || !isPlain(called)) return undefined
    const call = calledBuiltIn(String(called.value), given.length)
    const parts = compileAll(given, scope)
    if (call === undefined || parts === undefined) return undefined
    return (message, slots) => call(parts.map((part) => part(message, slots)))
  }

  /** `value ~> $f(more)` and `value ~> $f`. */
  const compileApply = ({ lhs, rhs }: Node, scope: Scope): Evaluate | undefined => {
    if (lhs === undefined || Array.isArray(lhs) || rhs === undefined || !isPlain(rhs)) return undefined
    if (rhs.type === 'variable') return compileCall(rhs, [lhs], scope)
    return rhs.type === 'function' ? compileCall(rhs.procedure, [lhs, ...(rhs.arguments ?? [])], scope) : undefined
  }

  return compile
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

function namesOf(steps: readonly (Node | undefined)[]): readonly string[] | undefined {
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
