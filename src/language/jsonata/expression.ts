/**
 * JSONata expressions, compiled once and evaluated for each message. Documents bring them, so one must not be able to
 * stop the process, to change the message, or to put anything but JSON into it.
 */
import type { Awaitable, Json, JsonObject } from '../../domain/json.ts'
import { fault, found, type Result } from '../../domain/result.ts'
import { mayWrite, readsOf, unknownName, walk } from './expression-analysis.ts'
import { type ExpressionLimits, type Instance, openInstance, parseTree } from './expression-engine.ts'
import { asExpressionFault } from './expression-fault.ts'
import { BUILT_INS } from './expression-functions.ts'
import { readPaths } from './expression-paths.ts'
import { copyRoots, plain } from './expression-result.ts'
import type { Node } from './expression-tree.ts'
import { compileFastPath } from './fast-path/fast-path.ts'

export type { ExpressionLimits } from './expression-engine.ts'
export { ExpressionFault } from './expression-fault.ts'

export type Expression = Readonly<{
  text: string
  /**
   * Gives plain JSON, or undefined where the expression finds nothing: at once, or as a promise, which rejects with
   * ExpressionFault. Never throws. Safe to call concurrently. The input is not changed, and the result shares nothing
   * with it.
   */
  evaluate(input: JsonObject): Awaitable<Json | undefined>
  /** Names at the head of its paths; undefined where that cannot be known (`$$` alone, `$eval`, `%`, `*` at the head). */
  roots: ReadonlySet<string> | undefined
  /** Head paths as far as they are static, for example `['constants', 'x']`. */
  references: readonly (readonly string[])[]
}>

/** Instances kept for the next messages, some 50 KB each; more are opened while more messages are evaluated at once. */
const KEPT_INSTANCES = 64

/**
 * Compiles a JSONata 2 expression.
 *
 * Fails with one sentence, with the position, for what does not parse, for functions and variables that do not exist,
 * and for what cannot run in bounded time (regular expressions beyond RE2). Limits hold for one evaluation; apart from
 * them, no value that an expression builds may have more than 16 Mi characters or 256 levels.
 * Source: https://docs.jsonata.org, version 2.2.
 */
export function parseExpression(text: string, limits: ExpressionLimits): Result<Expression> {
  let tree: Node
  try {
    tree = parseTree(text)
  } catch (thrown) {
    return fault(asExpressionFault(thrown).message)
  }
  const wrong = unknownName(tree, BUILT_INS) ?? tooNested(tree, limits.maxDepth)
  if (wrong !== undefined) return fault(wrong)
  const reads = readsOf(tree)
  const writes = mayWrite(tree, BUILT_INS)
  const first = openInstance(text, limits, !writes)
  if (!first.ok) return fault(first.message)
  const { paths } = first.value
  const free: Instance[] = [first.value]
  /** For messages whose paths cannot be read beforehand. */
  const freeWhole: Instance[] = paths.length === 0 ? free : []
  const evaluateInEngine = async (input: JsonObject): Promise<Json | undefined> => {
    const values = readPaths(paths, input)
    const pool = values === undefined ? freeWhole : free
    const instance = pool.pop() ?? reopen(text, limits, !writes && values !== undefined)
    try {
      const result = plain(await instance.run(writes ? copyRoots(input, reads.roots) : input, values ?? []))
      instance.rest()
      if (pool.length < KEPT_INSTANCES) pool.push(instance)
      return result
    } catch (thrown) {
      instance.stop()
      throw asExpressionFault(thrown)
    }
  }
  const fastPath = compileFastPath(tree, limits)
  const evaluate: Expression['evaluate'] =
    fastPath === undefined
      ? evaluateInEngine
      : (input) => {
          try {
            return plain(fastPath(input))
          } catch {
            // Whatever it was, the engine says it.
            return evaluateInEngine(input)
          }
        }
  return found({ text, ...reads, evaluate })
}

function reopen(text: string, limits: ExpressionLimits, hoists: boolean): Instance {
  const opened = openInstance(text, limits, hoists)
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
