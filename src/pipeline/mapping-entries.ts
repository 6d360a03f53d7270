/** The mappings of a document, each compiled once: `inputMapping`, and those of the bodies of requests. */
import type { JsonObject } from '../core/json.ts'
import type { LintSink } from '../core/lint.ts'
import { checkPath, isOfRequest } from '../document/checks/path-roots.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import type { ReferenceStage } from '../document/schema/schema-fields.ts'
import { compileMapping } from '../language/mapping/mapping.ts'
import type { MappingTrace } from '../language/mapping/mapping-trace.ts'
import type { PathSource } from '../language/paths/path.ts'

/** In: the message, with `item` inside a forEach. Fails as the mapping does. */
export type ApplyMapping = (scope: PathSource) => JsonObject

/** `stage`: which roots exist. Lints every entry that does not parse, and sources that do not exist. */
export function compileEntries(
  entries: JsonObject,
  stage: ReferenceStage,
  endpoint: Endpoint,
  lint: LintSink,
  trace?: MappingTrace,
): ApplyMapping {
  const { sources, apply } = compileMapping(entries, lint, trace)
  for (const path of sources) checkPath(path, stage, endpoint, lint.at(path.text))
  if (!isOfRequest(stage)) return apply
  return (scope) => apply({ ...scope, payload: scope.requestBody })
}
