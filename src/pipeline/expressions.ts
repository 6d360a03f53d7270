/**
 * The expressions of a document beside `inputTransforms`: values of requests, conditions and the like. Compiled once, each
 * with the limits and the sandbox of the document.
 */
import { Failure } from '../core/failure.ts'
import type { Awaitable, Json, JsonObject } from '../core/json.ts'
import type { LintSink } from '../core/lint.ts'
import type { Run } from '../core/run.ts'
import { type TranslateNow, translate } from '../core/tables/table-reads.ts'
import { checkReference, isOfRequest } from '../document/checks/path-roots.ts'
import { mayReadTables } from '../document/reads/table-uses.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import type { ReferenceStage } from '../document/schema/schema-fields.ts'
import { ExpressionFault, parseExpression } from '../language/jsonata/expression.ts'
import { type FaultReport, isTimeout } from '../language/jsonata/expression-limits.ts'
import { issuesOf } from './requests/upstream-answer.ts'
import type { PipelineSettings, Services } from './services.ts'

/**
 * In: the message, with `item` inside a forEach. Out: undefined if the expression finds nothing.
 * Fails: TRANSFORM_FAILED and DEADLINE_EXCEEDED at the expression, MESSAGE_TOO_COSTLY.
 */
export type Evaluate = (scope: JsonObject, run: Run) => Awaitable<Json | undefined>

/** `stage`: which roots exist; `depth`: how many `each` of a mapping are around. Lints, at `lint`, an expression that does not parse or reads what cannot be there. */
export type CompileExpression = (text: string, stage: ReferenceStage, lint: LintSink, depth?: number) => Evaluate

/** Limits of `parseExpression` by the settings; `runExclusive` of the sandbox. */
export const expressionLimits = (
  { expressionTimeoutMs, expressionMaxDepth, expressionMaxSequence }: PipelineSettings,
  { sandboxed }: Pick<Services, 'sandboxed'>,
) => ({
  timeoutMs: expressionTimeoutMs,
  maxDepth: expressionMaxDepth,
  maxSequence: expressionMaxSequence,
  runExclusive: sandboxed?.local?.runExclusive,
})

/** `path`: of the expression in the document. */
export type TranslatorAt = (path: string) => TranslateNow

export const translatorOf =
  (run: Run): TranslatorAt =>
  (path) =>
  (table, column, code, mustFind) =>
    translate(run, { table, column, path }, code, mustFind)

export function createExpressionCompiler(
  endpoint: Endpoint,
  settings: PipelineSettings,
  services: Pick<Services, 'ambient' | 'sandboxed'>,
): CompileExpression {
  const { sandboxed, ambient } = services
  const local = sandboxed?.local
  const limits = expressionLimits(settings, services)

  return (text, stage, lint, depth = 0) => {
    const parsed =
      sandboxed !== undefined && local === undefined
        ? sandboxed.values.get(text)
        : parseExpression(text, limits, ambient)
    if (parsed === undefined) throw new TypeError('The sandbox does not have the expression.')
    if (!parsed.ok) {
      lint.error(parsed.message)
      return () => undefined
    }
    for (const reference of parsed.value.references) {
      checkReference(reference, stage, endpoint, lint, undefined, depth, text)
    }
    const roots = parsed.value.roots && new Set(parsed.value.roots)
    const inSandbox = sandboxed && callSandbox(text, roots, sandboxed.evaluate, lint.path)
    const evaluateHere = 'evaluate' in parsed.value ? parsed.value.evaluate : undefined
    const asksTables = mayReadTables(text)
    const readsPayload = isOfRequest(stage) && roots?.has('payload') !== false
    return (message, run) => {
      if (run.clock() >= run.deadlineAt) throw outOfTime(lint.path)
      const scope = readsPayload ? { ...message, payload: message.requestBody ?? null } : message
      if (evaluateHere === undefined || local?.isQuick() === false) return inSandbox?.(scope, run)
      const value = evaluateHere(scope, asksTables ? translatorOf(run)(lint.path) : undefined)
      if (!(value instanceof Promise)) return value
      return value.catch((thrown: unknown) => {
        if (inSandbox !== undefined && isTimeout(thrown)) return inSandbox(scope, run)
        throw thrown instanceof ExpressionFault ? expressionFailed(lint.path, thrown.report(), thrown) : thrown
      })
    }
  }
}

function callSandbox(
  text: string,
  roots: ReadonlySet<string> | undefined,
  evaluate: NonNullable<Services['sandboxed']>['evaluate'],
  path: string,
): (scope: JsonObject, run: Run) => Promise<Json | undefined> {
  return async (scope, run) => {
    const translate = translatorOf(run)(path)
    const outcome = await evaluate(text, pickRoots(scope, roots), run.deadlineAt, { translate })
    if (outcome.ok) return outcome.value
    throw outcome.why === 'late' ? outOfTime(path) : expressionFailed(path, outcome)
  }
}

/** What an expression in the sandbox gets of the message; all of it if `roots` is undefined. */
export function pickRoots(message: JsonObject, roots: ReadonlySet<string> | undefined): JsonObject {
  if (roots === undefined) return message
  return Object.fromEntries(Object.entries(message).filter(([name]) => roots.has(name)))
}

/** `path`: of the expression in the document. */
export function expressionFailed(
  path: string,
  { message, unquoted, isOwnText, rejection, code }: FaultReport,
  cause?: unknown,
): Failure {
  if (code !== undefined) return new Failure(code, message, { path, cause, unquoted })
  if (rejection !== undefined) {
    const { status, details: ownDetails } = rejection
    const sentence = `The expression "${path}" ended the message with ${status}.`
    return new Failure('REJECTED', message, {
      path,
      cause,
      status,
      ownDetails,
      issues: issuesOf(ownDetails),
      unquoted: sentence,
    })
  }
  const sentence = (text: string) => `The expression "${path}" failed: ${text}`
  const own = () =>
    message.replace(
      /(?:(, near character \d+ of) the expression)?\.$/,
      (_, near) => `${near ?? ', in'} the expression "${path}".`,
    )
  return new Failure('TRANSFORM_FAILED', isOwnText ? own() : sentence(message), {
    path,
    cause,
    unquoted: sentence(unquoted),
  })
}

export const outOfTime = (path: string): Failure =>
  new Failure('DEADLINE_EXCEEDED', `The message ran out of time before the expression "${path}".`, { path })
