/**
 * JSONata expressions, compiled once and evaluated for each message. An expression comes from a document, so it must not
 * be able to stop the process, change the message, or put anything but JSON into it.
 */
import type { Awaitable, Json, JsonObject } from '../../core/json.ts'
import { fault, found, type Result } from '../../core/lint.ts'
import type { Ambient } from './expression-ambient.ts'
import { mayWrite, readsOf, unknownName, walk } from './expression-analysis.ts'
import { type ExpressionLimits, type Instance, openInstance, parseTree } from './expression-engine.ts'
import { asExpressionFault } from './expression-fault.ts'
import { BUILT_INS } from './expression-functions.ts'
import { copyRoots, plain } from './expression-result.ts'
import type { Node } from './expression-tree.ts'
import { compileFastPath } from './fast-path/fast-path.ts'

export type { Ambient } from './expression-ambient.ts'
export type { ExpressionLimits } from './expression-engine.ts'
export { ExpressionFault } from './expression-fault.ts'

export type Expression = Readonly<{
  text: string
  /**
   * In: the message. Out: plain JSON that shares nothing with the message, or undefined if the expression finds nothing.
   * The fast path returns the value itself, the engine a promise that rejects with ExpressionFault. Never throws. Safe to
   * call concurrently.
   */
  evaluate(input: JsonObject): Awaitable<Json | undefined>
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
  const wrong = unknownName(tree, BUILT_INS) ?? tooNested(tree, limits.maxDepth)
  if (wrong !== undefined) return fault(wrong)
  const reads = readsOf(tree)
  const writes = mayWrite(tree, BUILT_INS)
  const first = openInstance(text, limits, ambient)
  if (!first.ok) return fault(first.message)
  const idle: Instance[] = [first.value]
  const evaluateNow = async (input: JsonObject, timeoutMs: number): Promise<Json | undefined> => {
    const instance = idle.pop() ?? reopen(text, limits, ambient)
    try {
      const result = plain(await instance.run(writes ? copyRoots(input, reads.roots) : input, timeoutMs))
      if (idle.length < KEPT_INSTANCES) idle.push(instance)
      return result
    } catch (thrown) {
      instance.stop()
      throw asExpressionFault(thrown)
    }
  }
  const { takeTurn, timeoutMs } = limits
  const evaluateInEngine = (input: JsonObject) =>
    takeTurn === undefined ? evaluateNow(input, timeoutMs) : takeTurn((limitMs) => evaluateNow(input, limitMs))
  // Only the engine takes the time zone and the missing parts of a time from `ambient`.
  const readsTimes = ambient !== undefined && text.includes('toMillis')
  const fastPath = readsTimes ? undefined : compileFastPath(tree, limits)
  const evaluate: Expression['evaluate'] =
    fastPath === undefined
      ? evaluateInEngine
      : (input) => {
          try {
            return plain(fastPath(input))
          } catch {
            // The fast path has no failures of its own: the engine decides whether this is one.
            return evaluateInEngine(input)
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
