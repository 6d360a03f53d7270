/** `/endpoints/:id/versions`: who changed what, any two versions side by side, and going back. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import { get } from '../../api/client.ts'
import { readDocument, readVersion, restoreVersion, type VersionDiff } from '../../api/document-calls.ts'
import { queries } from '../../api/queries.ts'
import { answerKey, keyed, queryParts } from '../../api/query-keys.ts'
import { layOutDocument } from '../../draft/document-layout.ts'
import { LazyDiffView } from '../../ui/code/lazy-views.tsx'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { VersionsView } from '../../ui/data/versions.tsx'
import { ChangeList } from '../../ui/endpoint/change-list.tsx'
import { EndpointPage } from '../../ui/endpoint/endpoint-page.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { QueryView } from '../../ui/states/states.tsx'

const route = getRouteApi('/endpoints/$id/versions')

export function VersionsPage() {
  const { id } = route.useParams()
  const search = route.useSearch()
  const query = useQuery(queries.versions(id))
  return (
    <EndpointPage id={id} part="Versions">
      <QueryView query={query} what="Loading the versions">
        {(versions) => (
          <VersionsView
            versions={versions}
            content="document"
            hasContent={({ method }) => method !== 'delete'}
            search={search}
            restoreDialog={(version, close) => <RestoreDialog id={id} version={version} onClose={close} />}
          >
            {(from, to) => <Comparison id={id} from={from} to={to} />}
          </VersionsView>
        )}
      </QueryView>
    </EndpointPage>
  )
}

function Comparison({ id, from, to }: Readonly<{ id: string; from: number; to: number }>) {
  const difference = useQuery({ ...queries.versionDiff(id, from, to), placeholderData: keepPreviousData })
  const before = useVersionText(id, from)
  const after = useVersionText(id, to)
  return (
    <>
      <QueryView query={difference} what="Comparing">
        {({ changes }) => <ChangeList changes={changes} />}
      </QueryView>
      <QueryView query={before}>
        {(earlier) => (
          <QueryView query={after}>
            {(later) => (
              <LazyDiffView
                before={{ title: `Version ${from}`, text: earlier }}
                after={{ title: `Version ${to}`, text: later }}
              />
            )}
          </QueryView>
        )}
      </QueryView>
    </>
  )
}

/** A version never changes. Laid out as in the editor, without the fields that the service sets itself. */
const useVersionText = (id: string, version: number) =>
  useQuery({
    ...keyed(answerKey<string>('version-text', 'of', id, version), async ({ signal }) =>
      layOutDocument((await readVersion(id, version, signal)) ?? ''),
    ),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })

/** `changes`: none of an endpoint that is not stored any more. */
type RestorePlan = Readonly<{ etag: string | undefined; changes: VersionDiff['changes'] | undefined }>

type RestoreDialogProps = Readonly<{
  id: string
  version: number
  onClose(): void
}>

function RestoreDialog({ id, version, onClose }: RestoreDialogProps) {
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
