/** Recording the next messages of an endpoint with all bodies, whatever its policy keeps of the others. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Capture, startCapture, stopCapture } from '../../api/endpoint-calls.ts'
import { queries } from '../../api/queries.ts'
import { queryClient } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../controls/button.tsx'
import { Dialog, DialogButton } from '../controls/dialog.tsx'
import { TextField } from '../controls/fields.tsx'
import { StatusChip } from '../data/status-chip.tsx'
import { Time } from '../data/time.tsx'
import { FailureNotice } from '../states/failure-notice.tsx'
import { QueryView } from '../states/states.tsx'
import { VisibleText } from '../text/visible-text.tsx'

const EVERY_MS = 2_000
/** As the API allows. */
const MAX_MESSAGES = 1_000

/** `id`: of the endpoint. */
export const CaptureButton = ({ id }: Readonly<{ id: string }>) => (
  <DialogButton
    text="Record the next messages …"
    refused={useRefusal('operator')}
    dialog={(close) => <CaptureDialog id={id} onClose={close} />}
  />
)

function CaptureDialog({ id, onClose }: Readonly<{ id: string; onClose(): void }>) {
  const capture = queries.capture(id)
  const query = useQuery({
    ...capture,
    refetchInterval: ({ state }) => (state.data?.isActive === true ? EVERY_MS : false),
  })
  const [count, setCount] = useState('10')
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (act: () => Promise<Capture | null>) => act(),
    onSuccess: (after) => queryClient.setQueryData(capture.queryKey, after),
  })
  const messages = Number(count)
  const isFaulty = !Number.isInteger(messages) || messages < 1 || messages > MAX_MESSAGES
  const isActive = query.data?.isActive === true
  const actions = (
    <>
      <Button text="Close" onPress={onClose} />
      {isActive && (
        <Button text="Stop recording" busy={isPending} onPress={() => mutate(() => stopCapture(id).then(() => null))} />
      )}
      <Button
        tone="primary"
        busy={isPending}
        refused={isFaulty ? 'The number of messages cannot have this value.' : undefined}
        onPress={() => mutate(() => startCapture(id, messages))}
      >
        {isActive ? 'Start again' : 'Start recording'}
      </Button>
    </>
  )
  return (
    <Dialog title="Record the next messages" onClose={onClose} actions={actions} isDismissable={false}>
      <p>
        The next messages of this endpoint are recorded with all their bodies, so that they can be debugged, replayed
        and saved as tests. The recording stops after this number, and after an hour at the latest.
      </p>
      <TextField
        label="Messages"
        type="number"
        value={count}
        onChange={setCount}
        fault={isFaulty ? 'A whole number from 1 to 1,000.' : undefined}
      />
      <QueryView query={query}>{(capture) => capture && <CaptureState id={id} capture={capture} />}</QueryView>
      <FailureNotice failure={error} />
    </Dialog>
  )
}

function CaptureState({ id, capture }: Readonly<{ id: string; capture: Capture }>) {
  const { isActive, messages, remaining, until, startedAt, by } = capture
  return (
    <div className="breaks" role="status">
      <p>
        <StatusChip tone={isActive ? 'busy' : 'quiet'}>{isActive ? 'recording' : 'over'}</StatusChip>{' '}
        {(messages - remaining).toLocaleString('en')} of {messages.toLocaleString('en')} recorded
        {isActive && (
          <>
            , until <Time at={until} exact />
          </>
        )}
      </p>
      <p>
        <span className="quiet">
          Started <Time at={startedAt} exact /> by <VisibleText text={by} max={100} />.
        </span>{' '}
        <Link to="/messages" search={{ endpoint: [id], captured: 'true', from: startedAt }}>
          The recorded messages
        </Link>
      </p>
    </div>
  )
}
