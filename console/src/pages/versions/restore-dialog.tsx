/** Going back to a version: what that changes first, then a change like any other. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import { get } from '../../api/client.ts'
import { readDocument, restoreVersion, type VersionDiff } from '../../api/document-calls.ts'
import { answerKey, keyed, queryParts } from '../../api/query-keys.ts'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { ChangeList } from '../../ui/endpoint/change-list.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { QueryView } from '../../ui/states/states.tsx'

/** `changes`: none of an endpoint that is not stored any more. */
type RestorePlan = Readonly<{ etag: string | undefined; changes: VersionDiff['changes'] | undefined }>

type RestoreDialogProps = Readonly<{
  id: string
  version: number
  onClose(): void
}>

export function RestoreDialog({ id, version, onClose }: RestoreDialogProps) {
  const client = useQueryClient()
  const [note, setNote] = useState('')
  const plan = useQuery({
    ...keyed(answerKey<RestorePlan>('restore-plan', 'of', id, version), async ({ signal }) => {
      const etag = await readEtag(id, signal)
      // Not those of the page: somebody may have changed the endpoint since.
      const [current] = await get('/endpoints/{id}/versions', { path: { id } }, signal)
      if (etag === undefined || current === undefined) return { etag, changes: undefined }
      const { changes } = await get(
        '/endpoints/{id}/versions/{version}/diff/{other}',
        { path: { id, version: current.version, other: version } },
        signal,
      )
      return { etag, changes }
    }),
    staleTime: 0,
    gcTime: 0,
  })
  const restore = async () => {
    const { warnings } = await restoreVersion(id, version, { ifMatch: plan.data?.etag, note: note.trim() })
    await client.invalidateQueries({ queryKey: queryParts.endpoints })
    const said = [`Version ${version} is active again.`, ...warnings.map(({ message }) => message)]
    notify(said.join(' '), warnings.length === 0 ? 'good' : 'warn')
  }
  return (
    <ConfirmDialog
      title={`Restore version ${version}`}
      size="large"
      confirm="Restore"
      refused={plan.data === undefined ? 'What it changes is not known yet.' : undefined}
      isDismissable={false}
      onConfirm={restore}
      onRetry={({ status }) => (status === 412 ? () => void plan.refetch() : undefined)}
      onClose={onClose}
    >
      <p>The next message uses this version. It becomes a new version, so it can be undone in the same way.</p>
      <QueryView query={plan} what="Comparing">
        {({ changes }) =>
          changes === undefined ? (
            <p>The endpoint was deleted; it comes back with its old id.</p>
          ) : (
            <ChangeList changes={changes} />
          )
        }
      </QueryView>
      <TextField label="Note" value={note} onChange={setNote} hint="For the versions and the audit log" />
    </ConfirmDialog>
  )
}

/** A deleted endpoint has none. */
async function readEtag(id: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await readDocument(id, signal)).etag
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status === 404) return undefined
    throw thrown
  }
}
