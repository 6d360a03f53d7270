/** What the document makes of a message, stage by stage, by a dry run: nothing is sent on. */

import type { RunReport } from '../../../api/run-calls.ts'
import { OutcomeChip } from '../../../ui/data/status-chip.tsx'
import { TextViewer } from '../../../ui/data/text-viewer.tsx'
import { duration } from '../../../ui/data/time.tsx'
import { FailureNotice } from '../../../ui/states/failure-notice.tsx'
import { Empty, Loading } from '../../../ui/states/states.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import type { Vocabulary } from '../assist/document-words.ts'
import type { Runs } from '../run/use-runs.ts'
import { CallList } from './call-list.tsx'
import { MessageForm } from './message-form.tsx'
import { RunBar } from './run-bar.tsx'
import { StageList } from './stage-list.tsx'
import { WholeValue } from './stage-values.tsx'

export type InspectorProps = Readonly<{
  id: string
  isStored: boolean
  runs: Runs
  hosts: readonly string[]
  vocabulary: Vocabulary | undefined
  /** The input format of the document. */
  format: string | undefined
  hasSchedule: boolean
  onOpenPath: (path: string) => void
  onSaveTest(): void
}>

export function Inspector(props: InspectorProps) {
  const { id, isStored, runs, hosts, vocabulary, format, hasSchedule, onOpenPath, onSaveTest } = props
  const { data, inputs, change, shown, compared } = runs
  const { report, request, failure } = shown
  const isRunning = shown.isRunning || shown.isOld
  return (
    <section className="inspector" aria-label="Dry run">
      <RunBar id={id} isStored={isStored} runs={runs} hosts={hosts} onSaveTest={onSaveTest} />
      {data.kind === 'typed' && (
        <MessageForm
          id={id}
          message={inputs.typed}
          vocabulary={vocabulary}
          format={format}
          hasSchedule={hasSchedule}
          onChange={(typed) => change({ typed })}
        />
      )}
      {failure === undefined ? null : (
        <FailureNotice failure={failure} onRetry={failure.isAway ? shown.run : undefined} />
      )}
      {report === undefined || request === undefined ? (
        failure === undefined &&
        (isRunning ? <Loading what="Running" /> : <NothingRan wantsMessage={runs.wantsMessage} />)
      ) : (
        <div className={shown.isStale ? 'run-result stale' : 'run-result'} aria-busy={isRunning}>
          {shown.isStale && <p className="hint">{runs.wantsMessage ? WANTS_MESSAGE : STALE}</p>}
          <ResultLine report={report} isRunning={isRunning} compared={compared} />
          {report.ran && (
            <>
              <StageList report={report} request={request} compared={compared} onOpenPath={onOpenPath} />
              <CallList
                report={report}
                request={request}
                answers={inputs.answers}
                onAnswers={(answers) => change({ answers })}
              />
              <MappingNotes report={report} onOpenPath={onOpenPath} />
              <AnswerView report={report} request={request} />
            </>
          )}
        </div>
      )}
    </section>
  )
}

const WANTS_MESSAGE = 'There is no message: enter a body, start from the message of a test, or load a recorded one.'
const STALE = 'This run is that of an earlier text: the draft or the message is not JSON now.'

const NothingRan = ({ wantsMessage }: Readonly<{ wantsMessage: boolean }>) => (
  <Empty title="Nothing has run yet">
    {wantsMessage ? WANTS_MESSAGE : 'The document runs as soon as it is JSON.'} Here is what each stage gets and gives.
    Nothing is sent on.
  </Empty>
)

type ResultLineProps = Readonly<{ report: RunReport; isRunning: boolean; compared: Runs['compared'] }>

function ResultLine({ report, isRunning, compared }: ResultLineProps) {
  const before = compared.report?.outcome
  return (
    <p className="result-line" role="status">
      {report.ran ? (
        <>
          <OutcomeChip outcome={report.outcome ?? ''} /> <code>{report.answer?.status}</code>{' '}
          <span className="quiet">{duration(report.ms ?? 0)}</span>{' '}
          {before !== undefined && before !== report.outcome && (
            <span>
              In {compared.name}: <OutcomeChip outcome={before} />
            </span>
          )}
        </>
      ) : (
        'The document has faults, so it does not run.'
      )}
      {isRunning && <span className="quiet"> Running …</span>}
    </p>
  )
}

const MAX_NOTES = 20

/** Entries that found nothing are often what is wrong. */
function MappingNotes({ report, onOpenPath }: Readonly<{ report: RunReport; onOpenPath: (path: string) => void }>) {
  const lost = (report.mapping?.entries ?? []).filter(({ found }) => !found)
  const unread = report.mapping?.unread ?? []
  if (lost.length === 0 && unread.length === 0) return null
  return (
    <details className="mapping-notes">
      <summary>
        Mapping: {lost.length} {lost.length === 1 ? 'entry' : 'entries'} found nothing, {unread.length}{' '}
        {unread.length === 1 ? 'path' : 'paths'} unread
      </summary>
      {lost.length > 0 && (
        <ul className="failure-details" aria-label="Entries that found nothing">
          {lost.slice(0, MAX_NOTES).map(({ path, source }) => (
            <li key={path}>
              <button type="button" className="link" onClick={() => onOpenPath(path)}>
                <VisibleText text={source} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {unread.length > 0 && (
        <p className="quiet">
          Unread:{' '}
          {unread.slice(0, MAX_NOTES).map(({ path }, index) => (
            <span key={path}>
              {index > 0 && ', '}
              <VisibleText code text={path} max={200} />
            </span>
          ))}
          {unread.length > MAX_NOTES && ' …'}
        </p>
      )}
    </details>
  )
}

function AnswerView({ report, request }: Readonly<{ report: RunReport; request: string }>) {
  const { answer } = report
  if (answer === undefined) return null
  return (
    <details className="run-answer">
      <summary>
        Answer to the sender: <code>{answer.status}</code>
        {answer.assumed && <span className="quiet"> assumed: the response request was not made</span>}
      </summary>
      <TextViewer text={answer.body ?? ''} label="Answer" fileName="answer.txt" />
      {answer.at === undefined ? null : (
        <WholeValue at={answer.at} label="Answer" fileName="answer.txt" request={request} />
      )}
    </details>
  )
}
