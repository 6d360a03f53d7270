import { Failure } from '../../core/failure.ts'
import { type Awaitable, type Json, type JsonObject, jsonLength } from '../../core/json.ts'
import { documentPath, type LintSink } from '../../core/lint.ts'
import type { Enriched, Transformed } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import { letOthersRun, SLICE_MS } from '../../core/slice.ts'
import { checkReference } from '../../document/checks/path-roots.ts'
import { mayReadTables } from '../../document/reads/table-uses.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { type Expression, ExpressionFault, parseExpression } from '../../language/jsonata/expression.ts'
import { isTimeout } from '../../language/jsonata/expression-limits.ts'
import type { Step } from '../chain.ts'
import { expressionFailed, expressionLimits, outOfTime, pickRoots, translatorOf } from '../expressions.ts'
import type { SandboxedProgram, Transformation } from '../sandbox.ts'
import type { PipelineSettings, Services } from '../services.ts'
import { observeExpression, type StageObserver } from '../stage-observer.ts'

type Entry = Readonly<{ name: string; path: string; expression: Expression; asksTables: boolean }>

/**
 * Runs `inputTransforms` in the order written; each may read the ones before it.
 *
 * In: `requestBody`, `lookupRequests`, … Out: adds `transforms`, one key for each expression that gave a value.
 * Lints: each expression that does not parse, with its position, and constants that are not defined.
 * Fails: TRANSFORM_FAILED at the expression that failed, DEADLINE_EXCEEDED at the one that did not start in time,
 * MESSAGE_TOO_COSTLY at the one whose value was too large.
 */
export function compileTransform(
  endpoint: Endpoint,
  settings: PipelineSettings,
  lint: LintSink,
  { ambient, sandboxed, observer }: Pick<Services, 'ambient' | 'sandboxed' | 'observer'> = {},
): Step<Enriched, Transformed> {
  const local = sandboxed?.local
  if (sandboxed !== undefined && local === undefined) return compileSandboxed(endpoint, sandboxed, lint, observer)
  const limits = expressionLimits(settings, { sandboxed })
  const entries = Object.entries(endpoint.inputTransforms ?? {}).flatMap(([name, text]): Entry[] => {
    const parsed = parseExpression(text, limits, ambient)
    const sink = lint.at('inputTransforms', name)
    if (!parsed.ok) {
      sink.error(parsed.message)
      return []
    }
    for (const reference of parsed.value.references)
      checkReference(reference, 'transform', endpoint, sink, name, 0, text)
    const expression = observer === undefined ? parsed.value : observeExpression(name, parsed.value, observer)
    return [{ name, path: documentPath('inputTransforms', name), expression, asksTables: mayReadTables(text) }]
  })
  if (entries.length === 0) return { adds: { transforms: {} } }
  const inSandbox =
    sandboxed &&
    callSandbox(
      sandboxed,
      entries.map(({ name, expression }) => [name, expression.roots]),
      observer,
    )

  /** Runs the expressions from `first` on. Returns a promise only if one of them does, or after SLICE_MS. */
  const runFrom = (first: number, { message, run, transforms, sliceStart }: Progress): Awaitable<Transformed> => {
    let values = transforms
    for (let at = first; at < entries.length; at += 1) {
      const { path, expression, name, asksTables } = entries[at] as Entry
      const now = run.clock()
      if (now >= run.deadlineAt) throw outOfTime(path)
      if (now - sliceStart > SLICE_MS) {
        const progress = { message, run, transforms: values }
        return letOthersRun().then(() => runFrom(at, { ...progress, sliceStart: run.clock() }))
      }
      const translate = asksTables ? translatorOf(run)(path) : undefined
      const value = expression.evaluate({ ...message, transforms: values }, translate)
      if (value instanceof Promise) {
        const progress = { message, run, sliceStart }
        const before = values
        return value.then(
          (later) => {
            if (mayCost(later, now, run)) payFor(later, run, path)
            return runFrom(at + 1, { ...progress, transforms: withValue(before, name, later) })
          },
          (thrown) => {
            if (inSandbox === undefined || !isTimeout(thrown)) throw toTransformFailure(thrown, path)
            return inSandbox(message, run, at)
          },
        )
      }
      if (mayCost(value, now, run)) payFor(value, run, path)
      values = withValue(values, name, value)
    }
    return { ...message, transforms: values }
  }
  return (message, run) => {
    if (inSandbox !== undefined && local?.isQuick() === false) return inSandbox(message, run)
    return runFrom(0, { message, run, transforms: {}, sliceStart: run.clock() })
  }
}

