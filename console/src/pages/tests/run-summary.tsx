/** What the last run found, in one line, and the faults of a document with which no test runs. */

import { StatusChip } from '../../ui/data/status-chip.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { FaultDetails } from '../../ui/states/fault-details.tsx'
import type { TestRuns } from './test-runs.ts'

export type RunSummaryProps = Readonly<{
  runs: TestRuns
  total: number
  /** Why the user may not run tests. */
  refused: string | undefined
}>

export function RunSummary({ runs, total, refused }: RunSummaryProps) {
  useKey('Control+Enter', 'Run all tests', refused === undefined ? () => runs.runAll() : undefined)
  const count = (verdict: string) => runs.all.filter(({ result }) => result.verdict === verdict).length
  const isOld = runs.all.some(({ version }) => version !== undefined && version !== runs.current)
  return (
    <div className="row" role="status">
      {runs.isRunning ? (
        <StatusChip tone="busy">Running</StatusChip>
      ) : runs.all.length === 0 ? (
        <span className="quiet">
          {total === 1 ? '1 test.' : `${total} tests.`}{' '}
          {refused ?? 'They have not run on this page yet; they run by themselves at each change of the endpoint.'}
        </span>
      ) : (
        <>
          <StatusChip tone={count('failed') > 0 ? 'bad' : 'good'}>
            {count('passed')} passed, {count('failed')} failed
            {count('skipped') > 0 ? `, ${count('skipped')} skipped` : ''}
          </StatusChip>
          {isOld && <span>The endpoint has changed since: run them again.</span>}
        </>
      )}
      <FaultDetails details={runs.faults} />
    </div>
  )
}
