/**
 * JSONata expressions, compiled once and evaluated for each message. An expression comes from a document, so it must not
 * be able to stop the process, change the message, or put anything but JSON into it.
 */
import { type Awaitable, isObject, type Json, type JsonObject } from '../../core/json.ts'
import { fault, found, type Result } from '../../core/lint.ts'
import type { Translate } from '../../core/tables/table-reads.ts'
import { type Ambient, type ExpressionLimits, type Instance, openInstance, parseTree } from './expression-engine.ts'
import { BUILT_INS } from './expression-functions.ts'
import { asExpressionFault, DEPTH_LIMIT, ExpressionFault, isFunction, SIZE_LIMIT } from './expression-limits.ts'
import { collectReads, mayWrite, type Node, unknownName, walk, wrongTableCall } from './expression-tree.ts'
import { compileFastPath } from './fast-path.ts'

export type { Ambient, ExpressionLimits } from './expression-engine.ts'
export { ExpressionFault } from './expression-limits.ts'

export type Expression = Readonly<{
  text: string
  /**
   * In: the message. Out: plain JSON that shares nothing with the message, or undefined if the expression finds nothing.
   * The fast path returns the value itself, the engine a promise that rejects with ExpressionFault. Never throws. Safe to
   * call concurrently. `translate`: for `$table`, which fails without it.
   */
  evaluate(input: JsonObject, translate?: Translate): Awaitable<Json | undefined>
  /** First names of its paths; undefined if they cannot be known (`$$` alone, `$eval`, `%`, a leading `*`). */
  roots: ReadonlySet<string> | undefined
  /** The static prefixes of its paths, for example `['constants', 'x']`. */
  references: readonly (readonly string[])[]
}>

/** Idle instances kept, about 50 KB each. More are open only while more messages are evaluated at once. */
const KEPT_INSTANCES = 64

/**
 * Compiles a JSONata 2 expression.
 *
 * Fails with one sentence and the position: for text that does not parse, functions and variables that do not exist, and
 * regular expressions that RE2 cannot run. The limits hold for one evaluation. Besides, no value that an expression
 * builds may have more than 16 Mi characters or 256 levels. `ambient`: called at the start of each evaluation, if that must
 * give the same result at every run.
 * Source: https://docs.jsonata.org, version 2.2.
 */
export function parseExpression(text: string, limits: ExpressionLimits, ambient?: () => Ambient): Result<Expression> {
  let tree: Node
  try {
    tree = parseTree(text)
  } catch (thrown) {
    return fault(asExpressionFault(thrown).message)
  }
  const wrong = unknownName(tree, BUILT_INS) ?? wrongTableCall(tree) ?? tooNested(tree, limits.maxDepth)
  if (wrong !== undefined) return fault(wrong)
  const reads = collectReads(tree)
  const writes = mayWrite(tree, BUILT_INS)
  const first = openInstance(text, limits, ambient)
  if (!first.ok) return fault(first.message)
  const idle: Instance[] = [first.value]
  const evaluateNow = async (input: JsonObject, timeoutMs: number, translate?: Translate) => {
    const instance = idle.pop() ?? reopen(text, limits, ambient)
    try {
      const given = writes ? copyRoots(input, reads.roots) : input
      const result = plain(await instance.run(given, timeoutMs, translate))
      if (idle.length < KEPT_INSTANCES) idle.push(instance)
      return result
    } catch (thrown) {
      instance.stop()
      throw asExpressionFault(thrown)
    }
  }
  const { runExclusive, timeoutMs } = limits
  const evaluateInEngine = (input: JsonObject, translate?: Translate) =>
    runExclusive === undefined
      ? evaluateNow(input, timeoutMs, translate)
      : runExclusive((limitMs) => evaluateNow(input, limitMs, translate))
  // Only the engine takes the time zone and the missing parts of a time from `ambient`.
  const readsTimes = ambient !== undefined && text.includes('toMillis')
  const fastPath = readsTimes ? undefined : compileFastPath(tree, limits)
  const evaluate: Expression['evaluate'] =
    fastPath === undefined
      ? evaluateInEngine
      : (input, translate) => {
          try {
            return plain(fastPath(input))
          } catch {
            // The fast path has no failures of its own: the engine decides whether this is one.
            return evaluateInEngine(input, translate)
          }
        }
  return found({ text, ...reads, evaluate })
}

function reopen(text: string, limits: ExpressionLimits, ambient: (() => Ambient) | undefined): Instance {
  const opened = openInstance(text, limits, ambient)
  if (!opened.ok) throw new TypeError(opened.message)
  return opened.value
}

function tooNested(tree: Node, maxDepth: number): string | undefined {
  let deepest = 0
  walk(tree, (_node, _inner, depth) => {
    deepest = Math.max(deepest, depth)
  })
  if (deepest <= maxDepth) return undefined
  return `The expression nests ${deepest} levels of parts, more than the ${maxDepth} that may run; split it into several.`
}

function copyValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyValue)
  if (!isObject(value)) return value
  const copy: Record<string, Json> = {}
  for (const [name, item] of Object.entries(value)) define(copy, name, copyValue(item))
  return copy
}

/** The message with copies of these roots; copies of all if `roots` is undefined. */
function copyRoots(message: JsonObject, roots: ReadonlySet<string> | undefined): JsonObject {
  const copy: Record<string, Json> = {}
  for (const [name, value] of Object.entries(message)) {
    define(copy, name, roots === undefined || roots.has(name) ? copyValue(value) : value)
  }
  return copy
}

/**
 * In: the value of an evaluation. Out: a copy as plain JSON; undefined for undefined.
 * Fails with ExpressionFault for functions, for numbers that JSON does not have, and for values that are too large or deep.
 */
const plain = (value: unknown): Json | undefined =>
  value === undefined ? undefined : plainPart(value, { left: SIZE_LIMIT }, 0)

function plainPart(value: unknown, budget: { left: number }, depth: number): Json {
  budget.left -= 16 + (typeof value === 'string' ? value.length : 0)
  if (budget.left < 0)
    throw new ExpressionFault(`The result is larger than ${SIZE_LIMIT.toLocaleString('en')} characters`)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new ExpressionFault(`The result holds ${value}, which is not a JSON number`)
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
