/** What can be done with a message. What is not possible stays visible, and says why. */

import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { SOURCE_WORDS } from '../../../../src/core/origin.ts'
import type { MessageRecord } from '../../api/records/record-types.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { CaptureButton } from '../../ui/endpoint/capture-button.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { CurlDialog } from './curl-dialog.tsx'
import { ReplayDialog } from './replay-dialog.tsx'
import { lacksAnswers } from './replay-lookups.tsx'

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
