/** `inputTransforms` where they run outside of this process: all expressions of a message in one go. */
import { checkReference } from '../../config/checks/path-roots.ts'
import type { Endpoint } from '../../config/schema/schema.ts'
import { Failure } from '../../domain/failure.ts'
import type { JsonObject } from '../../domain/json.ts'
import { documentPath, type LintSink } from '../../domain/lint.ts'
import type { Enriched, Transformed } from '../../domain/message.ts'
import type { Step } from '../chain.ts'
import { failed, outOfTime } from '../expression-failures.ts'
import type { SandboxedProgram } from '../sandbox.ts'

/** As compileTransform, with the same lints and failures. */
export function compileSandboxed(
  endpoint: Endpoint,
  sandboxed: SandboxedProgram,
  lint: LintSink,
): Step<Enriched, Transformed> {
  /** What any of the expressions reads; undefined where one reads the message as a whole. */
  let roots: Set<string> | undefined = new Set()
  for (const [name, result] of sandboxed.expressions) {
    const sink = lint.at('inputTransforms', name)
    if (!result.ok) {
      sink.error(result.message)
      continue
    }
    for (const reference of result.value.references) checkReference(reference, 'transform', endpoint, sink, name)
    if (result.value.roots === undefined) roots = undefined
    else for (const root of result.value.roots) roots?.add(root)
  }
  if (sandboxed.expressions.size === 0) return { adds: { transforms: {} } }

  return async (message, run) => {
    const outcome = await sandboxed.transform(rootsOf(message, roots), run.deadlineAt)
    if (outcome.ok) return { ...message, transforms: outcome.transforms }
    const path = outcome.name === undefined ? 'inputTransforms' : documentPath('inputTransforms', outcome.name)
    if (outcome.why === 'late') throw outOfTime(path)
    if (outcome.why === 'failed') throw failed(path, outcome)
    if (outcome.name !== undefined) throw failed(path, { message: outcome.message, unquoted: outcome.message })
    throw new Failure('TRANSFORM_FAILED', `One of the expressions of "inputTransforms" failed: ${outcome.message}`, {
      path,
    })
  }
}

function rootsOf(message: Enriched, roots: ReadonlySet<string> | undefined): JsonObject {
  if (roots === undefined) return message
  return Object.fromEntries(Object.entries(message).filter(([name]) => roots.has(name)))
}
