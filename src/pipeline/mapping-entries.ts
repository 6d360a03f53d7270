/** The mappings of a document, each compiled once: `inputMapping`, and those of the bodies of requests. */
import type { Awaitable, JsonObject } from '../core/json.ts'
import type { LintSink } from '../core/lint.ts'
import type { Run } from '../core/run.ts'
import { letOthersRun, SLICE_MS } from '../core/slice.ts'
import { checkPath, isOfRequest } from '../document/checks/path-roots.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import type { ReferenceStage } from '../document/schema/schema-fields.ts'
import { compileMapping } from '../language/mapping/mapping.ts'
import type { MappingEngine } from '../language/mapping/mapping-each.ts'
import type { MappingTrace } from '../language/mapping/mapping-trace.ts'
import type { PathSource } from '../language/paths/path.ts'
import type { CompileExpression } from './expressions.ts'

/**
 * In: the message, with `item` inside a forEach. A promise only where a condition or a long list takes time. Fails as the
 * mapping does, and as its conditions do.
 */
export type ApplyMapping = (scope: PathSource, run: Run) => Awaitable<JsonObject>

/** `stage`: which roots exist. Lints every entry that does not parse, and sources that do not exist. */
export function compileEntries(
  entries: JsonObject,
  stage: ReferenceStage,
  endpoint: Endpoint,
  lint: LintSink,
  compileExpression: CompileExpression,
  trace?: MappingTrace,
): ApplyMapping {
  const { sources, apply } = compileMapping(entries, lint, trace, createEngine(stage, compileExpression))
  for (const path of sources) checkPath(path, stage, endpoint, path.lint, path.depth)
  if (!isOfRequest(stage)) return (scope, run) => apply(scope, { run, sliceStart: 0 } satisfies Context)
  return (scope, run) => apply({ ...scope, payload: scope.requestBody }, { run, sliceStart: 0 } satisfies Context)
}

/** Of one message. `sliceStart`: when it last let others run, or mapped its first elements. */
type Context = { readonly run: Run; sliceStart: number }

const createEngine = (stage: ReferenceStage, compileExpression: CompileExpression): MappingEngine => ({
  tables: (context) => (context as Context).run,
  compileCondition: (text, depth, lint) => {
    const evaluate = compileExpression(text, stage, lint, depth)
    return (scope, context) => evaluate(scope, (context as Context).run)
  },
  pause: (context) => {
    const slice = context as Context
    const now = performance.now()
    if (slice.sliceStart === 0) slice.sliceStart = now
    if (now - slice.sliceStart <= SLICE_MS) return undefined
    return letOthersRun().then(() => {
      slice.sliceStart = performance.now()
    })
  },
})
