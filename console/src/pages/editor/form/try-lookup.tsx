/** "Try it": one lookup of the draft, made for real with the loaded message, with the lookups that it reads. */
import { useState } from 'react'
import { Button } from '../../../ui/controls/button.tsx'
import { Checkbox } from '../../../ui/controls/fields.tsx'
import { FailureNotice, FaultDetails } from '../../../ui/states/failure-notice.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { CallList } from '../inspector/call-list.tsx'
import { lookupHosts } from '../run/canned-answers.ts'
import { NO_EDITED_ANSWERS, runRequest } from '../run/run-request.ts'
import { useDryRun } from '../run/use-dry-run.ts'
import type { Runs } from '../run/use-runs.ts'
import { aloneWith } from './lookup-alone.ts'

type TryLookupProps = Readonly<{
  id: string | undefined
  text: string
  lookup: string
  runs: Runs
  refused: string | undefined
}>

export function TryLookup({ id, text, lookup, runs, refused }: TryLookupProps) {
  const [isAllowed, setAllowed] = useState(false)
  const [asked, setAsked] = useState<string>()
  const state = useDryRun(asked, 0, asked ?? '')
  const alone = aloneWith(text, lookup)
  const { data, inputs, change } = runs
  const plan = { endpointId: id, runOn: 'draft', current: '', data, answers: NO_EDITED_ANSWERS, live: true } as const
  const request = alone && runRequest({ ...plan, draft: alone })
  const why = runs.wantsMessage
    ? 'There is no message: enter one beside the form, or load a recorded one.'
    : request === undefined
      ? 'The draft or the message is not JSON now.'
      : isAllowed
        ? undefined
        : 'Tick the box first: this calls another system.'
  const { report, failure } = state
  const faults = report?.ran === false ? [...report.lint.errors, ...report.lint.clashes] : []
  return (
    <div className="flow">
      <Checkbox checked={isAllowed} onChange={setAllowed}>
        Call{' '}
        {lookupHosts(alone ?? '{}').map((host) => (
          <code key={host}>
            <VisibleText text={host} max={100} />{' '}
          </code>
        ))}
        for real
      </Checkbox>{' '}
      <Button
        text="Try it"
        refused={refused ?? why}
        busy={state.isRunning}
        onPress={() => (asked === request ? state.run() : setAsked(request))}
      />
      {failure === undefined ? null : <FailureNotice failure={failure} />}
      {faults.length > 0 && <FaultDetails details={faults} />}
      {report?.ran && asked !== undefined && (
        <CallList
          title={`Calls of ${lookup}`}
          report={report}
          request={asked}
          answers={inputs.answers}
          onAnswers={(answers) => change({ answers })}
        />
      )}
    </div>
  )
}
