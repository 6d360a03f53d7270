/** What can be done with a message. What is not possible stays visible, and says why. */

import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { SOURCE_WORDS } from '../../../../src/core/origin.ts'
import type { Schemas } from '../../api/client.ts'
import { listEndpoints } from '../../api/endpoint-calls.ts'
import { isRouted } from '../../api/endpoint-row.ts'
import { queries } from '../../api/queries.ts'
import { answerKey, keyed, queryParts, reload } from '../../api/query-keys.ts'
import { type ReplayLookups, readMessageBody, replayMessage } from '../../api/records/message-calls.ts'
import type { MessageRecord } from '../../api/records/record-types.ts'
import { useMe, useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/controls/dialog.tsx'
import { Checkbox, TextField } from '../../ui/controls/fields.tsx'
import { curlCommand, type RecordedRequest, toCurlRequest } from '../../ui/data/curl-command.ts'
import { OutcomeChip } from '../../ui/data/status-chip.tsx'
import { TextViewer } from '../../ui/data/text-viewer.tsx'
import { duration } from '../../ui/data/time.tsx'
import { CaptureButton } from '../../ui/endpoint/capture-button.tsx'
import { useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { Answer } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { decodeBodyText } from './body-text.ts'
import { useMessageBody } from './message-bodies.tsx'
import { withoutBody } from './messages-search.ts'
import { LookupsChoice, lacksAnswers, usualLookups } from './replay-lookups.tsx'

export function MessageActions({ message }: Readonly<{ message: MessageRecord }>) {
  const [open, setOpen] = useState<'replay' | 'curl'>()
  const navigate = useNavigate()
  const operator = useRefusal('operator')
  const author = useRefusal('author')
  const { id, endpointId, bodies, source, replayable, needs } = message
  const isRecorded = bodies.some(({ which }) => which === 'request')
  const missing = endpointId === undefined ? 'No endpoint took the message.' : isRecorded ? undefined : WHY_NOT_RECORDED
  const otherDoor =
    source === 'http' || source === 'replay' ? undefined : `It arrived ${SOURCE_WORDS[source].arrival}, not by HTTP.`
  const edit = (search: { message: string; save?: 'test' }) =>
    void (endpointId !== undefined && navigate({ to: '/endpoints/$id/edit', params: { id: endpointId }, search }))
  const debug = () => edit({ message: id })
  const canReplay = replayable.can || replayable.withBody === true || lacksAnswers(message)
  const cannotReplay = canReplay ? undefined : (replayable.why ?? 'It cannot be replayed.')
  useKey('d', 'Debug the message in the editor', (operator ?? missing) === undefined ? debug : undefined)
  useKey('r', 'Replay the message', (operator ?? cannotReplay) === undefined ? () => setOpen('replay') : undefined)
  const close = () => setOpen(undefined)
  return (
    <div className="row">
      {needs !== undefined && (
        <Button
          text="Create an endpoint here …"
          tone="primary"
          refused={author}
          onPress={() => void navigate({ to: '/endpoints', search: { dialog: 'new', ...needs } })}
        />
      )}
      <Button
        text="Debug in editor"
        tone={needs === undefined ? 'primary' : 'plain'}
        refused={operator ?? missing}
        keys="d"
        onPress={debug}
      />
      <Button text="Replay …" refused={operator ?? cannotReplay} keys="r" onPress={() => setOpen('replay')} />
      <Button text="Save as test …" refused={author ?? missing} onPress={() => edit({ message: id, save: 'test' })} />
      <Button text="Copy as curl …" refused={operator ?? missing ?? otherDoor} onPress={() => setOpen('curl')} />
      {endpointId !== undefined && !isRecorded && <CaptureButton id={endpointId} />}
      {open === 'replay' && <ReplayDialog message={message} onClose={close} />}
      {open === 'curl' && endpointId !== undefined && (
        <CurlDialog message={message} endpointId={endpointId} onClose={close} />
      )}
    </div>
  )
}

const WHY_NOT_RECORDED =
  'Its request was not recorded: MESSAGE_LOG, or messageLog of its endpoint, says of which messages it is. “Record the next messages” keeps those that come.'

/** Nothing larger is written into a command; nothing larger is parsed in the page. */
const MAX_BODY_BYTES = 1_048_576

type CurlDialogProps = Readonly<{ message: MessageRecord; endpointId: string; onClose(): void }>

function CurlDialog({ message, endpointId, onClose }: CurlDialogProps) {
  const origin = useMe()?.messageOrigin ?? ''
  return (
    <Dialog title="Copy as curl" size="large" onClose={onClose} actions={<Button text="Close" onPress={onClose} />}>
      <p>
        It sends the message to the route that its endpoint has now. Secret headers (authorization, cookies, keys) were
        never recorded: add those that the endpoint needs.
      </p>
      <Answer
        of={{
          ...keyed(answerKey<string>('message', 'curl', message.id, origin), ({ signal }) =>
            createCurlCommand(message, endpointId, origin, signal),
          ),
          gcTime: 0,
        }}
        what="Loading the message"
      >
        {(command) => <TextViewer text={command} label="Command" fileName={`${message.id}-curl.sh`} />}
      </Answer>
    </Dialog>
  )
}

async function createCurlCommand(
  { id, bodies }: MessageRecord,
  endpointId: string,
  origin: string,
  signal: AbortSignal,
): Promise<string> {
  const findSize = (which: string) => bodies.find((body) => body.which === which)?.size
  const size = findSize('incoming')
  if ((size ?? 0) > MAX_BODY_BYTES || (findSize('request') ?? 0) > MAX_BODY_BYTES) {
    throw new Error('The message is larger than 1 MiB: download its body, and send it with --data-binary @<file>.')
  }
  const [request, body, route] = await Promise.all([
    readMessageBody(id, 'request', signal),
    size === undefined ? undefined : readMessageBody(id, 'incoming', signal),
    readRoute(endpointId, origin, signal),
  ])
  const recorded = JSON.parse(new TextDecoder().decode(request)) as RecordedRequest
  return curlCommand(toCurlRequest(recorded, body && new Uint8Array(body), route))
}

async function readRoute(id: string, origin: string, signal: AbortSignal) {
  const [row] = (await listEndpoints({ q: id, limit: 1 }, signal)).endpoints
  if (row === undefined) throw new Error('Its endpoint was deleted, so there is nowhere to send the message to.')
  if (!isRouted(row)) throw new Error('Its endpoint has no route, so curl cannot send the message.')
  return { origin, method: row.method, pattern: row.pattern }
}

/** Larger ones are edited elsewhere. */
const MAX_EDITED_BYTES = 262_144
const MAX_PARSED_BYTES = 1_048_576

type ReplayDialogProps = Readonly<{ message: MessageRecord; onClose(): void }>

function ReplayDialog({ message, onClose }: ReplayDialogProps) {
  const { replayable } = message
  const [typed, setTyped] = useState<string>()
  const [edits, setEdits] = useState(!replayable.can && !lacksAnswers(message))
  const [chosen, setChosen] = useState<ReplayLookups>()
  const usual = usualLookups(message, edits)
  const lookups = usual && (chosen ?? usual)
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
        void reload(queryKey)
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
        <Checkbox text="With another body" checked={edits} onChange={setEdits} />
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
      {error === undefined ? null : <VisibleText as="p" className="failure-sentence" text={error} />}
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
