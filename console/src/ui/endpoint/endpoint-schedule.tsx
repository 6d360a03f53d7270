/** The schedule of an endpoint on its pages, and a run on request with its result. */

import { useState } from 'react'
import { type RunOfSchedule, runSchedule, type Schedule } from '../../api/endpoint-calls.ts'
import type { EndpointRow } from '../../api/endpoint-row.ts'
import { queryParts, reload } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { ConfirmDialog, DialogButton } from '../controls/dialog.tsx'
import { TextLink } from '../controls/text-link.tsx'
import { OutcomeChip } from '../data/status-chip.tsx'
import { duration } from '../data/time.tsx'
import { VisibleText } from '../text/visible-text.tsx'
import { ScheduleFacts } from './schedule-facts.tsx'

type EndpointScheduleProps = Readonly<{ row: EndpointRow; schedule: Schedule }>

export function EndpointSchedule({ row, schedule }: EndpointScheduleProps) {
  return (
    <div className="endpoint-schedule row">
      <ScheduleFacts schedule={schedule} />
      <TextLink to="/messages" search={{ endpoint: [row.id], source: ['schedule'] }} text="All runs" />
      <DialogButton
        text="Run now …"
        tone="quiet"
        refused={useRefusal('operator')}
        dialog={(close) => <RunDialog row={row} onClose={close} />}
      />
    </div>
  )
}

function RunDialog({ row: { id, name, version }, onClose }: Readonly<{ row: EndpointRow; onClose(): void }>) {
  const [run, setRun] = useState<RunOfSchedule>()
  const start = async () => {
    try {
      setRun(await runSchedule(id))
    } finally {
      void reload(queryParts.endpointLists)
      void reload(queryParts.messages)
    }
    return false
  }
  return (
    <ConfirmDialog
      title="Run the schedule now"
      confirm="Run now"
      result={run && <Result run={run} onFollow={onClose} />}
      onConfirm={start}
      onClose={onClose}
    >
      Version {version} of <VisibleText text={name} max={200} /> runs once, without changes that are not published. Its
      lookups are asked and its requests are sent. Its times stay as they are.
    </ConfirmDialog>
  )
}

function Result({ run, onFollow }: Readonly<{ run: RunOfSchedule; onFollow(): void }>) {
  const { messageId, outcome, ms, code, error } = run
  return (
    <div className="breaks" role="status">
      <p>
        <OutcomeChip outcome={outcome} /> in {duration(ms)} {code === undefined ? null : <code>{code}</code>}
      </p>
      {error === undefined ? null : <VisibleText as="p" className="failure-sentence" text={error} />}
      <p>
        <TextLink to="/messages/$id" params={{ id: messageId }} onClick={onFollow} text="Open the message" />
      </p>
    </div>
  )
}
