/** Deleting an endpoint: its name is typed first. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type ApiFailure, asFailure } from '../../api/api-failure.ts'
import { deleteEndpoint } from '../../api/changes/version-calls.ts'
import { queryParts } from '../../api/query-keys.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

export function DeleteDialog({ id, name, onClose }: Readonly<{ id: string; name: string; onClose(): void }>) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiFailure>()
  const remove = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await deleteEndpoint(id)
      await client.invalidateQueries({ queryKey: queryParts.endpoints })
      notify('The endpoint is deleted.')
      onClose()
      void navigate({ to: '/endpoints' })
    } catch (thrown) {
      setFailure(asFailure(thrown))
      setBusy(false)
    }
  }
  const refused = typed.trim() === name.trim() ? undefined : 'Type the name of the endpoint first.'
  return (
    <Dialog
      title="Delete this endpoint"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button tone="danger" refused={refused} busy={busy} onPress={() => void remove()}>
            Delete endpoint
          </Button>
        </>
      }
    >
      <p className="breaks">
        Messages to{' '}
        <strong>
          <VisibleText text={name} max={200} />
        </strong>{' '}
        are answered with 404 from then on. Its state and its tests are deleted. Its versions stay: at this address one
        of them can be restored.
      </p>
      <TextField label="Name of the endpoint" value={typed} onChange={setTyped} />
      {failure === undefined ? null : <FailureNotice failure={failure} />}
    </Dialog>
  )
}