/** A value that took less than a millisecond is not worth the time of measuring it, unless it is one text. */
const mayCost = (value: Json | undefined, startedAt: number, { clock }: Run): boolean =>
  typeof value === 'string' || clock() > startedAt

function payFor(value: Json | undefined, { budget }: Run, path: string): void {
  if (value !== undefined) budget.spend(jsonLength(value, budget.leftBytes), path)
}

type Progress = Readonly<{ message: Enriched; run: Run; transforms: JsonObject; sliceStart: number }>

/** A new object each time: an expression may return `transforms` itself, which must not contain itself. */
const withValue = (transforms: JsonObject, name: string, value: Json | undefined): JsonObject =>
  value === undefined ? transforms : { ...transforms, [name]: value }

/** In: what an expression threw. */
const toTransformFailure = (thrown: unknown, path: string): unknown =>
  thrown instanceof ExpressionFault ? expressionFailed(path, thrown.report(), thrown) : thrown

/** As compileTransform, but the sandbox runs all expressions of a message in one call. */
function compileSandboxed(
  endpoint: Endpoint,
  sandboxed: SandboxedProgram,
  lint: LintSink,
  observer: StageObserver | undefined,
): Step<Enriched, Transformed> {
  const reads: ExpressionReads[] = []
  for (const [name, result] of sandboxed.expressions) {
    const sink = lint.at('inputTransforms', name)
    if (!result.ok) {
      sink.error(result.message)
      continue
    }
    const text = endpoint.inputTransforms?.[name]
    for (const reference of result.value.references)
      checkReference(reference, 'transform', endpoint, sink, name, 0, text)
    reads.push([name, result.value.roots])
  }
  if (sandboxed.expressions.size === 0) return { adds: { transforms: {} } }
  const inSandbox = callSandbox(sandboxed, reads, observer)
  return (message, run) => inSandbox(message, run)
}

/** The name of an expression, and the roots that it reads; undefined if it reads the whole message. */
type ExpressionReads = readonly [name: string, roots: Iterable<string> | undefined]

/** `reported`: the number of expressions that the observer knows already. */
type InSandbox = (message: Enriched, run: Run, reported?: number) => Promise<Transformed>

/** Runs the expressions of a message in the sandbox, which gets what they read. Fails as compileTransform. */
function callSandbox(
  sandboxed: SandboxedProgram,
  reads: readonly ExpressionReads[],
  observer: StageObserver | undefined,
): InSandbox {
  const names = reads.map(([name]) => name)
  const readsAll = reads.some(([, roots]) => roots === undefined)
  const roots = readsAll ? undefined : new Set(reads.flatMap(([, some = []]) => [...some]))
  return async (message, run, reported = 0) => {
    const outcome = await sandboxed.transform(pickRoots(message, roots), run.deadlineAt, {
      partial: observer !== undefined,
      translate: (name) => translatorOf(run)(documentPath('inputTransforms', name)),
    })
    if (observer !== undefined) reportAll(outcome, names, observer, reported)
    if (outcome.ok) {
      payFor(outcome.transforms, run, 'inputTransforms')
      return { ...message, transforms: outcome.transforms }
    }
    const path = outcome.name === undefined ? 'inputTransforms' : documentPath('inputTransforms', outcome.name)
    if (outcome.why === 'late') throw outOfTime(path)
    if (outcome.why === 'failed') throw expressionFailed(path, outcome)
    if (outcome.name !== undefined)
      throw expressionFailed(path, { message: outcome.message, unquoted: outcome.message })
    throw new Failure('TRANSFORM_FAILED', `One of the expressions of "inputTransforms" failed: ${outcome.message}`, {
      path,
    })
  }
}

/** Reports the expressions that ran before the one that failed, if any did. */
function reportAll(outcome: Transformation, names: readonly string[], observer: StageObserver, reported: number): void {
  const { transforms = {} } = outcome
  const ran = names.slice(reported, outcome.ok ? names.length : Math.max(0, names.indexOf(outcome.name ?? '')))
  for (const name of ran) observer.transformed(name, Object.hasOwn(transforms, name) ? transforms[name] : undefined)
}
