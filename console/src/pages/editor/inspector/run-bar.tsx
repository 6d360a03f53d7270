/** What runs on what: the message, the version that processed it, what could not be reproduced, and the document that runs. */

import { Link } from '@tanstack/react-router'
import type { RunReport } from '../../../api/run-calls.ts'
import { useRefusal } from '../../../api/session.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { Checkbox, SelectField } from '../../../ui/controls/fields.tsx'
import { TextLink } from '../../../ui/controls/text-link.tsx'
import { OutcomeChip } from '../../../ui/data/status-chip.tsx'
import { FaultDetails } from '../../../ui/states/failure-notice.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import type { RunData, RunOn } from '../run/run-request.ts'
import type { Runs } from '../run/use-runs.ts'

export type RunBarProps = Readonly<{
  id: string
  isStored: boolean
  runs: Runs
  /** Hosts that live lookups would call. */
  hosts: readonly string[]
  onSaveTest(): void
}>

export function RunBar({ id, isStored, runs, hosts, onSaveTest }: RunBarProps) {
  const { data, inputs, change, shown } = runs
  const mayAuthor = useRefusal('author')
  const version = shown.report?.recorded?.endpointVersion
  const choices: readonly Readonly<{ value: RunOn; label: string }>[] = [
    ...(mayAuthor === undefined ? [{ value: 'draft' as const, label: 'the draft' }] : []),
    ...(isStored ? [{ value: 'current' as const, label: 'the stored document' }] : []),
    ...(data.kind === 'recorded'
      ? [{ value: 'recorded' as const, label: `the version that ran${version === undefined ? '' : ` (${version})`}` }]
      : []),
  ]
  return (
    <div className="run-bar">
      <LoadedData id={id} data={data} report={shown.report} />
      <div className="run-controls">
        <SelectField label="Run on" value={inputs.runOn} choices={choices} onChange={(runOn) => change({ runOn })} />
        <Button
          text="Run"
          keys="Control+Enter"
          busy={shown.isRunning}
          refused={runs.request === undefined ? 'There is nothing that can run yet.' : undefined}
          onPress={shown.run}
        />
        <Button text="Save as test …" refused={mayAuthor ?? saveRefusal(runs, isStored)} onPress={onSaveTest} />
      </div>
      {hosts.length > 0 && inputs.runOn !== 'recorded' && (
        <Checkbox checked={inputs.live} onChange={(live) => change({ live })}>
          Make lookups without an answer for real, of{' '}
          {hosts.map((host, index) => (
            <span key={host}>
              {index > 0 && ', '}
              <VisibleText code text={host} max={100} />
            </span>
          ))}
        </Checkbox>
      )}
    </div>
  )
}

function saveRefusal({ shown, inputs }: Runs, isStored: boolean): string | undefined {
  if (!isStored) return 'Tests are stored with the endpoint: publish it first.'
  if (shown.report?.ran !== true) return 'A test is made from a run: nothing has run yet.'
  return inputs.runOn === 'recorded' ? 'A test expects what the draft does: run on the draft.' : undefined
}

function LoadedData({ id, data, report }: Readonly<{ id: string; data: RunData; report: RunReport | undefined }>) {
  if (data.kind === 'typed') {
    return (
      <p>
        A message of your own. <TextLink to="/messages" search={{ endpoint: [id] }} text="Load a recorded one" />
      </p>
    )
  }
  if (data.kind === 'test') {
    return (
      <p>
        The test “<VisibleText text={data.test.name} max={200} />
        ”. {Array.isArray(data.test.steps) && 'It has steps: the message of the first one runs. '}
        <WithoutData id={id} />
      </p>
    )
  }
  const { recorded, notReproduced = [] } = report ?? {}
  return (
    <>
      <p>
        Message{' '}
        <Link to="/messages/$id" params={{ id: data.messageId }}>
          <code>{data.messageId}</code>
        </Link>
        {recorded?.outcome === undefined ? null : (
          <>
            {' '}
            was <OutcomeChip outcome={recorded.outcome} />{' '}
            {recorded.code === undefined ? null : <code>{recorded.code}</code>}
          </>
        )}
        {recorded?.endpointVersion === undefined ? null : (
          <>
            {' '}
            in{' '}
            <Link to="/endpoints/$id/versions" params={{ id }} search={{ from: recorded.endpointVersion }}>
              version {recorded.endpointVersion}
            </Link>
          </>
        )}
        . <WithoutData id={id} />
        {recorded?.group === undefined ? null : (
          <>
            {' · '}
            <TextLink to="/groups/$key" params={{ key: recorded.group }} text="Failures that are alike" />
          </>
        )}
      </p>
      {notReproduced.length > 0 && (
        <details>
          <summary>
            {notReproduced.length === 1 ? 'One part is' : `${notReproduced.length} parts are`} not as the message had it
          </summary>
          <FaultDetails details={notReproduced.map(({ path, reason: message }) => ({ path, message }))} />
        </details>
      )}
    </>
  )
}

const WithoutData = ({ id }: Readonly<{ id: string }>) => (
  <TextLink to="/endpoints/$id/edit" params={{ id }} text="Type a message instead" />
)
