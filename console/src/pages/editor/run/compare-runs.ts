/** What a run did otherwise than an earlier one, by stages. */
import type { RunReport, RunStage } from '../../../api/run-calls.ts'

export type StageMark = 'same' | 'changed' | 'new'

/** Why the message failed, or why the target did not take it. */
export const findRunFailure = (report: RunReport | undefined) => report?.failure ?? report?.refusal

/** What a stage gave, or why it failed, as text on lines: two of them can be compared. */
export function stageResult(report: RunReport | undefined, stage: RunStage | undefined): string {
  if (stage === undefined) return ''
  const { error, code, details } = findRunFailure(report) ?? {}
  const failed = stage.failed === true ? { failure: { error, code, details } } : {}
  return JSON.stringify({ ...stage.output, ...failed }, null, 2)
}

export const stageNamed = (report: RunReport | undefined, name: string): RunStage | undefined =>
  report?.stages?.find(({ stage }) => stage === name)

/** In: the run that is shown and the one that it is compared with. Out: undefined if there is nothing to compare with. */
export function stageMark(stage: RunStage, now: RunReport, before: RunReport | undefined): StageMark | undefined {
  if (before?.stages === undefined) return undefined
  const other = stageNamed(before, stage.stage)
  if (other === undefined) return 'new'
  return stageResult(now, stage) === stageResult(before, other) ? 'same' : 'changed'
}

/** Stages of the earlier run that this one does not have. */
export function stagesGone(now: RunReport, before: RunReport | undefined): readonly string[] {
  return (before?.stages ?? []).map(({ stage }) => stage).filter((stage) => stageNamed(now, stage) === undefined)
}

/** The stage that is shown first: the one that failed, else the last that changed the message. */
export function firstShown(report: RunReport): string | undefined {
  const stages = report.stages ?? []
  const failed = stages.find((stage) => stage.failed === true)
  return (failed ?? stages.find(({ stage }) => stage === 'map') ?? stages.at(-1))?.stage
}
