import { setImmediate } from 'node:timers/promises'
import { checkReference } from '../../config/roots.ts'
import type { Endpoint } from '../../config/schema.ts'
import type { JsonObject } from '../../domain/json.ts'
import { type LintSink, place } from '../../domain/lint.ts'
import type { Enriched, Transformed } from '../../domain/message.ts'
import { type Expression, ExpressionFault, parseExpression } from '../../language/expression.ts'
import type { Step } from '../chain.ts'
import { failed, outOfTime } from '../expression-failures.ts'
import type { SandboxedProgram } from '../sandbox.ts'
import type { PipelineSettings } from '../services.ts'
import { compileSandboxed } from './transform-sandboxed.ts'

/** How long expressions run one after the other before others get their turn: they hold the event loop, even while they wait. */
const SLICE_MS = 10

type Entry = Readonly<{ name: string; path: string; expression: Expression }>

/**
 * Runs `inputTransforms` in the order written; each may read the ones before it.
 *
 * In: `requestBody`, `lookupRequests`, … Out: adds `transforms`, one key for each expression that found something.
 * Lints: each expression that does not parse, with its position, and constants that are not defined.
 * Fails: TRANSFORM_FAILED at the expression to blame, DEADLINE_EXCEEDED at the one that there is no time left for.
 */
export function compileTransform(
  endpoint: Endpoint,
  settings: PipelineSettings,
  lint: LintSink,
  sandboxed?: SandboxedProgram,
): Step<Enriched, Transformed> {
  if (sandboxed !== undefined) return compileSandboxed(endpoint, sandboxed, lint)
  const entries = Object.entries(endpoint.inputTransforms ?? {}).flatMap(([name, text]): Entry[] => {
    const parsed = parseExpression(text, {
      timeoutMs: settings.expressionTimeoutMs,
      maxDepth: settings.expressionMaxDepth,
      maxSequence: settings.expressionMaxSequence,
    })
    const sink = lint.at('inputTransforms', name)
    if (!parsed.ok) {
      sink.error(parsed.message)
      return []
    }
    for (const reference of parsed.value.references) checkReference(reference, 'transform', endpoint, sink, name)
    return [{ name, path: place('inputTransforms', name), expression: parsed.value }]
  })
  if (entries.length === 0) return { adds: { transforms: {} } }

  return async (message, run) => {
    let transforms: JsonObject = {}
    let turnedAt = run.clock()
    for (const { name, path, expression } of entries) {
      const now = run.clock()
      if (now >= run.deadlineAt) throw outOfTime(path)
      if (now - turnedAt > SLICE_MS) {
        await setImmediate()
        turnedAt = run.clock()
      }
      const value = await evaluate(expression, { ...message, transforms }, path)
      // A new object each time: an expression may have returned `transforms` itself, which must not come to contain itself.
      if (value !== undefined) transforms = { ...transforms, [name]: value }
    }
    return { ...message, transforms }
  }
}

async function evaluate(expression: Expression, input: JsonObject, path: string) {
  try {
    return await expression.evaluate(input)
  } catch (thrown) {
    if (!(thrown instanceof ExpressionFault)) throw thrown
    throw failed(path, thrown, thrown)
  }
}
