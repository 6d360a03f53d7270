/**
 * The stages of the pipeline, in the order in which they run. Metrics, records, traces and the report of a dry run follow
 * from this table; pipeline/compile.ts holds the stages themselves.
 */

export type StageKind = Readonly<{
  /** The property that the stage adds to the message and a dry run shows; none if the stage adds nothing of its own. */
  adds?: string
}>

export const STAGES = {
  recall: { adds: 'state' },
  parse: { adds: 'requestBody' },
  lookup: { adds: 'lookupRequests' },
  // Coerced values are shown as they are after this stage.
  validate: {},
  transform: { adds: 'transforms' },
  map: { adds: 'responseBody' },
  extract: {},
  serialise: { adds: 'output' },
  respond: {},
} as const satisfies Record<string, StageKind>

export type StageName = keyof typeof STAGES

export const STAGE_NAMES = Object.keys(STAGES) as StageName[]
