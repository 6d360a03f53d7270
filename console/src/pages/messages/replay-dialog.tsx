/** Replays one message: what will happen first, then the button, then what became of it. */

import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { queryParts } from '../../api/query-keys.ts'
import { type ReplayLookups, replayMessage } from '../../api/records/message-calls.ts'
import type { MessageRecord } from '../../api/records/record-types.ts'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { Checkbox, TextField } from '../../ui/controls/fields.tsx'
import { OutcomeChip } from '../../ui/data/status-chip.tsx'
import { TextViewer } from '../../ui/data/text-viewer.tsx'
import { duration } from '../../ui/data/time.tsx'
import { useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { decodeBodyText } from './body-text.ts'
import { useMessageBody } from './message-bodies.tsx'
import { withoutBody } from './messages-search.ts'
import { LookupsChoice, lacksAnswers, usualLookups } from './replay-lookups.tsx'

/** Larger ones are edited elsewhere. */
const MAX_EDITED_BYTES = 262_144
const MAX_PARSED_BYTES = 1_048_576

export type ReplayDialogProps = Readonly<{ message: MessageRecord; onClose(): void }>

export function ReplayDialog({ message, onClose }: ReplayDialogProps) {
  const { replayable } = message
  const [typed, setTyped] = useState<string>()
  const [edits, setEdits] = useState(!replayable.can && !lacksAnswers(message))
  const [chosen, setChosen] = useState<ReplayLookups>()
  const usual = usualLookups(message, edits)
  const lookups = usual && (chosen ?? usual)
  const client = useQueryClient()
  const recorded = useRecordedText(message, edits)
  const contentType = message.bodies.find(({ which }) => which === 'incoming')?.contentType ?? ''
  const text = typed ?? recorded ?? ''
  const [report, setReport] = useState<string>()
  const run = async () => {
    const body = edits ? { text, contentType: contentType || 'application/json' } : undefined
    try {
      setReport(await replayMessage(message.id, { body, lookups }))
    } finally {
      for (const queryKey of [queryParts.messages, queries.message(message.id).queryKey, queryParts.groups]) {
        void client.invalidateQueries({ queryKey })
      }
    }
    return false
  }
  return (
    <ConfirmDialog
      title="Replay the message"
      size={edits || report !== undefined ? 'large' : 'small'}
      confirm="Replay now"
      refused={edits && text === '' ? 'Enter the body to replay it with.' : undefined}
      isDismissable={!edits}
      result={report && <Report report={report} onFollow={onClose} />}
      onConfirm={run}
      onClose={onClose}
    >
      <Consequences message={message} />
      {lookups && <LookupsChoice message={message} value={lookups} onChange={setChosen} />}
      {(replayable.can || lacksAnswers(message)) && message.source !== 'schedule' && (
        <Checkbox checked={edits} onChange={setEdits}>
          With another body
        </Checkbox>
      )}
      {edits && <TextField label="Body" value={text} onChange={setTyped} rows={12} hint={contentType} />}
    </ConfirmDialog>
  )
}

/** What the replay will do, before anything is done. */
function Consequences({ message }: Readonly<{ message: MessageRecord }>) {
  const { endpointId = '', endpoint, outcome, endpointVersion, replayable } = message
  const { data: row } = useEndpointRow(endpointId)
  const version = row?.version
  const isChanged = version !== undefined && version !== endpointVersion
  return (
    <ul className="bullets">
      <li>
        One message runs through <VisibleText text={endpoint ?? endpointId} max={200} /> as it is now
        {version === undefined
          ? ''
          : ` (version ${version}${isChanged ? `; version ${endpointVersion} ran then` : ''})`}
        . Its requests are sent.
      </li>
      {replayable.alreadyDoneBy !== undefined && (
        <li>
          <strong>A replay of it has succeeded already</strong>: its requests are sent once more.
        </li>
      )}
      {outcome === 'done' && (
        <li>
          <strong>It ended done</strong>: its requests are sent once more.
        </li>
      )}
      {outcome === 'partial' && (
        <li>
          <strong>It ended partial</strong>: what was delivered then is not sent again, unless the endpoint has changed
          or the message is another one now.
        </li>
      )}
      {replayable.can || replayable.why === undefined || lacksAnswers(message) ? null : (
        <li>
          <VisibleText text={replayable.why} /> It runs with the body that you give here.
        </li>
      )}
      {message.source !== 'schedule' && (
        <li>Secret headers, such as authorization and cookies, were not recorded: it runs without them.</li>
      )}
    </ul>
  )
}

/** The incoming body, to be edited; undefined while it is not there, or where it isn't text of a size to edit. */
function useRecordedText({ id, bodies }: MessageRecord, isWanted: boolean): string | undefined {
  const body = bodies.find(({ which }) => which === 'incoming')
  const isFit = body !== undefined && body.size <= MAX_EDITED_BYTES && body.cut !== true
  const { data } = useMessageBody(id, 'incoming', isWanted && isFit)
  return data === undefined ? undefined : decodeBodyText(data, body?.contentType ?? '')
}

function Report({ report, onFollow }: Readonly<{ report: string; onFollow(): void }>) {
  const replayed = report.length > MAX_PARSED_BYTES ? undefined : (JSON.parse(report) as Schemas['Replayed'])
  const { id, outcome, status, code, ms, error, withoutHeadersAndQuery, lookups } = replayed ?? {}
  return (
    <div className="stack" role="status">
      {outcome !== undefined && (
        <p>
          <OutcomeChip outcome={outcome} /> {status} {code === undefined ? null : <code>{code}</code>}{' '}
          {ms === undefined ? '' : `in ${duration(ms)}`}
        </p>
      )}
      {error === undefined ? null : (
        <p className="failure-sentence">
          <VisibleText text={error} />
        </p>
      )}
      {lookups === 'recorded' && <p>Its lookups used the answers that were recorded.</p>}
      {withoutHeadersAndQuery && <p>It ran without headers and query: they were not recorded.</p>}
      {id !== undefined && (
        <p>
          <Link from="/messages" to="/messages/$id" params={{ id }} search={withoutBody} onClick={onFollow}>
            Open the replay
          </Link>
        </p>
      )}
      <TextViewer text={report} label="Report of the replay" fileName={`${id ?? 'replay'}-report.json`} />
    </div>
  )
}
