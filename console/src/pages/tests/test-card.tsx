/** One stored test: its last result, each place that differs, and what can be done with it. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type ApiFailure, asFailure } from '../../api/api-failure.ts'
import type { StoredTest } from '../../api/run-calls.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmButton, ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { Fact, Facts } from '../../ui/data/facts.tsx'
import { StatusChip, type Tone } from '../../ui/data/status-chip.tsx'
import { duration } from '../../ui/data/time.tsx'
import { shortJson } from '../../ui/endpoint/change-list.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import type { TestResult, TestRunResult } from './test-runs.ts'

const TONES: Readonly<Record<TestResult['verdict'], Tone>> = { passed: 'good', failed: 'bad', skipped: 'quiet' }

type TestCardProps = Readonly<{
  id: string
  test: StoredTest
  run: TestRunResult | undefined
  /** Why the user may neither run nor change tests. */
  refused: string | undefined
  isRunning: boolean
  onRun(): void
  onEdit(): void
  /** `reason`: undefined runs the test again. */
  onSkip(reason: string | undefined): Promise<void>
  onDelete(): Promise<void>
}>

export function TestCard({ id, test, run, refused, isRunning, onRun, onEdit, onSkip, onDelete }: TestCardProps) {
  const [isSkipping, setSkipping] = useState(false)
  const [failure, setFailure] = useState<ApiFailure>()
  const skip = typeof test.skip === 'string' ? test.skip : undefined
  const includeAgain = () => onSkip(undefined).catch((thrown: unknown) => setFailure(asFailure(thrown)))
  return (
    <li className="panel">
      <div className="between">
        <h2>
          <VisibleText text={test.name} max={200} />
        </h2>
        <Verdict run={run} skip={skip} />
      </div>
      {skip !== undefined && (
        <p className="quiet">
          Skipped: <VisibleText text={skip} />
        </p>
      )}
      {run !== undefined && run.result.mismatches.length > 0 && <Mismatches mismatches={run.result.mismatches} />}
      <div className="row">
        <Button text="Run" refused={refused} busy={isRunning} onPress={onRun} label={`Run ${test.name}`} />
        <Link
          className="button"
          to="/endpoints/$id/edit"
          params={{ id }}
          search={{ test: test.name }}
          aria-label={`Open in editor: ${test.name}`}
        >
          Open in editor
        </Link>
        <Button text="Edit JSON …" refused={refused} onPress={onEdit} label={`Edit JSON: ${test.name}`} />
        {skip === undefined ? (
          <Button text="Skip …" refused={refused} onPress={() => setSkipping(true)} label={`Skip ${test.name}`} />
        ) : (
          <Button
            text="Do not skip"
            refused={refused}
            onPress={() => void includeAgain()}
            label={`Do not skip ${test.name}`}
          />
        )}
        <ConfirmButton
          text="Delete …"
          title="Delete this test"
          confirm="Delete test"
          tone="quiet"
          refused={refused}
          label={`Delete ${test.name}`}
          onConfirm={onDelete}
        >
          <p>
            The test “<VisibleText text={test.name} />” is deleted for everybody. It cannot be undone.
          </p>
        </ConfirmButton>
      </div>
      <FailureNotice failure={failure} />
      {isSkipping && <SkipDialog name={test.name} onSkip={onSkip} onClose={() => setSkipping(false)} />}
    </li>
  )
}

function Verdict({ run, skip }: Readonly<{ run: TestRunResult | undefined; skip: string | undefined }>) {
  if (run === undefined) return <StatusChip tone="quiet">{skip === undefined ? 'Not run' : 'skipped'}</StatusChip>
  const { result, version } = run
  return (
    <span className="row">
      <StatusChip tone={TONES[result.verdict]}>{result.verdict}</StatusChip>
      <span className="quiet">
        {result.verdict === 'skipped' ? '' : duration(result.ms)}
        {version === undefined || result.verdict === 'skipped' ? '' : `, version ${version}`}
      </span>
    </span>
  )
}

function Mismatches({ mismatches }: Pick<TestResult, 'mismatches'>) {
  return (
    <ul className="stack callout bad" aria-label="What differs">
      {mismatches.map(({ path, message, expected, actual }) => (
        <li key={`${path} ${message}`}>
          <p>
            <VisibleText code text={path} /> <VisibleText text={message} />
          </p>
          <Facts>
            <Fact name="expected">
              <VisibleText code text={shortJson(expected)} />
            </Fact>
            <Fact name="actual">
              <VisibleText code text={shortJson(actual)} />
            </Fact>
          </Facts>
        </li>
      ))}
    </ul>
  )
}

type SkipDialogProps = Readonly<{ name: string; onSkip(reason: string): Promise<void>; onClose(): void }>

function SkipDialog({ name, onSkip, onClose }: SkipDialogProps) {
  const [reason, setReason] = useState('')
  return (
    <ConfirmDialog
      title={`Skip the test “${name}”`}
      confirm="Skip"
      refused={reason.trim() === '' ? 'Give a reason first.' : undefined}
      onConfirm={() => onSkip(reason.trim())}
      onClose={onClose}
    >
      <TextField label="Reason" value={reason} onChange={setReason} hint="Reports show it to everyone" />
    </ConfirmDialog>
  )
}
