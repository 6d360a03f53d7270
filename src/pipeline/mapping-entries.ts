/** The mappings of a document, each compiled once: `inputMapping`, and those of the bodies of requests. */
import type { Awaitable, JsonObject } from '../core/json.ts'
import type { LintSink } from '../core/lint.ts'
import type { Run } from '../core/run.ts'
import { letOthersRun, SLICE_MS } from '../core/slice.ts'
import { UnmappedOfMapping } from '../core/tables/table-reads.ts'
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
  const applyWhole: ApplyMapping = (scope, run) => {
    const context: Context = { run, sliceStart: 0, unmapped: undefined }
    try {
      const output = apply(scope, context)
      if (!(output instanceof Promise)) return demandCodes(output, context)
      return output.then((late) => demandCodes(late, context)).catch((thrown) => failWhole(thrown, context))
    } catch (thrown) {
      return failWhole(thrown, context)
    }
  }
  if (!isOfRequest(stage)) return applyWhole
  return (scope, run) => applyWhole({ ...scope, payload: scope.requestBody }, run)
}

/** Of one message. `sliceStart`: when it last let others run, or mapped its first elements. */
type Context = { readonly run: Run; sliceStart: number; unmapped: UnmappedOfMapping | undefined }

/** What fails behind a missed code may follow from it. */
function failWhole(thrown: unknown, { unmapped }: Context): never {
  throw unmapped?.failure ?? thrown
}

function demandCodes(output: JsonObject, { unmapped }: Context): JsonObject {
  if (unmapped !== undefined) throw unmapped.failure
  return output
}

const createEngine = (stage: ReferenceStage, compileExpression: CompileExpression): MappingEngine => ({
  tables: {
    reader: (context) => (context as Context).run,
    miss: (context, use, code) => {
      const mapping = context as Context
      mapping.unmapped ??= new UnmappedOfMapping()
      mapping.unmapped.add(mapping.run.tables, use, code)
    },
  },
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
