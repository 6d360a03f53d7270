/**
 * The stages of the pipeline, in the order in which they run. Path roots, metrics, records, traces and the report of a dry
 * run follow from this table; pipeline/compile.ts holds the stages themselves.
 */

export type StageKind = Readonly<{
  /** The property that the stage adds to the message and a dry run shows; none if the stage adds nothing of its own. */
  adds?: string
  /** Paths of later stages may start at that property. */
  isRoot?: true
}>

export const STAGES = {
  recall: { adds: 'state', isRoot: true },
  parse: { adds: 'requestBody', isRoot: true },
  lookup: { adds: 'lookupRequests', isRoot: true },
  // Coerced values are shown as they are after this stage.
  validate: {},
  transform: { adds: 'transforms', isRoot: true },
  map: { adds: 'responseBody', isRoot: true },
  extract: {},
  serialise: { adds: 'output' },
  // Only for a document that answers by itself.
  respond: { adds: 'responses', isRoot: true },
  answer: {},
} as const satisfies Record<string, StageKind>

export type StageName = keyof typeof STAGES

export const STAGE_NAMES = Object.keys(STAGES) as StageName[]
