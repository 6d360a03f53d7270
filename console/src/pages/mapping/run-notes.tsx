/** What ran, and what could not: the picture never says more than the runs did. */
import { VisibleText } from '../../ui/text/visible-text.tsx'
import type { MappingRuns, MessageData } from './use-mapping-runs.ts'

export type RunNotesProps = Readonly<{ runs: MappingRuns; data: MessageData | undefined; refused: string | undefined }>

export function RunNotes({ runs, data, refused }: RunNotesProps) {
  const { report, coverage, isRunning } = runs
  if (data === undefined) {
    return (
      <p className="small-text quiet">
        No message is loaded: sources are those of the entries. Load one to see its fields and what each entry writes.
      </p>
    )
  }
  if (refused !== undefined) return <p className="small-text quiet">Nothing runs. {refused}</p>
  return (
    <div className="small-text" role="status">
      <p>
        {isRunning ? 'Running' : 'The draft ran'} dry on {data.name}.
        {data.given.length > 1 && ` ${coverage.mapped} of ${data.given.length} reached the mapping.`}
      </p>
      {report === undefined ? null : <Faults report={report} />}
      {coverage.isCut && <p>The message has more fields than are listed.</p>}
    </div>
  )
}

function Faults({ report }: Readonly<{ report: NonNullable<MappingRuns['report']> }>) {
  const { ran, lint, failure, notReproduced = [] } = report
  const [fault] = lint.errors
  if (!ran && fault !== undefined) {
    return (
      <p className="bad-text">
        The draft cannot run: <code>{fault.path}</code> <VisibleText text={fault.message} />
      </p>
    )
  }
  return (
    <>
      {failure === undefined ? null : (
        <p className="bad-text">
          The message failed in {failure.stage ?? 'the draft'}: <VisibleText text={failure.error ?? ''} />
        </p>
      )}
      {notReproduced.length > 0 && (
        <p className="quiet">
          Not as it was then:{' '}
          {notReproduced
            .map(({ path, reason }) => `${path} (${reason})`)
            .join(', ')
            .slice(0, 500)}
        </p>
      )}
    </>
  )
}
