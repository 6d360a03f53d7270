/** Revoking a key: calls with it are refused from then on. */

import { useQueryClient } from '@tanstack/react-query'
import { api, readData } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

export type RevokeDialogProps = Readonly<{
  apiKey: Readonly<{ id: string; name: string }>
  /** It is the key that this page uses. */
  isOwn: boolean
  onClose(): void
}>

export function RevokeDialog({ apiKey: { id, name }, isOwn, onClose }: RevokeDialogProps) {
  const client = useQueryClient()
  const revoke = async () => {
    await readData(api.DELETE('/keys/{id}', { params: { path: { id } } }))
    notify('The key is revoked.')
    await client.invalidateQueries({ queryKey: queries.keys.queryKey })
  }
  return (
    <ConfirmDialog title="Revoke this key" confirm="Revoke key" tone="danger" onConfirm={revoke} onClose={onClose}>
      <p>
        Calls with the key “<VisibleText text={name} max={100} />” are refused from the next one on. It cannot be
        undone.
      </p>
      {isOwn && (
        <p>
          <strong>It is the key that you are signed in with:</strong> this page asks you for another one.
        </p>
      )}
    </ConfirmDialog>
  )
}
