/** The stages of a run in their order: how long each took, what it got and gave, and what is other than before. */
import { useState } from 'react'
import type { RunReport, RunStage } from '../../../api/run-calls.ts'
import { LazyTextDifference } from '../../../ui/code/lazy-views.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { StatusChip } from '../../../ui/data/status-chip.tsx'
import { duration } from '../../../ui/data/time.tsx'
import { FaultDetails } from '../../../ui/states/failure-notice.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { findRunFailure, firstShown, stageMark, stageNamed, stageResult, stagesGone } from '../run/compare-runs.ts'
import { StageValues } from './stage-values.tsx'

/** A run to compare with, and what it is called. */
type ComparedRun = Readonly<{ report: RunReport | undefined; name: string }>

type StageListProps = Readonly<{
  report: RunReport
  request: string
  compared: ComparedRun
  onOpenPath: (path: string) => void
}>

export function StageList({ report, request, compared, onOpenPath }: StageListProps) {
  const [chosen, setChosen] = useState<Readonly<{ stage: string | undefined; failedAt: string | undefined }>>()
  const failedAt = report.stages?.find(({ failed }) => failed === true)?.stage
  // A stage that the reader opened stays open until another stage fails.
  const open = chosen !== undefined && chosen.failedAt === failedAt ? chosen.stage : firstShown(report)
  const gone = stagesGone(report, compared.report)
  return (
    <>
      <ol className="stages" aria-label="Stages">
        {(report.stages ?? []).map((stage) => (
          <li key={stage.stage} className={stage.failed ? 'stage failed' : 'stage'} data-stage={stage.stage}>
            <StageHead
              stage={stage}
              mark={stageMark(stage, report, compared.report)}
              isOpen={open === stage.stage}
              onToggle={() => setChosen({ stage: open === stage.stage ? undefined : stage.stage, failedAt })}
            />
            {open === stage.stage && (
              <StageDetail
                stage={stage}
                report={report}
                request={request}
                compared={compared}
                onOpenPath={onOpenPath}
              />
            )}
          </li>
        ))}
      </ol>
      {gone.length > 0 && (
        <p className="quiet">
          Not reached, other than in {compared.name}: {gone.join(', ')}
        </p>
      )}
    </>
  )
}

type StageHeadProps = Readonly<{
  stage: RunStage
  mark: ReturnType<typeof stageMark>
  isOpen: boolean
  onToggle(): void
}>

function StageHead({ stage: { stage, ms, failed, coerced }, mark, isOpen, onToggle }: StageHeadProps) {
  return (
    <h2 className="stage-head">
      <button type="button" aria-expanded={isOpen} onClick={onToggle}>
        <StatusChip tone={failed ? 'bad' : 'good'}>{stage}</StatusChip>
        <span className="visually-hidden">{failed ? 'failed' : 'passed'}</span>
        {mark === 'changed' && <span className="stage-mark">changed</span>}
        {mark === 'new' && <span className="stage-mark">new</span>}
        {coerced !== undefined && <span className="quiet">{coerced.length} coerced</span>}
        <span className="stage-ms">{duration(ms)}</span>
      </button>
    </h2>
  )
}

const VIEWS = ['Input', 'Output', 'Changed'] as const
type View = (typeof VIEWS)[number]

type StageDetailProps = StageListProps & Readonly<{ stage: RunStage }>

function StageDetail({ stage, report, request, compared, onOpenPath }: StageDetailProps) {
  const failure = findRunFailure(report)
  const [view, setView] = useState<View>(stage.failed ? 'Input' : 'Output')
  return (
    <div className="stage-detail">
      {stage.failed && failure !== undefined && <RunFailure failure={failure} onOpenPath={onOpenPath} />}
      <div className="view-choice" role="group" aria-label={`Show of ${stage.stage}`}>
        {VIEWS.map((one) => (
          <Button key={one} tone="quiet" pressed={view === one} onPress={() => setView(one)}>
            {one}
          </Button>
        ))}
      </div>
      {view === 'Input' && <StageValues values={stage.input} what={`${stage.stage} input`} request={request} />}
      {view === 'Output' && <StageValues values={stage.output} what={`${stage.stage} output`} request={request} />}
      {view === 'Changed' && <StageDifference stage={stage} report={report} compared={compared} />}
      {view === 'Output' && stage.coerced !== undefined && <Coercions coerced={stage.coerced} />}
    </div>
  )
}

const MAX_COMPARED_CHARACTERS = 400_000

function StageDifference({ stage, report, compared }: Pick<StageDetailProps, 'stage' | 'report' | 'compared'>) {
  if (compared.report === undefined) return <p className="quiet">There is no run to compare with.</p>
  const before = stageResult(compared.report, stageNamed(compared.report, stage.stage))
  const after = stageResult(report, stage)
  if (before === after) return <p className="quiet">The same as in {compared.name}.</p>
  if (before.length + after.length > MAX_COMPARED_CHARACTERS)
    return <p>Other than in {compared.name}; too long to compare.</p>
  return (
    <>
      <p className="quiet">Compared with {compared.name}:</p>
      <LazyTextDifference before={before} after={after} label={`What changed in ${stage.stage}`} />
    </>
  )
}

function Coercions({ coerced }: Readonly<{ coerced: NonNullable<RunStage['coerced']> }>) {
  return (
    <ul className="coercions" aria-label="Coerced values">
      {coerced.map(({ path, before, after }) => (
        <li key={path}>
          <code>{path}</code>: <code>{JSON.stringify(before)}</code> became <code>{JSON.stringify(after)}</code>
        </li>
      ))}
    </ul>
  )
}

type RunFailureProps = Readonly<{
  failure: NonNullable<RunReport['failure']>
  onOpenPath: (path: string) => void
}>

const MAX_DETAILS = 50

/** The field that a stage runs, where the failure names none. */
const FIELD_OF_STAGE: Readonly<Record<string, string>> = {
  parse: 'transformation.input',
  lookup: 'requests.lookup',
  validate: 'inputValidation',
  transform: 'inputTransforms',
  map: 'inputMapping',
  extract: 'state.extract',
  serialise: 'transformation.output',
  respond: 'requests.response',
  answer: 'answer',
}

function RunFailure({ failure: { error = '', code, stage = '', path, details = [] }, onOpenPath }: RunFailureProps) {
  const faultPath = path ?? FIELD_OF_STAGE[stage]
  return (
    <div className="failure" role="status">
      <p className="failure-sentence">
        {faultPath === undefined ? (
          <VisibleText text={error} />
        ) : (
          <button type="button" className="link" onClick={() => onOpenPath(faultPath)}>
            <VisibleText text={error} />
          </button>
        )}
        {code === undefined ? null : <code className="failure-code">{code}</code>}
      </p>
      <FaultDetails details={details} max={MAX_DETAILS} />
    </div>
  )
}
