/** Deletes an endpoint once its name is typed. */
import { useNavigate } from '@tanstack/react-router'
import { deleteEndpoint } from '../../api/document-calls.ts'
import type { EndpointRow } from '../../api/endpoint-row.ts'
import { queryParts, reload } from '../../api/query-keys.ts'
import { ConfirmDialog } from '../controls/dialog.tsx'
import { notify } from '../states/notices.tsx'
import { VisibleText } from '../text/visible-text.tsx'

export function DeleteDialog({ row: { id, name }, onClose }: Readonly<{ row: EndpointRow; onClose(): void }>) {
  const navigate = useNavigate()
  const remove = async () => {
    await deleteEndpoint(id)
    await reload(queryParts.endpoints)
    notify('The endpoint is deleted.')
    void navigate({ to: '/endpoints' })
  }
  return (
    <ConfirmDialog
      title="Delete this endpoint"
      confirm="Delete endpoint"
      tone="danger"
      field={{
        label: 'Name of the endpoint',
        explainRefusal: (text) => (text.trim() === name.trim() ? undefined : 'Type the name of the endpoint first.'),
      }}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        Messages to <VisibleText as="strong" text={name} max={200} /> are answered with 404 from then on. Its state and
        its tests are deleted. Its versions stay: at this address one of them can be restored.
      </p>
    </ConfirmDialog>
  )
}
