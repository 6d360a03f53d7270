import { setImmediate } from 'node:timers/promises'
import { checkReference } from '../../config/checks/path-roots.ts'
import type { Endpoint } from '../../config/schema/schema.ts'
import type { Awaitable, Json, JsonObject } from '../../domain/json.ts'
import { documentPath, type LintSink } from '../../domain/lint.ts'
import type { Enriched, Transformed } from '../../domain/message.ts'
import type { Run } from '../../domain/run.ts'
import { type Expression, ExpressionFault, parseExpression } from '../../language/jsonata/expression.ts'
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
    return [{ name, path: documentPath('inputTransforms', name), expression: parsed.value }]
  })
  if (entries.length === 0) return { adds: { transforms: {} } }

  /** The expressions from `first` on, after `transforms`. Waits only for those that wait themselves. */
  const runFrom = (first: number, { message, run, transforms, turnedAt }: Progress): Awaitable<Transformed> => {
    let found = transforms
    for (let at = first; at < entries.length; at += 1) {
      const { path, expression, name } = entries[at] as Entry
      const now = run.clock()
      if (now >= run.deadlineAt) throw outOfTime(path)
      if (now - turnedAt > SLICE_MS) {
        const progress = { message, run, transforms: found }
        return setImmediate().then(() => runFrom(at, { ...progress, turnedAt: run.clock() }))
      }
      const value = expression.evaluate({ ...message, transforms: found })
      if (value instanceof Promise) {
        const progress = { message, run, turnedAt }
        const before = found
        return value.then(
          (later) => runFrom(at + 1, { ...progress, transforms: withFound(before, name, later) }),
          (thrown) => fail(thrown, path),
        )
      }
      found = withFound(found, name, value)
    }
    return { ...message, transforms: found }
  }
  return (message, run) => runFrom(0, { message, run, transforms: {}, turnedAt: run.clock() })
}

type Progress = Readonly<{ message: Enriched; run: Run; transforms: JsonObject; turnedAt: number }>

/** A new object each time: an expression may have returned `transforms` itself, which must not come to contain itself. */
const withFound = (transforms: JsonObject, name: string, value: Json | undefined): JsonObject =>
  value === undefined ? transforms : { ...transforms, [name]: value }

function fail(thrown: unknown, path: string): never {
  if (!(thrown instanceof ExpressionFault)) throw thrown
  throw failed(path, thrown, thrown)
}
