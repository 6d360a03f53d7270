/** Why a message failed, with the way to the line of the document. */
import type { RunReport } from '../../../api/run-calls.ts'
import { FaultDetails } from '../../../ui/states/fault-details.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'

export type RunFailureProps = Readonly<{
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

export function RunFailure({
  failure: { error = '', code, stage = '', path, details = [] },
  onOpenPath,
}: RunFailureProps) {
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
