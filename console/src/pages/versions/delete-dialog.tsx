/** Deleting an endpoint: its name is typed first. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteEndpoint } from '../../api/changes/version-calls.ts'
import { queryParts } from '../../api/query-keys.ts'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

export function DeleteDialog({ id, name, onClose }: Readonly<{ id: string; name: string; onClose(): void }>) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const remove = async () => {
    await deleteEndpoint(id)
    await client.invalidateQueries({ queryKey: queryParts.endpoints })
    notify('The endpoint is deleted.')
    void navigate({ to: '/endpoints' })
  }
  return (
    <ConfirmDialog
      title="Delete this endpoint"
      confirm="Delete endpoint"
      tone="danger"
      refused={typed.trim() === name.trim() ? undefined : 'Type the name of the endpoint first.'}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        Messages to{' '}
        <strong>
          <VisibleText text={name} max={200} />
        </strong>{' '}
        are answered with 404 from then on. Its state and its tests are deleted. Its versions stay: at this address one
        of them can be restored.
      </p>
      <TextField label="Name of the endpoint" value={typed} onChange={setTyped} />
    </ConfirmDialog>
  )
}
